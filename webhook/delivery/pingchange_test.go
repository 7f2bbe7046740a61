package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// A ping that a server that stops cuts short is none: it is made again, and nothing is held against
// the endpoint.
func TestStopDuringPing(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.activated()
		before := len(h.attempts(s))
		arrived := make(chan struct{}, 1)
		h.answer = func(ctx context.Context, r request) int {
			arrived <- struct{}{}
			<-ctx.Done()
			return 0
		}
		stop := h.work(h.hooks)
		<-arrived
		stop()
		if diff := cmp.Diff(s, h.now(s)); diff != "" || len(h.attempts(s)) != before {
			h.Errorf("%d attempts in the log; it changed (-want +got):\n%s", len(h.attempts(s))-before, diff)
		}
		h.answer, h.requests = nil, nil
		h.during(time.Minute)
		if len(h.requests) != 1 {
			h.Errorf("%d requests within a minute", len(h.requests))
		}
	})
}

// What an owner changes while a ping runs stays changed, and the ping is judged by it.
func TestChangeDuringPing(t *testing.T) {
	t.Parallel()
	url, off := "https://hooks.example.com/new", false
	for name, test := range map[string]struct {
		change delivery.Change
		active bool
	}{
		"other types":  {delivery.Change{EventTypes: []string{completed}}, true},
		"another URL":  {delivery.Change{URL: &url}, false},
		"switched off": {delivery.Change{Active: &off}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var post letters
			bubble(t, delivery.Options{Alerts: &post}, func(h *house) {
				s := h.activated()
				var want delivery.Subscription
				h.answer = func(_ context.Context, r request) int {
					if want.ID == "" && r.verifies {
						var err error
						if want, err = h.hooks.Update(h.Context(), account, s.ID, test.change); err != nil {
							h.Error(err)
						}
					}
					return statuses(500, 401)(nil, r)
				}
				h.during(64 * time.Minute)
				if test.active {
					want.FailingSince = h.now(s).FailingSince
					want.AlertedAt = want.FailingSince
				}
				if diff := cmp.Diff(want, h.now(s)); diff != "" {
					h.Errorf("(-want +got):\n%s", diff)
				}
				if want.FailingSince.IsZero() == test.active || (len(post.digests) > 0) != test.active {
					h.Errorf("it fails since %v; mail: %+v", want.FailingSince, post.digests)
				}
			})
		})
	}
}
