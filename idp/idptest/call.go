package idptest

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

const shortWait = 10 * time.Millisecond

// call is the next call of a conversation.
type call struct {
	name string
	make func(ctx context.Context) (idp.State, idp.Event, error)
}

// next is the call that follows the last event, after what there is to wait for. Made twice,
// it is the same call twice.
func (c *conversation) next() call {
	defer func() { c.began = time.Now() }()
	switch e := c.event.(type) {
	case nil:
		return call{"Begin", func(ctx context.Context) (idp.State, idp.Event, error) {
			return c.provider.Begin(ctx, c.key, c.person, c.text, c.known)
		}}
	case idp.NeedDigest:
		c.signs = c.prepare(e)
		return call{"Sign", func(ctx context.Context) (idp.State, idp.Event, error) {
			return c.provider.Sign(ctx, c.state(), c.signs)
		}}
	case idp.Waiting:
		c.wait(e.RetryAfter)
	}
	return call{"Poll", c.poll}
}

func (c *conversation) poll(ctx context.Context) (idp.State, idp.Event, error) {
	return c.provider.Poll(ctx, c.state())
}

// wait waits as long as a caller does.
func (c *conversation) wait(d time.Duration) {
	d = max(d, shortWait)
	if c.backend.Wait != nil {
		c.backend.Wait(c.t, d)
		return
	}
	time.Sleep(d)
}

// prepare draws what is to be signed.
func (c *conversation) prepare(e idp.NeedDigest) []ades.Digest {
	c.t.Helper()
	algorithm := c.traits().Algorithm
	if algorithm == (ades.Algorithm{}) {
		if e.Certificate == nil {
			c.t.Fatal("Traits.CMS goes with Traits.Algorithm, whose hash is the document's")
		}
		var err error
		if algorithm, err = ades.DefaultAlgorithm(e.Certificate.PublicKey); err != nil {
			c.t.Fatalf("the key of the certificate: %v", err)
		}
	}
	digests := make([]ades.Digest, c.digests)
	for i := range digests {
		digests[i] = algorithm.Digest([]byte(rand.Text()))
	}
	return digests
}

func (c *conversation) traits() idp.Traits { return c.backend.Provider.Traits(c.person.Method) }

// step makes the next call.
func (c *conversation) step() {
	c.t.Helper()
	c.make(c.next())
}

// make makes a call, which is to succeed, and takes its answer.
func (c *conversation) make(next call) {
	c.t.Helper()
	state, event, err := try(c.t.Context(), c.t, next)
	if err != nil {
		c.t.Fatalf("%s after %q: %v", next.name, c.seen, err)
	}
	c.take(next, state, event)
}

// try makes a call. A panic of the provider is the test's failure, not its end.
func try(ctx context.Context, t testing.TB, next call) (state idp.State, event idp.Event, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("no input makes a provider panic, but %s does: %v\n%s", next.name, p, debug.Stack())
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return next.make(ctx)
}
