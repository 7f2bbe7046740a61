package delivery_test

import (
	"context"
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// pings returns the correctly signed requests to a subscription since a time as pings, and the others as checks.
func (h *harness) pings(to delivery.Subscription, since time.Duration) (pings, checks []request) {
	for _, r := range h.sent(to, webhook.PingType) {
		switch {
		case r.after < since:
		case r.verifies:
			pings = append(pings, r)
		default:
			checks = append(checks, r)
		}
	}
	return pings, checks
}

// mustBeAlike checks that two pings differ only in their IDs, times and signatures.
func mustBeAlike(t *testing.T, a, b request) {
	t.Helper()
	type seen struct {
		URL, To string
		Headers []string
		Signed  []string // scheme and length
		Body    string
		ID      int
	}
	look := func(r request) seen {
		s := seen{
			URL: r.URL, To: r.to, Headers: slices.Sorted(maps.Keys(r.Header)), ID: len(r.ID),
			Body: regexp.MustCompile(`"timestamp":"[^"]*"`).ReplaceAllString(string(r.Body), "time"),
		}
		for item := range strings.SplitSeq(r.Header.Get(webhook.HeaderSignature), " ") {
			scheme, text, _ := strings.Cut(item, ",")
			signature, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Errorf("signature %q: %v", item, err)
			}
			s.Signed = append(s.Signed, scheme+" "+strings.Repeat("x", len(signature)))
		}
		return s
	}
	if diff := cmp.Diff(look(a), look(b)); diff != "" {
		t.Errorf("two pings differ:\n%s", diff)
	}
}

// A ping that a stopping server interrupts does not count, and is repeated.
func TestStopDuringPing(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
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
		h.runFor(time.Minute)
		if len(h.requests) != 1 {
			h.Errorf("%d requests within a minute", len(h.requests))
		}
	})
}

// A change by the owner during a ping remains, and determines the outcome of the ping.
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
			bubble(t, delivery.Options{Alerts: &post}, func(h *harness) {
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
				h.runFor(64 * time.Minute)
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

// outages are the ways in which an endpoint fails.
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
			bubble(t, delivery.Options{Alerts: &post}, func(h *harness) {
				s := h.activated()
				time.Sleep(time.Second)
				h.answer = func(ctx context.Context, r request) int {
					if r.verifies {
						return outages[name](ctx)
					}
					return 401 // security checks do not count
				}
				h.runFor(100 * time.Hour)
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

// The three days of failures begin again also after a good ping with another purpose.
func TestAGoodPingOnTheSide(t *testing.T) {
	t.Parallel()
	for name, ping := range map[string]func(h *harness, s delivery.Subscription) error{
		"a test": func(h *harness, s delivery.Subscription) error { return h.hooks.Test(h.Context(), account, s.ID) },
		"an activation": func(h *harness, s delivery.Subscription) error {
			return second(h.hooks.Activate(h.Context(), account, s.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *harness) {
				s := h.activated()
				h.answer = statuses(500, 401)
				h.runFor(2 * time.Hour)
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
