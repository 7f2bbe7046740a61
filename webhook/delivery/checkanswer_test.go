package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// spec 5.1 and 5.6: 2xx switches off at once, also after an outage.
func TestCheckAccepted(t *testing.T) {
	t.Parallel()
	for name, statusesOf := range map[string][]int{
		"200":             {200},
		"204":             {204},
		"299":             {299},
		"after an outage": {500, 0, 403, 202},
	} {
		t.Run(name, func(t *testing.T) {
			var post letters
			bubble(t, delivery.Options{Alerts: &post}, func(h *house) {
				s := h.activated()
				left := statusesOf
				h.answer = func(_ context.Context, r request) int {
					if r.verifies {
						return 204
					}
					status := left[0]
					left = left[1:]
					return status
				}
				h.during(6 * time.Hour)
				_, checks := h.pings(s, time.Second)
				if len(checks) != len(statusesOf) {
					h.Fatalf("%d checks", len(checks))
				}
				first, off := checks[0].after, checks[len(checks)-1].after
				want := []delivery.Trouble{{Purpose: delivery.ForCheck, Reason: delivery.SecurityCheckFailed, Since: h.began.Add(off).UTC()}}
				if first != off { // the switching off is told a day after the outage
					want = []delivery.Trouble{{Purpose: delivery.ForCheck}}
				}
				post.mustBe(h.T, s, want, first)
				if is := h.now(s); is.Active || is.Reason != delivery.SecurityCheckFailed || !is.UpdatedAt.Equal(h.began.Add(off)) {
					h.Errorf("it is %+v", is)
				}
				log := h.attempts(s)
				if last, want := log[len(log)-1], fmt.Sprintf("A request whose signature cannot verify was answered with status %d instead of 401.", statusesOf[len(statusesOf)-1]); last.Detail != want {
					h.Errorf("the log ends with %+v", last)
				}
				h.emit(account, signed)
				h.mustBeWatched(s, false)
				if _, err := h.hooks.Activate(h.Context(), account, s.ID); err != nil {
					h.Fatal(err)
				}
				h.mustBeWatched(s, true)
			})
		})
	}
}

// spec 5.6: an outage during a check does not count, however
// long it lasts. The check waits until the endpoint answers.
func TestOutageDuringCheck(t *testing.T) {
	for name, fail := range outages {
		long, mails := 30*time.Hour, 2
		if name == "an error" {
			long, mails = 80*time.Hour, 4 // more than the three days
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var post letters
			bubble(t, delivery.Options{Alerts: &post}, func(h *house) {
				s := h.activated()
				time.Sleep(time.Second)
				h.answer = func(ctx context.Context, r request) int {
					if r.verifies {
						return 204
					}
					return fail(ctx)
				}
				h.during(long)
				_, checks := h.pings(s, time.Second)
				first := checks[0].after
				if want := int((long + time.Second - first) / (5 * time.Minute)); len(checks) < want || len(checks) > want+1 {
					h.Errorf("%d checks instead of %d", len(checks), want)
				}
				for i, r := range checks {
					if r.after != first+time.Duration(i)*5*time.Minute {
						h.Fatalf("check %d comes %v after the first", i, r.after-first)
					}
				}
				post.mustBe(h.T, s, slices.Repeat([]delivery.Trouble{{Purpose: delivery.ForCheck}}, mails), first, first+24*time.Hour, first+48*time.Hour, first+72*time.Hour)
				want := s
				want.AlertedAt = h.began.Add(first).UTC().Add(time.Duration(mails-1) * 24 * time.Hour)
				if diff := cmp.Diff(want, h.now(s)); diff != "" {
					h.Errorf("it is (-want +got):\n%s", diff)
				}

				h.answer, h.requests = nil, nil
				h.during(6 * time.Hour)
				_, checks = h.pings(s, time.Second)
				if gap := checks[1].after - checks[0].after; gap < time.Hour || gap > 5*time.Hour {
					h.Errorf("the check after the outage comes %v later", gap)
				}
			})
		})
	}
}
