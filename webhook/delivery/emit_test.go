package delivery_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// The envelope is that of spec 5.4, with the time format of spec 1.5, and without escapes for HTML.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		to := h.subscribed(account, signed)
		at := time.Date(2026, 11, 22, 23, 30, 0, 123_456_789, time.FixedZone("", -3600))
		h.tx(func(ctx context.Context) error {
			return h.hooks.Emit(ctx, account, signed, at, map[string]string{"name": "Þóra <&> \"Ægir\""})
		})
		h.runFor(time.Second)
		want := `{"type":"participant.signed","timestamp":"2026-11-23T00:30:00.123+00:00","data":{"name":"Þóra <&> \"Ægir\""}}`
		all := h.sent(to, signed)
		if len(all) != 1 {
			h.Fatalf("%d requests", len(all))
		}
		if diff := cmp.Diff(want, string(all[0].Body)); diff != "" {
			h.Errorf("body (-want +got):\n%s", diff)
		}
		if got := all[0].Header.Get(webhook.HeaderSubscription); got != to.ID {
			h.Errorf("subscription %q, want %q", got, to.ID)
		}
		if id := all[0].ID; strings.Contains(id, ".") || len(id) != 36 {
			h.Errorf("webhook-id %q", id)
		}
	})
}

// An event that cannot be sent is refused, and nothing of it is stored.
func TestEmitRefuses(t *testing.T) {
	t.Parallel()
	object := struct{}{}
	for _, test := range []struct {
		name, eventType string
		content         any
	}{
		{"a type without subscriptions", "process.expired", object},
		{"a ping", webhook.PingType, object},
		{"no type", "", object},
		{"nothing", signed, nil},
		{"a list", signed, []string{"a"}},
		{"a text", signed, "a"},
		{"what has no JSON", signed, map[string]float64{"a": math.NaN()}},
		{"more than a MiB", signed, map[string]string{"a": strings.Repeat("a", 1<<20)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *harness) {
				h.subscribed(account, signed, declined, completed)
				err := h.db.InTx(h.Context(), func(ctx context.Context) error {
					return h.hooks.Emit(ctx, account, test.eventType, time.Now(), test.content)
				})
				if err == nil {
					h.Error("was emitted")
				}
				h.wantNothingDue()
			})
		})
	}
}

// An event is sent if and only if the change that it reports is stored.
func TestEmitJoinsTheTransaction(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		to := h.subscribed(account, signed)
		emit := func(ctx context.Context) error { return h.hooks.Emit(ctx, account, signed, time.Now(), struct{}{}) }
		if err := emit(h.Context()); !errors.Is(err, storage.ErrNoTx) {
			h.Errorf("outside a transaction: %v", err)
		}
		undone := errors.New("undone")
		err := h.db.InTx(h.Context(), func(ctx context.Context) error { return errors.Join(emit(ctx), undone) })
		if !errors.Is(err, undone) {
			h.Errorf("the transaction: %v", err)
		}
		h.runFor(time.Minute)
		if all := h.sent(to, signed); all != nil {
			h.Errorf("%d requests of what was undone", len(all))
		}
		h.tx(emit)
		h.runFor(time.Minute)
		if all := h.sent(to, signed); len(all) != 1 {
			h.Errorf("%d requests of what was stored", len(all))
		}
	})
}

// An event without subscribers is not stored.
func TestEventWithoutSubscription(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		h.subscribed(account, declined)
		h.emit(account, signed)
		h.emit("another account", signed)
		h.wantNothingDue()
	})
}

