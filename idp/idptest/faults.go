package idptest

import (
	"context"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
)

// promptly is how long a call may take after its context has ended. It is checked in synctest bubbles alone: elsewhere
// a busy machine may be what takes long.
const promptly = 10 * time.Second

var faults = []rule{
	{name: "a fault on the way to the provider passes", needs: []Need{Breaks}, test: func(t testing.TB, b Backend, m idp.Method) {
		noticed := false
		for n := range mostTurns {
			c := talk(t, b, m, Approves)
			noticed = passes(c, n, c.broken) || noticed
			if len(c.seen) <= n {
				break
			}
		}
		if !noticed {
			t.Error("some call fails while Break is on")
		}
	}},

	{name: "who calls with an ended context is answered promptly", test: func(t testing.TB, b Backend, m idp.Method) {
		for n := range mostTurns {
			c := talk(t, b, m, Approves)
			passes(c, n, c.ended)
			if len(c.seen) <= n {
				break
			}
		}
	}},
}

// outcome is what came of a call that met with a fault.
type outcome struct {
	noticed bool // the call failed
	ends    bool // the conversation may end with that
}

// passes has a conversation in which call n is made otherwise, and by the rule again if that
// was an error. It says whether the fault was noticed.
func passes(c *conversation, n int, otherwise func(call) outcome) bool {
	c.t.Helper()
	var met bool
	var o outcome
	for !c.over() {
		next := c.next()
		if met || len(c.seen) < n {
			c.make(next)
			continue
		}
		met, o = true, otherwise(next)
	}
	if !is[idp.Signed](c.event) && !o.ends {
		c.t.Errorf("the State is good after a fault, but with one in call %d the conversation goes %q and ends in %+v", n+1, c.seen, c.event)
	}
	return o.noticed
}

// broken makes a call that does not arrive. A person who was not asked yet need not be: the
// conversation may end there, with a failure that says so.
func (c *conversation) broken(next call) outcome {
	c.t.Helper()
	first := c.start
	c.backend.Break(c.t, true)
	state, event, err := try(c.t.Context(), c.t, next)
	c.backend.Break(c.t, false)
	if err != nil {
		c.fault(next, state)
		return outcome{noticed: true}
	}
	c.take(next, state, event)
	failed, over := event.(idp.Failed)
	unreachable := failed.Code == idp.CommunicationError || failed.Code == idp.SystemUnderMaintenance
	return outcome{noticed: over, ends: over && unreachable && first && next.name != "Poll"}
}

// ended makes a call with a context that has ended, as when a server stops. That is no reason
// to end the conversation.
func (c *conversation) ended(next call) outcome {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	cancel()
	began := time.Now()
	state, event, err := try(ctx, c.t, next)
	if took := time.Since(began); c.backend.virtual && took > promptly {
		c.t.Errorf("%s with an ended context takes %v", next.name, took)
	}
	if err != nil {
		c.fault(next, state)
		return outcome{noticed: true}
	}
	c.take(next, state, event)
	return outcome{}
}

// fault stores the State that came with an error. A Begin that failed has begun nothing.
func (c *conversation) fault(of call, state idp.State) {
	c.t.Helper()
	if of.name != "Begin" && state.Provider != "" {
		c.checkState(of, state)
		c.store(state)
	}
}
