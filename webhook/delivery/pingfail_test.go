package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// outages are the ways in which an endpoint can fail at a request.
var outages = map[string]func(context.Context) int{
	"an error":   func(context.Context) int { return 500 },
	"a refusal":  func(context.Context) int { return 403 },
	"a redirect": func(context.Context) int { return 308 },
	"gone":       func(context.Context) int { return 410 },
	"not there":  func(context.Context) int { return 0 },
	"silence":    func(ctx context.Context) int { <-ctx.Done(); return 0 },
}

// spec 5.1 and 5.6
func TestThreeDaysOfFailingPings(t *testing.T) {
	testenv.Slow(t, "three days of virtual time, with a ping every five minutes")
	for _, name := range []string{"an error", "not there", "silence"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var post letters
			bubble(t, delivery.Options{Alerts: &post}, func(h *house) {
				s := h.activated()
				time.Sleep(time.Second)
				h.answer = func(ctx context.Context, r request) int {
					if r.verifies {
						return outages[name](ctx)
					}
					return 401 // security checks do not count
				}
				h.during(100 * time.Hour)
				pings, checks := h.pings(s, time.Second)
				if len(pings) != 72*12+1 || len(checks) < 12 {
					h.Fatalf("%d pings and %d checks", len(pings), len(checks))
				}
				first := pings[0].after
				for i, r := range pings {
					if r.after != first+time.Duration(i)*5*time.Minute {
						h.Fatalf("ping %d comes %v after the first", i, r.after-first)
					}
				}
				off := first + 72*time.Hour
				if last := checks[len(checks)-1].after; last > off+15*time.Second {
					h.Errorf("a check was made %v after the subscription was switched off", last-off)
				}
				since := h.began.Add(first).UTC()
				failing := delivery.Trouble{Purpose: delivery.ForPing, Since: since}
				want := []delivery.Trouble{failing, failing, failing}
				if len(post.digests) == 5 { // the digest of the fourth day came just before the last ping
					want = append(want, failing)
				}
				want = append(want, delivery.Trouble{Purpose: delivery.ForPing, Since: since, Reason: delivery.PingsFailed})
				post.mustBe(h.T, s, want, first, first+24*time.Hour, first+48*time.Hour, off, off+24*time.Hour)
				is := s
				is.Active, is.Reason, is.ActivatedAt, is.Generation = false, delivery.PingsFailed, time.Time{}, s.Generation+1
				is.UpdatedAt, is.AlertedAt, is.FailingSince = since.Add(72*time.Hour), since.Add(48*time.Hour), since
				if diff := cmp.Diff(is, h.now(s)); diff != "" {
					h.Errorf("it is (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// One ping that goes well begins the three days anew.
func TestAGoodPing(t *testing.T) {
	testenv.Slow(t, "three days of virtual time, with a ping every five minutes")
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.activated()
		for range 2 {
			h.answer = statuses(500, 401)
			h.during(40 * time.Hour)
			if is := h.now(s); !is.Active || is.FailingSince.IsZero() {
				h.Fatalf("after %v it is %+v", time.Since(h.began), is)
			}
			h.answer = nil
			h.during(5 * time.Minute)
			if is := h.now(s); !is.FailingSince.IsZero() {
				h.Errorf("after one that went well it is %+v", is)
			}
		}
	})
}

// It does so whatever it was sent for.
func TestAGoodPingOnTheSide(t *testing.T) {
	t.Parallel()
	for name, ping := range map[string]func(h *house, s delivery.Subscription) error{
		"a test": func(h *house, s delivery.Subscription) error { return h.hooks.Test(h.Context(), account, s.ID) },
		"an activation": func(h *house, s delivery.Subscription) error {
			return second(h.hooks.Activate(h.Context(), account, s.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *house) {
				s := h.activated()
				h.answer = statuses(500, 401)
				h.during(2 * time.Hour)
				if err := ping(h, s); err == nil || h.now(s).FailingSince.IsZero() {
					h.Errorf("after one that failed: %v, it is %+v", err, h.now(s))
				}
				h.answer = nil
				if err := ping(h, s); err != nil || !h.now(s).FailingSince.IsZero() {
					h.Errorf("after one that went well: %v, it is %+v", err, h.now(s))
				}
			})
		})
	}
}

// Days in which the service itself was down are none in which every ping failed.
func TestOutOurselves(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.activated()
		h.answer = statuses(500, 401)
		h.during(2 * time.Hour)
		time.Sleep(100 * time.Hour)
		again := time.Now()
		h.during(2 * time.Hour)
		if is := h.now(s); !is.Active || !is.FailingSince.Equal(again) {
			h.Errorf("it is %+v", is)
		}
	})
}
