package delivery_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// An account with silent endpoints waits for its own calls, and delays no other account.
func TestActivationsOfOthers(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		slow := h.created(signed)
		quick, err := h.hooks.Create(h.Context(), "another account", endpoint+"/quick", []string{signed})
		if err != nil {
			h.Fatal(err)
		}
		under, most := 0, 0
		h.answer = func(ctx context.Context, r request) int {
			if r.to == quick.ID {
				return statuses(204, 401)(ctx, r)
			}
			h.mu.Lock()
			under++
			most = max(most, under)
			h.mu.Unlock()
			<-ctx.Done()
			h.mu.Lock()
			under--
			h.mu.Unlock()
			return 0
		}
		began := time.Now()
		var all sync.WaitGroup
		for range 300 {
			all.Go(func() {
				if _, err := h.hooks.Activate(h.Context(), account, slow.ID); err == nil {
					h.Error("one was activated that is silent")
				}
			})
		}
		time.Sleep(time.Second)
		if _, err := h.hooks.Activate(h.Context(), "another account", quick.ID); err != nil || time.Since(began) != time.Second {
			h.Errorf("after %v: %v", time.Since(began), err)
		}
		all.Wait()
		if took := time.Since(began); took != 30*time.Second || most != 4 {
			h.Errorf("%d at once of one account, for %v", most, took)
		}
		h.answer = nil
		if err := h.hooks.Test(h.Context(), account, slow.ID); err != nil {
			h.Errorf("afterwards: %v", err)
		}
	})
}

// spec 5.3: the 30 seconds include the wait. If the wait leaves too little time, the endpoint is not at fault.
func TestTimeOfWaiting(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call   func(h *harness, s delivery.Subscription) error
		answer time.Duration // of a ping
		want   map[time.Duration]int
	}{
		"activations": {func(h *harness, s delivery.Subscription) error {
			return second(h.hooks.Activate(h.Context(), account, s.ID))
		}, 9 * time.Second, map[time.Duration]int{18 * time.Second: 4}},
		"tests": {func(h *harness, s delivery.Subscription) error {
			return h.hooks.Test(h.Context(), account, s.ID)
		}, 12 * time.Second, map[time.Duration]int{12 * time.Second: 4, 24 * time.Second: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *harness) {
				s := h.created(signed)
				h.answer = func(ctx context.Context, r request) int {
					after(test.answer, 0)(ctx, r)
					return r.expectedStatus()
				}
				const calls = 20
				began, succeeded, refused := time.Now(), make(map[time.Duration]int), 0
				var all sync.WaitGroup
				for range calls {
					all.Go(func() {
						err := test.call(h, s)
						h.mu.Lock()
						defer h.mu.Unlock()
						switch took := time.Since(began); {
						case err == nil:
							succeeded[took]++
						case err == delivery.ErrTooManyCalls && took == 30*time.Second:
							refused++
						default:
							h.Errorf("after %v: %v", took, err)
						}
					})
				}
				all.Wait()
				diff := cmp.Diff(test.want, succeeded)
				for _, n := range succeeded {
					refused += n
				}
				if diff != "" || refused != calls {
					h.Errorf("%d calls ended; those that went well (-want +got):\n%s", refused, diff)
				}
			})
		})
	}
}

// An endpoint that takes all of the time is at fault if there was no wait.
func TestActivationWithoutTimeLeft(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s := h.created(signed)
		h.hooks = delivery.New(faulty{h.db.Webhooks(), func(call string) error {
			if call == "AddAttempt" {
				time.Sleep(time.Millisecond)
			}
			return nil
		}}, h.db, h.db.Jobs(), delivery.Options{})
		h.hooks.AnswerWith(h.receive)
		h.answer = func(ctx context.Context, r request) int {
			after(15*time.Second-1, 0)(ctx, r)
			return r.expectedStatus()
		}
		began := time.Now()
		_, err := h.hooks.Activate(h.Context(), account, s.ID)
		var failed *delivery.EndpointError
		if !errors.As(err, &failed) || time.Since(began) != 30*time.Second {
			h.Fatalf("after %v: %v", time.Since(began), err)
		}
		want := &delivery.EndpointError{Failed: delivery.Unreachable, Failure: delivery.TimedOut, Detail: "The pings took longer than 30 seconds."}
		if diff := cmp.Diff(want, failed); diff != "" || h.now(s).Active {
			h.Errorf("(-want +got):\n%s", diff)
		}
	})
}
