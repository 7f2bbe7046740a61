package idptest

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

const (
	maxCalls = 300 // of one conversation
	document = "Samningur um leigu.pdf"
)

// conversation is a conversation with a provider by a correct caller. Between calls the provider has only the stored
// State.
type conversation struct {
	t        testing.TB
	backend  Backend
	provider idp.Provider

	key     string
	person  idp.Person
	text    idp.Text
	known   *x509.Certificate
	digests int // the number of digests to sign

	stored  []byte    // the encoded State
	event   idp.Event // the last one; nil before Begin
	results []string  // of all calls, for messages
	began   time.Time // a time not later than the last call
	start   bool      // no call was a Poll

	outdated bool // the State is one of an earlier version, and may become one of the present version

	need        idp.NeedDigest // the last one
	signs       []ades.Digest  // of the last Sign
	code        string         // the first that was shown
	codeAtStart bool           // it was shown before the first Poll
}

// begin prepares a conversation with a person who behaves as needed.
func begin(t testing.TB, b Backend, m idp.Method, n Need) *conversation {
	t.Helper()
	p := b.Person(t, m, n)
	p.Method = m
	return beginWith(t, b, p)
}

// beginWith prepares a conversation with a person.
func beginWith(t testing.TB, b Backend, p idp.Person) *conversation {
	return &conversation{
		t: t, backend: b, provider: b.Provider, key: rand.Text(), person: p,
		text: idp.Text{Document: document, Reason: "Undirritun"}, digests: 1, start: true,
	}
}

// accept checks the result of a call, stores the State and records the event.
func (c *conversation) accept(of call, state idp.State, event idp.Event) {
	c.t.Helper()
	if len(c.results) > maxCalls {
		c.t.Fatalf("the conversation has no end: the last answers are %q", c.results[len(c.results)-10:])
	}
	c.start = c.start && of.name != "Poll"
	c.results = append(c.results, fmt.Sprintf("%s: %T", of.name, event))
	c.check(of, state, event)
	c.store(state)
	c.event = event
}

// store encodes a State, as a store does.
func (c *conversation) store(state idp.State) {
	c.t.Helper()
	encoded, err := json.Marshal(state)
	if err != nil {
		c.t.Fatalf("a State that cannot be stored: %v", err)
	}
	c.stored = encoded
}

// state decodes the stored State.
func (c *conversation) state() idp.State {
	c.t.Helper()
	var state idp.State
	if err := json.Unmarshal(c.stored, &state); err != nil {
		c.t.Fatalf("a State that cannot be read again: %v", err)
	}
	return state
}

// over reports whether the conversation has ended.
func (c *conversation) over() bool {
	switch c.event.(type) {
	case idp.Signed, idp.Failed:
		return true
	}
	return false
}

// until makes calls until an event of type E, or the end of the conversation.
func until[E idp.Event](c *conversation) (event E, ok bool) {
	c.t.Helper()
	for !c.over() {
		if c.step(); is[E](c.event) {
			break
		}
	}
	event, ok = c.event.(E)
	return event, ok
}

// must makes calls until an event of type E. If the conversation ends without one, the test fails.
func must[E idp.Event](c *conversation) E {
	c.t.Helper()
	event, ok := until[E](c)
	if !ok {
		c.t.Fatalf("%T is to come, but the answers are %q and %+v", event, c.results, c.event)
	}
	return event
}

// is reports whether an event is of type E.
func is[E idp.Event](event idp.Event) bool {
	_, ok := event.(E)
	return ok
}

// minWait is the minimum time between polls.
const minWait = 10 * time.Millisecond

// call is a call of a Provider's method.
type call struct {
	name string
	make func(ctx context.Context) (idp.State, idp.Event, error)
}

// next waits as long as the last event requires, and returns the call that follows. The call can be made twice.
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

// wait waits for a duration, by Backend.Wait if there is one.
func (c *conversation) wait(d time.Duration) {
	d = max(d, minWait)
	if c.backend.Wait != nil {
		c.backend.Wait(c.t, d)
		return
	}
	time.Sleep(d)
}

// prepare returns digests of random data.
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

// make makes a call, which must succeed, and accepts its result.
func (c *conversation) make(next call) {
	c.t.Helper()
	state, event, err := try(c.t.Context(), c.t, next)
	if err != nil {
		c.t.Fatalf("%s after %q: %v", next.name, c.results, err)
	}
	c.accept(next, state, event)
}

// try makes a call. A panic of the provider is reported as a failure of the test and returned as an error.
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
