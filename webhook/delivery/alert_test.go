package delivery_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// letters are what admins were told. The zero value takes all.
type letters struct {
	mu     sync.Mutex
	refuse int // so many more
	alerts []delivery.Alert
	at     []time.Time
}

func (l *letters) Alert(_ context.Context, a delivery.Alert) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alerts, l.at = append(l.alerts, a), append(l.at, time.Now())
	if l.refuse > 0 {
		l.refuse--
		return errors.New("no mail today")
	}
	return nil
}

// mustBe compares what was told of a subscription, and when after the beginning of a bubble, which
// is to the second, as an endpoint has 15 seconds to fail.
func (l *letters) mustBe(t *testing.T, of delivery.Subscription, want []delivery.Alert, after ...time.Duration) {
	t.Helper()
	ids := make(map[string]bool)
	for i := range want {
		want[i].Account, want[i].Subscription, want[i].URL = of.Account, of.ID, of.URL
	}
	for i, a := range l.alerts {
		ids[a.ID] = true
		if _, err := uuid.Parse(a.ID); err != nil {
			t.Errorf("an alert's ID: %v", err)
		}
		if i < len(after) {
			if late := l.at[i].Sub(of.CreatedAt) - after[i]; late < 0 || late > 16*time.Second {
				t.Errorf("alert %d comes %v late", i, late)
			}
		}
	}
	if diff := cmp.Diff(want, l.alerts, cmpopts.IgnoreFields(delivery.Alert{}, "ID")); diff != "" || len(ids) != len(want) {
		t.Errorf("%d alerts, told (-want +got):\n%s", len(ids), diff)
	}
}

// An endpoint that comes and goes is no reason for more than a mail a day (spec 5.6),
// and neither is one that is activated again and again.
func TestOneMailADay(t *testing.T) {
	testenv.Slow(t, "three days of virtual time, with a ping every five minutes")
	t.Parallel()
	var post letters
	bubble(t, delivery.Options{Alerts: &post}, func(h *house) {
		s := h.activated()
		h.answer = func(_ context.Context, r request) int {
			if r.verifies && r.after%(4*time.Hour) < 2*time.Hour {
				return 204
			}
			return statuses(500, 500)(nil, r)
		}
		h.during(24 * time.Hour)
		h.switchedOff(s)
		endpoint := h.answer
		h.answer = nil
		if _, err := h.hooks.Activate(h.Context(), account, s.ID); err != nil {
			h.Fatal(err)
		}
		h.answer = endpoint
		h.during(2 * 24 * time.Hour)
		if len(post.at) != 3 {
			h.Errorf("%d mails in 3 days", len(post.at))
		}
		for i := range len(post.at) - 1 {
			if gap := post.at[i+1].Sub(post.at[i]); gap < 24*time.Hour {
				h.Errorf("%v between two mails", gap)
			}
		}
	})
}

// Admins are told until it goes well, each time under the same ID.
func TestAlertsAreRepeated(t *testing.T) {
	t.Parallel()
	post := letters{refuse: 3}
	bubble(t, delivery.Options{Alerts: &post}, func(h *house) {
		h.activated()
		h.answer = statuses(500, 401)
		h.during(80 * time.Minute)
		if len(h.told) != 3 || len(post.alerts) != 4 {
			h.Fatalf("%d errors of jobs, %d alerts", len(h.told), len(post.alerts))
		}
		h.told = nil
		for _, a := range post.alerts {
			if diff := cmp.Diff(post.alerts[0], a); diff != "" {
				h.Errorf("two alerts differ:\n%s", diff)
			}
		}
	})
}

// Alerts that were queued before there were alerts about checks are about pings, and what cannot be
// read is not told.
func TestQueuedAlerts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		payload string
		want    []delivery.Alert
	}{
		"of a check":        {`{"version":1,"alert":{"ID":"i","Account":"a","Purpose":"check","Since":"2026-06-17T12:00:00Z"}}`, []delivery.Alert{{ID: "i", Account: "a", Purpose: delivery.ForCheck, Since: time.Date(2026, 6, 17, 12, 0, 0, 0, time.UTC)}}},
		"without a purpose": {`{"version":1,"alert":{"ID":"i","URL":"u","Reason":"PingsFailed"}}`, []delivery.Alert{{ID: "i", URL: "u", Purpose: delivery.ForPing, Reason: delivery.PingsFailed}}},
		"of the future":     {`{"version":2,"alert":{"ID":"i"}}`, nil},
		"broken":            {`{"version":1,"alert":{"ID":1}}`, nil},
		"no JSON":           {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var post letters
			bubble(t, delivery.Options{Alerts: &post}, func(h *house) {
				h.tx(func(ctx context.Context) error {
					return h.db.Jobs().Enqueue(ctx, storage.Job{Kind: "webhook.alert", Group: "a", Due: time.Now(), Payload: []byte(test.payload)})
				})
				h.during(time.Second)
				if diff := cmp.Diff(test.want, post.alerts); diff != "" || (len(h.told) > 0) != (test.want == nil) {
					h.Errorf("jobs failed with %v; told (-want +got):\n%s", h.told, diff)
				}
				h.told = nil
			})
		})
	}
}

// Where nobody is told, nothing is left to tell (spec 6).
func TestNobodyIsTold(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.activated()
		h.answer = statuses(500, 204)
		h.during(6 * time.Hour)
		if is := h.now(s); is.Active || is.Reason != delivery.SecurityCheckFailed {
			h.Errorf("it is %+v", is)
		}
		if due, err := h.db.Jobs().NextDue(h.Context(), "webhook.alert"); err != nil || len(due) > 0 {
			h.Errorf("an alert is due at %v, %v", due, err)
		}
	})
}
