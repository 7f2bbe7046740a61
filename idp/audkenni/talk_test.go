package audkenni_test

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// talk is a conversation of which nothing is left between calls but the State as it was stored.
type talk struct {
	testing.TB
	provider idp.Provider
	method   idp.Method
	stored   []byte
	event    idp.Event
	need     idp.NeedDigest // the last
	digest   ades.Digest    // what Sign was called with last
	trail    []string       // the events
}

var text = idp.Text{Document: "Samningur um leigu.pdf", Reason: "Undirritun"}

// begin begins a conversation.
func begin(t testing.TB, provider idp.Provider, person idp.Person, known *x509.Certificate) *talk {
	t.Helper()
	c := &talk{TB: t, provider: provider, method: person.Method}
	c.note(provider.Begin(t.Context(), "conversation", person, text, known))
	return c
}

// step makes the call that follows the last event.
func (c *talk) step() {
	c.Helper()
	if _, ok := c.event.(idp.NeedDigest); !ok {
		c.note(c.provider.Poll(c.Context(), c.state()))
		return
	}
	c.note(c.sign(c.Context()))
}

// sign has the person sign something new.
func (c *talk) sign(ctx context.Context) (idp.State, idp.Event, error) {
	c.digest = c.provider.Traits(c.method).Algorithm.Digest([]byte(rand.Text()))
	return c.provider.Sign(ctx, c.state(), []ades.Digest{c.digest})
}

// run goes on until the end, without waiting: who answers has answered at once.
func (c *talk) run() *talk {
	c.Helper()
	for !c.over() {
		if _, waiting := c.event.(idp.Waiting); waiting && len(c.trail) > 20 {
			c.Fatalf("the person does not answer: %q", c.trail)
		}
		c.step()
	}
	return c
}

func (c *talk) over() bool {
	switch c.event.(type) {
	case idp.Signed, idp.Failed:
		return true
	}
	return false
}

func (c *talk) note(state idp.State, event idp.Event, err error) {
	c.Helper()
	if err != nil {
		c.Fatalf("after %q: %v", c.trail, err)
	}
	if c.stored, err = json.Marshal(state); err != nil {
		c.Fatal(err)
	}
	c.event = event
	switch e := event.(type) {
	case idp.Waiting:
		c.trail = append(c.trail, "waiting")
	case idp.Continue:
		c.trail = append(c.trail, "continue")
	case idp.NeedDigest:
		c.need, c.trail = e, append(c.trail, "digest")
	case idp.Signed:
		c.trail = append(c.trail, "signed")
	case idp.Failed:
		c.trail = append(c.trail, "failed "+string(e.Code))
	}
}

func (c *talk) state() idp.State {
	c.Helper()
	var state idp.State
	if err := json.Unmarshal(c.stored, &state); err != nil {
		c.Fatal(err)
	}
	return state
}

// verify holds the value to the digest and the certificate that it was made for.
func (c *talk) verify() {
	c.Helper()
	signed, ok := c.event.(idp.Signed)
	if !ok || len(signed.Values) != 1 {
		c.Fatalf("not signed: %q, %+v", c.trail, c.event)
	}
	if err := c.digest.Algorithm.Verify(c.need.Certificate.PublicKey, c.digest.Sum, signed.Values[0]); err != nil {
		c.Error(err)
	}
}

// failure is how the conversation has ended.
func (c *talk) failure() idp.Failure {
	c.Helper()
	failed, ok := c.event.(idp.Failed)
	if !ok {
		c.Fatalf("not failed: %q, %+v", c.trail, c.event)
	}
	return failed.Failure
}
