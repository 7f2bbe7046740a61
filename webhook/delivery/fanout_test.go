package delivery_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// An event goes to the subscriptions of its account that include its type and are active
// (spec 5.7).
func TestWhomAnEventGoesTo(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
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
		h.during(longer)
		for _, c := range cases {
			if all := h.sent(c.to, signed); len(all) != c.want {
				h.Errorf("%s: %d requests", c.name, len(all))
			}
		}
	})
}

// One that is activated later does not receive earlier events, also when they have not been sent
// to anybody yet (spec 5.1).
func TestEventsBeforeTheActivation(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
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
		h.during(time.Minute)
		for name, s := range map[string]delivery.Subscription{"activated": never, "switched off and on": again} {
			if all := h.sent(s, signed); len(all) != 1 {
				h.Errorf("%s: %d requests", name, len(all))
			}
		}
	})
}

// A fan-out that is repeated, because the one before lost its lease, makes no second delivery. What
// it makes for a subscription that is switched off meanwhile is not sent, also when that is active
// again.
func TestFanOutIsRepeated(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
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
		h.during(time.Minute)
		if all := h.sent(to, signed); len(all) != 2 || all[0].ID == all[1].ID {
			h.Errorf("%d requests of 2 events", len(all))
		}
		if all := h.sent(off, signed); all != nil {
			h.Errorf("%d requests to one that was switched off", len(all))
		}
		h.nothingDue()
	})
}

// fanOut does a job that sends an event, up to its end.
func (h *house) fanOut() (lease storage.Lease, then func(context.Context) error) {
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

// A subscription that fails is tried again alone: the others have got the event.
func TestOneFailsTheOtherDoesNot(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		well, failing := h.subscribed(account, signed), h.subscribed(account, signed)
		h.answer = func(_ context.Context, r request) int {
			if r.to == failing.ID {
				return http.StatusInternalServerError
			}
			return http.StatusOK
		}
		h.emit(account, signed)
		h.during(longer)
		one, other := h.sent(well, signed), h.sent(failing, signed)
		if len(one) != 1 || len(other) != len(schedule) {
			h.Fatalf("%d requests to the one, %d to the other", len(one), len(other))
		}
		// The event is one, whomever it goes to (spec 5.4).
		if one[0].ID != other[0].ID || string(one[0].Body) != string(other[0].Body) {
			h.Errorf("the one got %s, the other %s", one[0].ID, other[0].ID)
		}
	})
}
