package signing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// patience is how long a client that polls is kept waiting at most: for the completion of
// the signature, and while the poll tries itself.
const patience = 10 * time.Second

func (s service) pollInTime(id, when string) result {
	s.t.Helper()
	began := time.Now()
	r := s.poll(id)
	if took := time.Since(began); took > patience {
		s.t.Errorf("%s: the poll took %v", when, took)
	}
	return r
}

// spec 3.9: polls are answered while sources take their time, and the signature is
// completed in the background, with a timestamp for each place.
func TestPollsDoNotWaitForSlowSources(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		level   ades.Level
		happens func(n *network)
		lasts   time.Duration // until it has to be complete, at the latest
		stamps  map[string]int
	}{
		{
			"first TSA slow", ades.T, func(n *network) { n.set(tsa, slow) }, time.Minute,
			map[string]int{tsa: 2, spareTSA: 1},
		},
		{
			"first TSA slow", ades.LTA, func(n *network) { n.set(tsa, slow) }, time.Minute,
			map[string]int{tsa: 3, spareTSA: 2},
		},
		{
			"responder slow, a new list", ades.T, func(n *network) {
				n.set(responder, slow)
				n.set(list, n.listed(newList()))
			}, time.Minute, map[string]int{tsa: 1},
		},
		{
			"a list that takes 50 seconds", ades.B, func(n *network) {
				n.set(responder, down)
				n.set(list, after(50*time.Second, n.listed(newList())))
			}, 2 * time.Minute, nil,
		},
	} {
		t.Run(test.name+", "+test.level.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				test.happens(n)
				s := n.service(n.client(tsa, n.roots), n.client(spareTSA, n.roots))
				s.background(t)
				id, began := s.atLevel(test.level), time.Now()
				r := s.pollInTime(id, "first poll")
				if r.Code != pending {
					t.Fatalf("first poll: %q", r.Code)
				}
				for r.Code == pending && time.Since(began) < test.lasts {
					time.Sleep(2 * time.Second)
					r = s.pollInTime(id, "later")
				}
				if r.Code != delivered {
					t.Fatalf("after %v: %q", time.Since(began), r.Code)
				}
				n.checkLevel(r.Document, test.level)
				for _, at := range []string{tsa, spareTSA} {
					if got, want := n.requests(at), test.stamps[at]; got != want {
						t.Errorf("%s was asked %d times, want %d", at, got, want)
					}
				}
			})
		})
	}
}

// What an attempt came to is kept when it is cut short: by a poll that has an answer to
// give, or by a server that stops. Then the next process need not wait for a lease.
func TestAnAttemptThatIsCutShort(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"a poll", "a server that stops"} {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				n.set(responder, slow)
				n.set(list, down)
				first := n.service(n.client(tsa, n.roots))
				id := first.atLevel(ades.LT)
				if by == "a poll" {
					first.pending(id, "cut short")
				} else {
					n.set(tsa, down)
					first.pending(id, "without a timestamp")
					n.restore()
					n.set(responder, slow)
					time.Sleep(time.Minute)
					ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
					defer stop()
					if n := first.work(ctx); n != 0 {
						t.Errorf("%d completed without the responder", n)
					}
				}
				asked := n.requests(tsa)
				n.restore()
				second, began := onStore(t, first.db, n.phone, n.options(n.client(tsa, n.roots))), time.Now()
				if n := second.work(t.Context()); n != 1 {
					t.Errorf("%d completed", n)
				}
				n.checkLevel(second.poll(id).Document, ades.LT)
				if took, more := time.Since(began), n.requests(tsa)-asked; took > 0 || more != 0 {
					t.Errorf("took %v and %d further timestamps", took, more)
				}
			})
		})
	}
}

// Only polls drive this service. A source that answers within what a poll waits for
// is enough.
func TestPollsAloneComplete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t)
		n.set(tsa, down)
		s := n.service(n.client(tsa, n.roots))
		id := s.atLevel(ades.LTA)
		s.pending(id, "TSA down")
		n.set(tsa, after(time.Second, n.stamps(n.unit, nil, 0)))
		var r result
		for range 15 {
			time.Sleep(2 * time.Second)
			if r = s.pollInTime(id, "later"); r.Code != idp.AuthorizationPending {
				break
			}
		}
		n.checkLevel(r.Document, ades.LTA)
	})
}
