package delivery_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// letters records the alerts. The zero value accepts all.
type letters struct {
	mu      sync.Mutex
	refuse  int // so many more
	digests []delivery.Digest
	at      []time.Time
}

func (l *letters) Alert(_ context.Context, d delivery.Digest) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.digests, l.at = append(l.digests, d), append(l.at, time.Now())
	if l.refuse > 0 {
		l.refuse--
		return errors.New("no mail today")
	}
	return nil
}

// mustBe checks the alerts about the only failing subscription of an account, with their times since the start of
// the bubble, to the second. The time of a failed check is compared with the precision of the interval at which
// checks are repeated.
func (l *letters) mustBe(t *testing.T, of delivery.Subscription, want []delivery.Trouble, after ...time.Duration) {
	t.Helper()
	ids := make(map[string]bool)
	var got []delivery.Trouble
	for i, d := range l.digests {
		ids[d.ID] = true
		if _, err := uuid.Parse(d.ID); err != nil || d.Account != of.Account || len(d.Troubles) != 1 {
			t.Fatalf("digest %+v: %v", d, err)
		}
		if i < len(after) {
			if late := l.at[i].Sub(of.CreatedAt) - after[i]; late < 0 || late > 16*time.Second {
				t.Errorf("digest %d comes %v late", i, late)
			}
		}
		told := d.Troubles[0]
		if told.Purpose == delivery.ForCheck && told.Reason == "" {
			if ago := l.at[i].Sub(told.Since); ago < 0 || ago > 5*time.Minute+16*time.Second {
				t.Errorf("digest %d tells of a check of %v before it", i, ago)
			}
			told.Since = time.Time{}
		}
		got = append(got, told)
	}
	for i := range want {
		want[i].Subscription, want[i].URL = of.ID, of.URL
	}
	if diff := cmp.Diff(want, got); diff != "" || len(ids) != len(want) {
		t.Errorf("%d digests, told (-want +got):\n%s", len(ids), diff)
	}
}

// One mail a day has all failures of an account, whichever of two servers sends it, also if each is restarted every
// few hours. A switched-off subscription is reported once. Other accounts have their own mails.
func TestDigest(t *testing.T) {
	testenv.Slow(t, "four days of virtual time, with pings every five minutes")
	t.Parallel()
	var post letters
	bubble(t, delivery.Options{}, func(h *harness) {
		forged := h.activated()
		down := []delivery.Subscription{h.activated(), h.activated()}
		well := h.activated()
		h.answer = func(_ context.Context, r request) int {
			switch r.to {
			case well.ID:
				return r.expectedStatus()
			case forged.ID:
				if r.after < 30*time.Hour || r.verifies {
					return r.expectedStatus()
				}
				return 204
			}
			return 500
		}
		for range 16 {
			one := h.server(delivery.Options{EventTypes: []string{signed}, Alerts: &post}, h.db.Jobs())
			other := h.server(delivery.Options{EventTypes: []string{signed}, Alerts: &post}, h.db.Jobs())
			stopOne, stopOther := h.work(one), h.work(other)
			time.Sleep(6*time.Hour + 7*time.Minute)
			stopOne()
			stopOther()
		}

		told := make(map[string]map[delivery.Reason]int)
		for i, d := range post.digests {
			if i > 0 && post.at[i].Sub(post.at[i-1]) < 24*time.Hour {
				h.Errorf("digest %d comes %v after the one before", i, post.at[i].Sub(post.at[i-1]))
			}
			for _, one := range d.Troubles {
				if told[one.Subscription] == nil {
					told[one.Subscription] = make(map[delivery.Reason]int)
				}
				told[one.Subscription][one.Reason]++
			}
		}
		if n := len(post.digests); n != 5 {
			h.Errorf("%d digests in four days", n)
		}
		if n := len(post.digests[1].Troubles); n != len(down) {
			h.Errorf("the second digest tells of %d subscriptions", n)
		}
		if told[well.ID] != nil || told[forged.ID][delivery.SecurityCheckFailed] != 1 {
			h.Errorf("told of the endpoint that is well: %v, of the one that accepts forgeries: %v", told[well.ID], told[forged.ID])
		}
		for _, s := range down {
			if n := told[s.ID][""]; n < 2 || n > 4 {
				h.Errorf("told of one that fails %d times", n)
			}
			if is := h.now(s); is.Reason != delivery.PingsFailed || told[s.ID][delivery.PingsFailed] != 1 {
				h.Errorf("it is off because of %q, told %d times", is.Reason, told[s.ID][delivery.PingsFailed])
			}
		}
	})
}

