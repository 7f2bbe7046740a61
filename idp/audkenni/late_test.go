package audkenni_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// A conversation whose time is over has ended, whatever Auðkenni still knows of it, unless the
// person has answered.
func TestLate(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{Interval: 10 * time.Second})
	provider, _ := open(t, p, audkenni.Options{})
	late := func(answer openidtest.Answer) *talk {
		person := somebody(t)
		person.Answer = answer
		p.Person(person)
		c := begin(t, provider, named(person, idp.App), nil)
		state := c.state()
		state.Expires = time.Now()
		c.note(state, c.event, nil)
		return c
	}
	want := idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}
	ended := func(t *testing.T, c *talk) {
		t.Helper()
		c.step()
		if diff := cmp.Diff(want, c.failure()); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("the person has not answered", func(t *testing.T) { ended(t, late(openidtest.Answer{Silent: true})) })
	t.Run("Auðkenni cannot be asked", func(t *testing.T) {
		c := late(openidtest.Answer{})
		p.Fault(openidtest.Fault{Endpoint: openidtest.Token})
		ended(t, c)
	})
	t.Run("Auðkenni knows of nothing any more", func(t *testing.T) {
		c := late(openidtest.Answer{})
		if _, event, err := provider.Poll(t.Context(), c.state()); event != (idp.Continue{}) {
			t.Fatalf("%+v, %v", event, err)
		}
		ended(t, c)
	})
	t.Run("the person has refused", func(t *testing.T) {
		c := late(openidtest.Answer{Error: &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}})
		c.step()
		if f := c.failure(); f.Code != idp.UserCancelled {
			t.Errorf("%+v", f)
		}
	})
	t.Run("the person has answered", func(t *testing.T) { late(openidtest.Answer{}).run().verify() })
}

// There is something new to hear when the time is over.
func TestNobodyWaitsForLongerThanThereIsTime(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{Interval: 10 * time.Second})
	provider, _ := open(t, p, audkenni.Options{Ping: true}) // of which this provider knows nothing
	person := somebody(t)
	person.Answer.Silent = true
	p.Person(person)
	c := begin(t, provider, named(person, idp.App), nil)
	state := c.state()
	state.Expires = time.Now().Add(5 * time.Second)
	c.note(provider.Poll(t.Context(), state))
	if w := c.event.(idp.Waiting); w.RetryAfter > 5*time.Second {
		t.Errorf("RetryAfter is %v", w.RetryAfter)
	}
}

// Only a poll is told to wait. A request that is has not been taken, and there is nothing to
// poll.
func TestPendingIsNoRefusal(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	provider, _ := open(t, p, audkenni.Options{})
	person := somebody(t)
	for _, code := range []string{"authorization_pending", "slow_down"} {
		person.Answer.AtStart = &openidtest.Refusal{Code: code, Description: "wait"}
		p.Person(person)
		want := idp.Failure{OAuth: code, Description: "wait"}
		if diff := cmp.Diff(want, begin(t, provider, named(person, idp.App), nil).failure()); diff != "" {
			t.Error(diff)
		}
	}
}
