package idptest

import (
	"context"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
)

var answers = []rule{
	{name: "who approves signs the digest", test: func(t testing.TB, b Backend, m idp.Method) {
		must[idp.Signed](talk(t, b, m, Approves))
	}},

	{name: "who has not answered is waited for", needs: []Need{Late}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := talk(t, b, m, Late)
		waited := false
		for !c.over() {
			c.step()
			waiting, ok := c.event.(idp.Waiting)
			waited = waited || ok && (!c.start || waiting.RetryAfter > 0)
			if waiting.SlowDown && b.Wait == nil {
				t.Error("who waits as long as RetryAfter says is not told to slow down")
			}
		}
		if !is[idp.Signed](c.event) || !waited {
			t.Errorf("while there is no answer the event is Waiting, and at last Signed, but %q", c.seen)
		}
	}},

	{name: "who asks too early is not refused", needs: []Need{Late}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := talk(t, b, m, Late)
		must[idp.Waiting](c)
		c.make(call{"Poll", c.poll})
		must[idp.Signed](c)
	}},

	{name: "who refuses has cancelled", needs: []Need{Refuses}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := talk(t, b, m, Refuses)
		failsWith(t, c, idp.UserCancelled)
		try(t.Context(), t, call{"Poll", c.poll}) // nobody asks then, and nothing breaks
	}},

	{name: "who is unknown is not found", needs: []Need{Unknown}, test: func(t testing.TB, b Backend, m idp.Method) {
		failsWith(t, talk(t, b, m, Unknown), idp.UserNotFound)
	}},

	{name: "who never answers is waited for until the conversation expires", needs: []Need{Silent}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := talk(t, b, m, Silent)
		c.step()
		expires := c.state().Expires
		for late := false; !c.over() && !late; { // a call that begins late has to find the end
			if waiting, ok := c.event.(idp.Waiting); ok {
				c.wait(max(waiting.RetryAfter, time.Until(expires)/8, slack/8))
			}
			late = time.Now().After(expires.Add(2 * slack))
			c.step()
			if now := c.state().Expires; !now.Equal(expires) { // each time that the person is asked takes its own
				expires, late = now, false
			}
		}
		failed, ok := c.event.(idp.Failed)
		if !ok {
			t.Fatalf("the conversation has ended by its Expires, but the answers are %q", c.seen)
		}
		switch early := time.Until(expires); {
		case failed.Code == idp.TimeoutNoAnswer: // the phone's own
		case failed.Code != idp.ExpiredToken:
			t.Errorf("it ends with %s or %s, but with %q", idp.ExpiredToken, idp.TimeoutNoAnswer, failed.Code)
		case early > slack:
			t.Errorf("it expires when its State does, but %v before", early)
		}
	}},

	{name: "values are in the order of the digests", test: func(t testing.TB, b Backend, m idp.Method) {
		c := talk(t, b, m, Approves)
		must[idp.NeedDigest](c)
		c.digests = 3
		for !c.over() { // a provider may refuse more than one
			next := c.next()
			state, event, err := try(t.Context(), t, next)
			if err != nil {
				return
			}
			c.take(next, state, event)
		}
	}},

	{name: "no digest is signed when none was given", test: func(t testing.TB, b Backend, m idp.Method) {
		c := talk(t, b, m, Approves)
		must[idp.NeedDigest](c)
		_, event, _ := try(t.Context(), t, call{"Sign", func(ctx context.Context) (idp.State, idp.Event, error) {
			return b.Provider.Sign(ctx, c.state(), nil)
		}})
		if is[idp.Signed](event) {
			t.Error("Sign without digests answers Signed")
		}
	}},

	{name: "any text can be shown", test: func(t testing.TB, b Backend, m idp.Method) {
		for _, text := range texts {
			c := talk(t, b, m, Approves)
			c.text = text
			must[idp.Signed](c)
		}
	}},
}

func failsWith(t testing.TB, c *conversation, want idp.ErrorCode) {
	t.Helper()
	if failed := must[idp.Failed](c); failed.Code != want {
		t.Errorf("the failure is %s, but %+v", want, failed.Failure)
	}
}
