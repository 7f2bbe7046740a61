package delivery_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// The envelope is that of spec 5.4, with the time of spec 1.5, and text stays as it is.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		to := h.subscribed(account, signed)
		at := time.Date(2026, 11, 22, 23, 30, 0, 123_456_789, time.FixedZone("", -3600))
		h.tx(func(ctx context.Context) error {
			return h.hooks.Emit(ctx, account, signed, at, map[string]string{"name": "Þóra <&> \"Ægir\""})
		})
		h.during(time.Second)
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

// What cannot be sent is refused where it happens, and nothing of it is stored.
func TestEmitRefuses(t *testing.T) {
	t.Parallel()
	object := struct{}{}
	for _, test := range []struct {
		name, eventType string
		content         any
	}{
		{"a type that nobody can subscribe to", "process.expired", object},
		{"a ping", webhook.PingType, object},
		{"no type", "", object},
		{"nothing", signed, nil},
		{"a list", signed, []string{"a"}},
		{"a text", signed, "a"},
		{"what has no JSON", signed, map[string]float64{"a": math.NaN()}},
		{"more than a MiB", signed, map[string]string{"a": strings.Repeat("a", 1<<20)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *house) {
				h.subscribed(account, signed, declined, completed)
				err := h.db.InTx(h.Context(), func(ctx context.Context) error {
					return h.hooks.Emit(ctx, account, test.eventType, time.Now(), test.content)
				})
				if err == nil {
					h.Error("was emitted")
				}
				h.nothingDue()
			})
		})
	}
}

// An event is sent if and only if the change is stored that it tells of.
func TestEmitJoinsTheTransaction(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
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
		h.during(time.Minute)
		if all := h.sent(to, signed); all != nil {
			h.Errorf("%d requests of what was undone", len(all))
		}
		h.tx(emit)
		h.during(time.Minute)
		if all := h.sent(to, signed); len(all) != 1 {
			h.Errorf("%d requests of what was stored", len(all))
		}
	})
}

// What nobody wants is not kept.
func TestEventThatNobodyWants(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		h.subscribed(account, declined)
		h.emit(account, signed)
		h.emit("another account", signed)
		h.nothingDue()
	})
}
