package delivery_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// What makes a subscription inactive ends the deliveries that are queued, also for when it is active
// again, and those that are under way go no further (spec 5.1).
func TestDeliveriesEnd(t *testing.T) {
	t.Parallel()
	elsewhere := "https://hooks.example.net/"
	for name, end := range map[string]func(*house, delivery.Subscription) error{
		"switched off": func(h *house, s delivery.Subscription) error {
			h.switchedOff(s)
			return nil
		},
		"switched off and on": func(h *house, s delivery.Subscription) error {
			h.switchedOff(s)
			_, err := h.hooks.Activate(h.Context(), account, s.ID)
			return err
		},
		"a new URL": func(h *house, s delivery.Subscription) error {
			_, err := h.hooks.Update(h.Context(), account, s.ID, delivery.Change{URL: &elsewhere})
			return err
		},
		"deleted": func(h *house, s delivery.Subscription) error {
			return h.hooks.Delete(h.Context(), account, s.ID)
		},
	} {
		for when, attempts := range map[time.Duration]int{ // each takes 5 s
			0:                0, // before the first
			3 * time.Second:  1, // while it is under way
			8 * time.Second:  1, // before the second
			17 * time.Second: 2, // while that is under way
			time.Hour:        5,
			30 * time.Hour:   7,
		} {
			t.Run(name+" after "+when.String(), func(t *testing.T) {
				bubble(t, delivery.Options{}, func(h *house) {
					to := h.subscribed(account, signed)
					failing := after(5*time.Second, http.StatusInternalServerError)
					h.answer = func(ctx context.Context, r request) int {
						if r.Type == webhook.PingType {
							return r.asItShould()
						}
						return failing(ctx, r)
					}
					h.emit(account, signed)
					ended := make(chan error, 1)
					go func() {
						time.Sleep(when + time.Microsecond)
						ended <- end(h, to)
					}()
					time.Sleep(2 * time.Microsecond)
					h.during(50 * time.Hour)
					if err := <-ended; err != nil {
						h.Error(err)
					}
					if all := h.sent(to, signed); len(all) != attempts {
						h.Errorf("%d attempts, want %d", len(all), attempts)
					}
					h.nothingDue()
				})
			})
		}
	}
}
