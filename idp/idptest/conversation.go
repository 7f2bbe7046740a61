package idptest

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

const (
	mostCalls = 300 // of one conversation
	document  = "Samningur um leigu.pdf"
)

// conversation is one with a provider as a good caller has it: nothing is left of it between
// calls but what was stored.
type conversation struct {
	t        testing.TB
	backend  Backend
	provider idp.Provider

	key     string
	person  idp.Person
	text    idp.Text
	known   *x509.Certificate
	digests int // how many to sign

	stored []byte    // the State
	event  idp.Event // the last; nil before Begin
	seen   []string  // the answers, for messages
	began  time.Time // the last call, or earlier
	start  bool      // so far the calls are those of a start call: none was a Poll

	outdated bool // the State is one of an earlier version, and may become one of this

	asked       idp.NeedDigest // the last
	signs       []ades.Digest  // what Sign was called with
	code        string         // the client shows it
	codeAtStart bool
}

// talk prepares a conversation with somebody.
func talk(t testing.TB, b Backend, m idp.Method, n Need) *conversation {
	t.Helper()
	p := b.Person(t, m, n)
	p.Method = m
	return with(t, b, p)
}

// with prepares a conversation with a person.
func with(t testing.TB, b Backend, p idp.Person) *conversation {
	return &conversation{
		t: t, backend: b, provider: b.Provider, key: rand.Text(), person: p,
		text: idp.Text{Document: document, Reason: "Undirritun"}, digests: 1, start: true,
	}
}

// take notes an answer, after it was held to the rules.
func (c *conversation) take(of call, state idp.State, event idp.Event) {
	c.t.Helper()
	if len(c.seen) > mostCalls {
		c.t.Fatalf("the conversation has no end: the last answers are %q", c.seen[len(c.seen)-10:])
	}
	c.start = c.start && of.name != "Poll"
	c.seen = append(c.seen, fmt.Sprintf("%s: %T", of.name, event))
	c.check(of, state, event)
	c.store(state)
	c.event = event
}

// store keeps a State as a store does.
func (c *conversation) store(state idp.State) {
	c.t.Helper()
	encoded, err := json.Marshal(state)
	if err != nil {
		c.t.Fatalf("a State that cannot be stored: %v", err)
	}
	c.stored = encoded
}

// state reads what was stored.
func (c *conversation) state() idp.State {
	c.t.Helper()
	var state idp.State
	if err := json.Unmarshal(c.stored, &state); err != nil {
		c.t.Fatalf("a State that cannot be read again: %v", err)
	}
	return state
}

// over says whether the conversation has ended.
func (c *conversation) over() bool {
	switch c.event.(type) {
	case idp.Signed, idp.Failed:
		return true
	}
	return false
}

// until goes on until an event of the type comes, or the end.
func until[E idp.Event](c *conversation) (event E, came bool) {
	c.t.Helper()
	for !c.over() {
		if c.step(); is[E](c.event) {
			break
		}
	}
	event, came = c.event.(E)
	return event, came
}

// must goes on until an event of the type comes; the end without one fails the test.
func must[E idp.Event](c *conversation) E {
	c.t.Helper()
	event, came := until[E](c)
	if !came {
		c.t.Fatalf("%T is to come, but the answers are %q and %+v", event, c.seen, c.event)
	}
	return event
}

func is[E idp.Event](event idp.Event) bool {
	_, ok := event.(E)
	return ok
}
