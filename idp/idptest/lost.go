package idptest

import (
	"testing"

	"github.com/innsigli/innsigli/idp"
)

// mostTurns bounds how many conversations a test has that meets with something in one call
// of each: the first in the first conversation, the second in the next, and so on.
const mostTurns = 24

var losses = []rule{
	{name: "a caller that dies before it stores an answer calls again", test: func(t testing.TB, b Backend, m idp.Method) {
		for n := range mostTurns {
			if !loses(t, talk(t, b, m, Approves), n) {
				return
			}
		}
	}},

	{name: "a conversation goes on in another process", needs: []Need{Reopens}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := talk(t, b, m, Approves)
		for !c.over() {
			c.step()
			c.provider = b.Reopen(t)
		}
		if !is[idp.Signed](c.event) {
			t.Errorf("nothing but the State is needed to go on, but after %q: %+v", c.seen, c.event)
		}
	}},
}

// loses has a conversation in which the answer of call n is lost, and the call is made again
// with the State before it. It says whether there was such a call.
func loses(t testing.TB, c *conversation, n int) bool {
	t.Helper()
	var mayFail bool
	for !c.over() {
		next := c.next()
		if len(c.seen) == n {
			mayFail = c.lose(next)
		}
		c.make(next)
	}
	if !is[idp.Signed](c.event) && !mayFail {
		t.Errorf("a lost answer to Poll can be had again, but with answer %d lost the conversation goes %q and ends in %+v", n+1, c.seen, c.event)
	}
	return len(c.seen) > n
}

// lose makes a call and forgets the answer. It says whether that may cost the signature: what
// a provider gives only once is in the State, by Continue, before anything is asked for with
// it, so that a later Poll can be made again. The Continue itself may be lost, and a person
// who is asked twice may be asked too often.
func (c *conversation) lose(next call) (mayFail bool) {
	c.t.Helper()
	_, event, err := try(c.t.Context(), c.t, next)
	if err != nil {
		c.t.Fatalf("%s after %q: %v", next.name, c.seen, err)
	}
	if waiting, ok := event.(idp.Waiting); ok && next.name == "Poll" {
		c.wait(waiting.RetryAfter)
	}
	return next.name != "Poll" || is[idp.Continue](event)
}