// An account whose endpoints have recovered gets no mail the next day, and one at once when they fail later.
func TestDigestsEnd(t *testing.T) {
	testenv.Slow(t, "three days of virtual time")
	t.Parallel()
	var post letters
	bubble(t, delivery.Options{Alerts: &post}, func(h *harness) {
		h.activated()
		h.answer = statuses(500, 401)
		h.runFor(2 * time.Hour)
		h.answer = nil
		h.runFor(30 * time.Hour)
		if len(post.digests) != 1 {
			h.Fatalf("%d digests", len(post.digests))
		}
		h.answer = statuses(500, 401)
		h.runFor(2 * time.Hour)
		if len(post.digests) != 2 {
			h.Errorf("%d digests", len(post.digests))
		}
	})
}

// An alert is repeated until it succeeds, with the same ID.
func TestAlertsAreRepeated(t *testing.T) {
	t.Parallel()
	post := letters{refuse: 3}
	bubble(t, delivery.Options{Alerts: &post}, func(h *harness) {
		h.activated()
		h.answer = statuses(500, 401)
		h.runFor(80 * time.Minute)
		if len(h.jobErrors) != 3 || len(post.digests) != 4 {
			h.Fatalf("%d errors of jobs, %d digests", len(h.jobErrors), len(post.digests))
		}
		h.jobErrors = nil
		for _, d := range post.digests {
			if diff := cmp.Diff(post.digests[0], d); diff != "" {
				h.Errorf("two digests differ:\n%s", diff)
			}
		}
	})
}

// Alerts of versions before security checks are about pings. An alert that cannot be read is not sent.
func TestQueuedAlerts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		payload string
		want    []delivery.Digest
	}{
		"of a check": {`{"version":1,"alert":{"ID":"i","Account":"a","Purpose":"check","Since":"2026-06-17T12:00:00Z"}}`, []delivery.Digest{{
			ID: "i", Account: "a", Troubles: []delivery.Trouble{{Purpose: delivery.ForCheck, Since: time.Date(2026, 6, 17, 12, 0, 0, 0, time.UTC)}},
		}}},
		"without a purpose": {`{"version":1,"alert":{"ID":"i","URL":"u","Reason":"PingsFailed"}}`, []delivery.Digest{{
			ID: "i", Troubles: []delivery.Trouble{{URL: "u", Purpose: delivery.ForPing, Reason: delivery.PingsFailed}},
		}}},
		"of the future": {`{"version":2,"alert":{"ID":"i"}}`, nil},
		"broken":        {`{"version":1,"alert":{"ID":1}}`, nil},
		"no JSON":       {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var post letters
			bubble(t, delivery.Options{Alerts: &post}, func(h *harness) {
				h.tx(func(ctx context.Context) error {
					return h.db.Jobs().Enqueue(ctx, storage.Job{Kind: "webhook.alert", Group: "a", Due: time.Now(), Payload: []byte(test.payload)})
				})
				h.runFor(time.Second)
				if diff := cmp.Diff(test.want, post.digests); diff != "" || (len(h.jobErrors) > 0) != (test.want == nil) {
					h.Errorf("jobs failed with %v; told (-want +got):\n%s", h.jobErrors, diff)
				}
				h.jobErrors = nil
			})
		})
	}
}

// Without Alerts, no jobs remain (spec 6).
func TestNoAlert(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s := h.activated()
		h.answer = statuses(500, 204)
		h.runFor(6 * time.Hour)
		if is := h.now(s); is.Active || is.Reason != delivery.SecurityCheckFailed {
			h.Errorf("it is %+v", is)
		}
		for _, kind := range []string{"webhook.alert", "webhook.digest"} {
			if due, err := h.db.Jobs().NextDue(h.Context(), kind); err != nil || len(due) > 0 {
				h.Errorf("%s is due at %v, %v", kind, due, err)
			}
		}
	})
}
