package idptest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
)

var answers = []rule{
	{name: "a person who approves signs the digest", test: func(t testing.TB, b Backend, m idp.Method) {
		must[idp.Signed](begin(t, b, m, Approves))
	}},

	{name: "Waiting until the person answers", needs: []Need{Late}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Late)
		waited := false
		for !c.over() {
			c.step()
			waiting, ok := c.event.(idp.Waiting)
			waited = waited || ok && (!c.start || waiting.RetryAfter > 0)
			if waiting.SlowDown && b.Wait == nil {
				t.Error("a caller that waits for RetryAfter is not told to slow down")
			}
		}
		if !is[idp.Signed](c.event) || !waited {
			t.Errorf("while there is no answer the event is Waiting, and at last Signed, but %q", c.results)
		}
	}},

	{name: "an early Poll is not refused", needs: []Need{Late}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Late)
		must[idp.Waiting](c)
		c.make(call{"Poll", c.poll})
		must[idp.Signed](c)
	}},

	{name: "a person who refuses has cancelled", needs: []Need{Refuses}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Refuses)
		failsWith(t, c, idp.UserCancelled)
		try(t.Context(), t, call{"Poll", c.poll}) // a further Poll is unusual, but must not panic
	}},

	{name: "an unknown person is not found", needs: []Need{Unknown}, test: func(t testing.TB, b Backend, m idp.Method) {
		failsWith(t, begin(t, b, m, Unknown), idp.UserNotFound)
	}},

	{name: "Waiting until the conversation expires", needs: []Need{Silent}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Silent)
		c.step()
		expires := c.state().Expires
		for late := false; !c.over() && !late; { // a call after Expires has to return the end
			if waiting, ok := c.event.(idp.Waiting); ok {
				c.wait(max(waiting.RetryAfter, time.Until(expires)/8, slack/8))
			}
			late = time.Now().After(expires.Add(2 * slack))
			c.step()
			if now := c.state().Expires; !now.Equal(expires) { // a further request to the person has a lifetime of its own
				expires, late = now, false
			}
		}
		failed, ok := c.event.(idp.Failed)
		if !ok {
			t.Fatalf("the conversation has ended by its Expires, but the answers are %q", c.results)
		}
		switch early := time.Until(expires); {
		case failed.Code == idp.TimeoutNoAnswer: // the phone has a timeout of its own
		case failed.Code != idp.ExpiredToken:
			t.Errorf("it ends with %s or %s, but with %q", idp.ExpiredToken, idp.TimeoutNoAnswer, failed.Code)
		case early > slack:
			t.Errorf("it expires when its State does, but %v before", early)
		}
	}},

	{name: "values are in the order of the digests", test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Approves)
		must[idp.NeedDigest](c)
		c.digests = 3
		for !c.over() { // a provider may refuse more than one
			next := c.next()
			state, event, err := try(t.Context(), t, next)
			if err != nil {
				return
			}
			c.accept(next, state, event)
		}
	}},

	{name: "Sign without digests does not sign", test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Approves)
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
			c := begin(t, b, m, Approves)
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

// texts are unusual names and reasons. They may be longer than a phone can show.
var texts = []idp.Text{
	{},
	{Document: strings.Repeat("Kaupsamningur með þinglýsingu ", 300) + ".pdf", Reason: strings.Repeat("æ", 5000)},
	{Document: "a\nb\tc\x00\x7f\u2028d.pdf", Reason: "\r\n"},
	{Document: "e\u0301\u0302\u0308 👩‍👩‍👧‍👦🇮🇸.pdf", Reason: "{code} {document} %s \"'<&>"},
	{Document: "\u202egnp.fdp\u202c", Reason: "\xff\xfe"},
}

var together = []rule{
	{name: "interleaved conversations do not mix", test: func(t testing.TB, b Backend, m idp.Method) {
		all := []*conversation{begin(t, b, m, Approves), begin(t, b, m, Approves), begin(t, b, m, Approves)}
		for going := true; going; {
			going = false
			for _, c := range all {
				if !c.over() {
					going = true
					c.step()
				}
			}
		}
		for _, c := range all {
			must[idp.Signed](c)
		}
	}},

	{name: "conversations run concurrently", test: func(t testing.TB, b Backend, m idp.Method) {
		var all []*conversation
		for range 8 {
			all = append(all, begin(t, b, m, Approves))
		}
		var going sync.WaitGroup
		for _, c := range all {
			going.Go(func() {
				for !c.over() {
					c.step()
				}
			})
		}
		going.Wait()
		for _, c := range all {
			if !is[idp.Signed](c.event) {
				t.Errorf("the conversation ends in Signed, but after %q: %+v", c.results, c.event)
			}
		}
	}},
}
