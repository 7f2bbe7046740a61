package idptest

import (
	"context"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
)

// maxCancelTime is the time that a call with an ended context may take. It is checked only in synctest bubbles, since
// elsewhere a busy machine could be the cause of a delay.
const maxCancelTime = 10 * time.Second

var faults = []rule{
	{name: "a conversation survives a network fault", needs: []Need{Breaks}, test: func(t testing.TB, b Backend, m idp.Method) {
		noticed := false
		for n := range maxConversations {
			c := begin(t, b, m, Approves)
			noticed = survives(c, n, c.callBroken) || noticed
			if len(c.results) <= n {
				break
			}
		}
		if !noticed {
			t.Error("some call fails while Break is on")
		}
	}},

	{name: "a call with an ended context returns promptly", test: func(t testing.TB, b Backend, m idp.Method) {
		for n := range maxConversations {
			c := begin(t, b, m, Approves)
			survives(c, n, c.callEnded)
			if len(c.results) <= n {
				break
			}
		}
	}},
}

// outcome is the outcome of a call with a fault.
type outcome struct {
	noticed bool // the call failed
	ends    bool // the conversation may end after it
}

// survives has a conversation in which call n is made by withFault, and again without a fault if that returned an
// error. It reports whether the fault was noticed.
func survives(c *conversation, n int, withFault func(call) outcome) bool {
	c.t.Helper()
	var faulted bool
	var o outcome
	for !c.over() {
		next := c.next()
		if faulted || len(c.results) < n {
			c.make(next)
			continue
		}
		faulted, o = true, withFault(next)
	}
	if !is[idp.Signed](c.event) && !o.ends {
		c.t.Errorf("the State is good after a fault, but with one in call %d the conversation goes %q and ends in %+v", n+1, c.results, c.event)
	}
	return o.noticed
}

// callBroken makes a call during a network fault. If the person has not been asked yet, the conversation may end
// with the failure CommunicationError or SystemUnderMaintenance.
func (c *conversation) callBroken(next call) outcome {
	c.t.Helper()
	first := c.start
	c.backend.Break(c.t, true)
	state, event, err := try(c.t.Context(), c.t, next)
	c.backend.Break(c.t, false)
	if err != nil {
		c.storeFailed(next, state)
		return outcome{noticed: true}
	}
	c.accept(next, state, event)
	failed, over := event.(idp.Failed)
	unreachable := failed.Code == idp.CommunicationError || failed.Code == idp.SystemUnderMaintenance
	return outcome{noticed: over, ends: over && unreachable && first && next.name != "Poll"}
}

// callEnded makes a call with an ended context, as when a server stops. The conversation must not end.
func (c *conversation) callEnded(next call) outcome {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	cancel()
	began := time.Now()
	state, event, err := try(ctx, c.t, next)
	if took := time.Since(began); c.backend.bubble && took > maxCancelTime {
		c.t.Errorf("%s with an ended context takes %v", next.name, took)
	}
	if err != nil {
		c.storeFailed(next, state)
		return outcome{noticed: true}
	}
	c.accept(next, state, event)
	return outcome{}
}

// storeFailed stores the State that was returned with an error. A failed Begin has started no conversation.
func (c *conversation) storeFailed(of call, state idp.State) {
	c.t.Helper()
	if of.name != "Begin" && state.Provider != "" {
		c.checkState(of, state)
		c.store(state)
	}
}

// maxConversations is the maximum number of conversations of a test that has a fault in the first call of the first
// conversation, in the second call of the second one, and so on.
const maxConversations = 24

var losses = []rule{
	{name: "a caller that crashes before it stores a State repeats the call", test: func(t testing.TB, b Backend, m idp.Method) {
		for n := range maxConversations {
			if !loseAnswer(t, begin(t, b, m, Approves), n) {
				return
			}
		}
	}},

	{name: "a conversation continues in another process", needs: []Need{Reopens}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Approves)
		for !c.over() {
			c.step()
			c.provider = b.Reopen(t)
		}
		if !is[idp.Signed](c.event) {
			t.Errorf("nothing but the State is needed to go on, but after %q: %+v", c.results, c.event)
		}
	}},
}

// loseAnswer has a conversation in which the result of call n is lost, and the call is repeated with the State
// before it. It reports whether there was such a call.
func loseAnswer(t testing.TB, c *conversation, n int) bool {
	t.Helper()
	var mayFail bool
	for !c.over() {
		next := c.next()
		if len(c.results) == n {
			mayFail = c.lose(next)
		}
		c.make(next)
	}
	if !is[idp.Signed](c.event) && !mayFail {
		t.Errorf("a lost answer to Poll can be had again, but with answer %d lost the conversation goes %q and ends in %+v", n+1, c.results, c.event)
	}
	return len(c.results) > n
}

// lose makes a call and discards its result. It reports whether the conversation may fail because of that. An
// answer that the identity provider gives only once is in the State after Continue, so that a later Poll can be
// repeated. The Continue itself may be lost, and a person who is asked twice may be asked too often.
func (c *conversation) lose(next call) (mayFail bool) {
	c.t.Helper()
	_, event, err := try(c.t.Context(), c.t, next)
	if err != nil {
		c.t.Fatalf("%s after %q: %v", next.name, c.results, err)
	}
	if waiting, ok := event.(idp.Waiting); ok && next.name == "Poll" {
		c.wait(waiting.RetryAfter)
	}
	return next.name != "Poll" || is[idp.Continue](event)
}
