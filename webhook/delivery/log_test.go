package delivery_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// A dropped event is sent again with its webhook-id, on a new schedule.
func TestSendAgain(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		to, other := h.subscribed(account, signed), h.subscribed(account, signed)
		h.answer = after(0, http.StatusInternalServerError)
		h.emit(account, signed)
		h.runFor(longer)
		event := h.dropped(to)[0].Event

		for name, test := range map[string]struct {
			subscription, event string
			want                error
		}{
			"no such subscription": {uuid.NewString(), event, delivery.ErrNotFound},
			"no such event":        {to.ID, uuid.NewString(), delivery.ErrNotFound},
			"no IDs":               {"", "", delivery.ErrNotFound},
		} {
			if err := h.hooks.SendAgain(h.Context(), test.subscription, test.event); err != test.want {
				h.Errorf("%s: %v", name, err)
			}
		}
		h.switchedOff(other)
		if err := h.hooks.SendAgain(h.Context(), other.ID, event); err != delivery.ErrInactive {
			h.Errorf("switched off: %v", err)
		}
		h.wantNothingDue()

		again := time.Since(h.began)
		if err := h.hooks.SendAgain(h.Context(), to.ID, event); err != nil {
			h.Fatal(err)
		}
		if err := h.hooks.SendAgain(h.Context(), to.ID, event); err != delivery.ErrNotFound {
			h.Errorf("twice: %v", err)
		}
		h.runFor(longer)
		var got []time.Duration
		for i, r := range h.sent(to, signed)[len(schedule):] {
			got = append(got, r.after-again)
			if number := h.attempts(to)[len(schedule)+i].Number; r.ID != event || number != i+1 {
				h.Errorf("attempt %d is number %d of event %s", i+1, number, r.ID)
			}
		}
		if diff := cmp.Diff(schedule, got); diff != "" {
			h.Errorf("when attempts were made again (-want +got):\n%s", diff)
		}
		if all := h.dropped(to); len(all) != 1 || all[0].Event != event {
			h.Errorf("dropped: %v", all)
		}
		if all := h.dropped(other); len(all) != 1 || len(h.sent(other, signed)) != len(schedule) {
			h.Errorf("dropped for the other: %v", all)
		}
	})
}

// A dropped event that is delivered the second time is not listed any more.
func TestSendAgainGoesWell(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		to := h.subscribed(account, signed)
		h.answer = func(_ context.Context, r request) int {
			if time.Since(h.began) < longer {
				return http.StatusInternalServerError
			}
			return r.expectedStatus()
		}
		h.emit(account, signed)
		h.runFor(longer)
		elsewhere := "https://hooks.example.net/"
		if _, err := h.hooks.Update(h.Context(), account, to.ID, delivery.Change{URL: &elsewhere}); err != nil {
			h.Fatal(err)
		}
		if _, err := h.hooks.Activate(h.Context(), account, to.ID); err != nil {
			h.Fatal(err)
		}
		if err := h.hooks.SendAgain(h.Context(), to.ID, h.dropped(to)[0].Event); err != nil {
			h.Fatal(err)
		}
		h.runFor(time.Minute)
		all := h.sent(to, signed)
		if last := all[len(all)-1]; len(all) != len(schedule)+1 || last.URL != elsewhere {
			h.Errorf("%d requests, the last to %s", len(all), last.URL)
		}
		if all := h.dropped(to); all != nil {
			h.Errorf("dropped: %v", all)
		}
	})
}

// Sweep keeps the log after the given time, and what is still to be sent, also after all servers were down for
// weeks.
func TestSweepLeavesWhatIsToBeSent(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		to := h.subscribed(account, signed)
		h.answer = after(0, http.StatusInternalServerError)
		h.emit(account, signed)
		h.runFor(time.Minute)
		h.swept(time.Now(), 2) // attempts
		for range 2 {
			time.Sleep(1000 * time.Hour)
			h.swept(time.Now(), 0)
			h.runFor(time.Minute)
			h.swept(time.Now(), 1)
		}
		h.runFor(longer)
		gone := h.dropped(to)
		if len(h.sent(to, signed)) != len(schedule) || len(gone) != 1 {
			h.Fatalf("%d attempts, dropped %v", len(h.sent(to, signed)), gone)
		}
		h.swept(time.Now(), len(schedule)-4+1) // the last attempts, and that it was dropped
		if h.attempts(to) != nil || h.dropped(to) != nil {
			h.Errorf("log %v, dropped %v", h.attempts(to), h.dropped(to))
		}
		if err := h.hooks.SendAgain(h.Context(), to.ID, gone[0].Event); err != delivery.ErrNotFound {
			h.Errorf("sending again what is gone: %v", err)
		}
	})
}

// Sweep deletes a thousand records at a time.
func TestSweepOfMany(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		h.tx(func(ctx context.Context) (err error) {
			for range 1500 {
				err = errors.Join(err, h.db.Webhooks().AddDropped(ctx, delivery.Dropped{Event: uuid.NewString(), At: h.began}))
			}
			return err
		})
		h.swept(h.began, 0)
		h.swept(h.began.Add(time.Microsecond), 1000)
		h.swept(h.began.Add(time.Microsecond), 500)
		h.swept(h.began.Add(time.Microsecond), 0)
	})
}

// swept sweeps, and checks the number of records deleted.
func (h *harness) swept(before time.Time, want int) {
	h.Helper()
	if n, err := h.hooks.Sweep(h.Context(), before); err != nil || n != want {
		h.Errorf("%d swept, want %d; error %v", n, want, err)
	}
}

// OldestDue includes all attempts.
func TestOldestDue(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		h.wantNothingDue()
		h.subscribed(account, signed)
		h.answer = after(0, http.StatusInternalServerError)
		h.emit(account, signed)
		h.dueAfter(0)
		h.runFor(3 * time.Minute)
		h.dueAfter(schedule[3])
		time.Sleep(time.Minute)
		h.subscribed("another account", signed)
		h.emit("another account", signed)
		h.dueAfter(4 * time.Minute)
		h.runFor(3 * time.Minute)
		h.dueAfter(4*time.Minute + schedule[3])
	})
}

// dueAfter checks when the first delivery is due, since the beginning.
func (h *harness) dueAfter(want time.Duration) {
	h.Helper()
	if due, err := h.hooks.OldestDue(h.Context()); err != nil || due.Sub(h.began) != want {
		h.Errorf("due after %v, want %v; error %v", due.Sub(h.began), want, err)
	}
}