// An event goes to the subscriptions of its account that include its type and are active
// (spec 5.7).
func TestWhomAnEventGoesTo(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		cases := []struct {
			name string
			to   delivery.Subscription
			want int
		}{
			{"one that wants it", h.subscribed(account, signed), 1},
			{"another that wants it", h.subscribed(account, declined, signed, completed), 1},
			{"one that wants other events", h.subscribed(account, declined, completed), 0},
			{"another account's", h.subscribed("another account", signed), 0},
			{"one never activated", h.created(signed), 0},
			{"one switched off", h.switchedOff(h.subscribed(account, signed)), 0},
		}
		h.emit(account, signed)
		h.runFor(longer)
		for _, c := range cases {
			if all := h.sent(c.to, signed); len(all) != c.want {
				h.Errorf("%s: %d requests", c.name, len(all))
			}
		}
	})
}

// A subscription that becomes active later does not receive earlier events, also if no attempt was made yet (spec 5.1).
func TestEventsBeforeTheActivation(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		never, again := h.created(signed), h.subscribed(account, signed)
		h.emit(account, signed)
		h.switchedOff(again)
		h.emit(account, signed)
		time.Sleep(time.Microsecond)
		for _, s := range []delivery.Subscription{never, again} {
			if _, err := h.hooks.Activate(h.Context(), account, s.ID); err != nil {
				h.Fatal(err)
			}
		}
		h.emit(account, signed)
		h.runFor(time.Minute)
		for name, s := range map[string]delivery.Subscription{"activated": never, "switched off and on": again} {
			if all := h.sent(s, signed); len(all) != 1 {
				h.Errorf("%s: %d requests", name, len(all))
			}
		}
	})
}

// A repeated fan-out, after a lost lease, adds no second delivery. A subscription that is switched off before the
// fan-out does not get the event, also when it is active again.
func TestFanOutIsRepeated(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		to, off := h.subscribed(account, signed), h.subscribed(account, signed)
		h.emit(account, signed)
		late, lateThen := h.fanOut()
		time.Sleep(2 * time.Minute)
		inTime, then := h.fanOut()
		if err := h.finish(inTime, then); err != nil {
			h.Error(err)
		}
		if err := h.finish(late, lateThen); !errors.Is(err, storage.ErrLeaseLost) {
			h.Errorf("the late one: %v", err)
		}
		h.emit(account, signed)
		last, then := h.fanOut()
		h.switchedOff(off)
		if _, err := h.hooks.Activate(h.Context(), account, off.ID); err != nil {
			h.Error(err)
		}
		if err := h.finish(last, then); err != nil {
			h.Error(err)
		}
		h.runFor(time.Minute)
		if all := h.sent(to, signed); len(all) != 2 || all[0].ID == all[1].ID {
			h.Errorf("%d requests of 2 events", len(all))
		}
		if all := h.sent(off, signed); all != nil {
			h.Errorf("%d requests to one that was switched off", len(all))
		}
		h.wantNothingDue()
	})
}

// fanOut does a job that fans out an event, except for its end.
func (h *harness) fanOut() (lease storage.Lease, then func(context.Context) error) {
	h.Helper()
	work := h.hooks.Work()[0]
	h.tx(func(ctx context.Context) error {
		leases, err := h.db.Jobs().Claim(ctx, work.Kind, time.Now(), 1, 1, work.Timeout)
		if err == nil {
			lease = leases[0]
		}
		return err
	})
	then, err := work.Do(h.Context(), lease.Job)
	if err != nil {
		h.Fatal(err)
	}
	return lease, then
}

// A failed delivery is retried alone: the other subscriptions do not get the event again.
func TestOneFailsTheOtherDoesNot(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		well, failing := h.subscribed(account, signed), h.subscribed(account, signed)
		h.answer = func(_ context.Context, r request) int {
			if r.to == failing.ID {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		}
		h.emit(account, signed)
		h.runFor(longer)
		one, other := h.sent(well, signed), h.sent(failing, signed)
		if len(one) != 1 || len(other) != len(schedule) {
			h.Fatalf("%d requests to the one, %d to the other", len(one), len(other))
		}
		// Both have the same ID (spec 5.4).
		if one[0].ID != other[0].ID || string(one[0].Body) != string(other[0].Body) {
			h.Errorf("the one got %s, the other %s", one[0].ID, other[0].ID)
		}
	})
}
