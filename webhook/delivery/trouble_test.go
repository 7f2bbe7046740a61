package delivery_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// An attempt that a server cannot wait for, because it stops, is none: the next server makes it,
// under the same webhook-id.
func TestServerStopsDuringAnAttempt(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		to := h.subscribed(account, signed)
		h.answer = after(14*time.Second, http.StatusOK)
		h.emit(account, signed)
		h.during(3 * time.Second)
		if log := h.attempts(to); log != nil || h.observed != nil {
			h.Errorf("log %v, observed %v", log, h.observed)
		}
		h.during(time.Minute)
		all, log := h.sent(to, signed), h.attempts(to)
		if len(all) != 2 || all[0].ID != all[1].ID {
			h.Errorf("requests: %v", all)
		}
		if len(log) != 1 || log[0].Number != 1 || log[0].Status != http.StatusOK {
			h.Errorf("log: %+v", log)
		}
		h.nothingDue()
	})
}

// faulty is a store that fails now and then.
type faulty struct {
	delivery.Store
	fault func(call string) error
}

func (f faulty) Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error) {
	if err := f.fault("Subscriptions"); err != nil {
		return nil, err
	}
	return f.Store.Subscriptions(ctx, account)
}

func (f faulty) Subscription(ctx context.Context, id string) (delivery.Subscription, error) {
	if err := f.fault("Subscription"); err != nil {
		return delivery.Subscription{}, err
	}
	return f.Store.Subscription(ctx, id)
}

func (f faulty) AddAttempt(ctx context.Context, a delivery.Attempt) error {
	return errors.Join(f.Store.AddAttempt(ctx, a), f.fault("AddAttempt"))
}

func (f faulty) AddDropped(ctx context.Context, d delivery.Dropped) error {
	return errors.Join(f.Store.AddDropped(ctx, d), f.fault("AddDropped"))
}

// A store that fails, or a part of the service that panics, loses no event: it is sent at least once,
// and its schedule goes on where it was.
func TestTroubleLosesNothing(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, call := range []string{"Subscription", "AddAttempt", "AddDropped"} {
		for kind, fail := range map[string]func() error{
			"fails":  func() error { return broken },
			"panics": func() error { panic(broken) },
		} {
			t.Run(call+" "+kind, func(t *testing.T) {
				bubble(t, delivery.Options{}, func(h *house) {
					to := h.subscribed(account, signed)
					h.answer = after(0, http.StatusInternalServerError)
					h.emit(account, signed)
					calls := 0
					h.hooks = delivery.New(faulty{h.db.Webhooks(), func(name string) error {
						if name != call {
							return nil
						}
						if calls++; calls > 2 {
							return nil
						}
						return fail()
					}}, h.db, h.db.Jobs(), delivery.Options{EventTypes: []string{signed}})
					h.hooks.AnswerWith(h.receive)
					h.during(longer)
					if calls < 3 || len(h.told) != 2 {
						h.Errorf("%d calls, and %d jobs failed", calls, len(h.told))
					}
					h.told = nil
					ids := make(map[string]bool)
					for _, r := range h.sent(to, signed) {
						ids[r.ID] = true
					}
					log := h.attempts(to)
					if len(ids) != 1 || len(log) != len(schedule) || len(h.dropped(to)) != 1 {
						h.Errorf("%d events sent, %d attempts, dropped %v", len(ids), len(log), h.dropped(to))
					}
					for i, a := range log {
						if a.Number != i+1 {
							h.Errorf("attempt %d in place of %d", a.Number, i+1)
						}
					}
					h.nothingDue()
				})
			})
		}
	}
}

// The server's own runner does the jobs at the same times.
func TestRunner(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		to := h.subscribed(account, signed)
		h.answer = after(0, http.StatusInternalServerError)
		h.emit(account, signed)
		r := queue.Runner{Jobs: h.db.Jobs(), Tx: h.db}
		for _, w := range h.hooks.Work() {
			r.Kinds = append(r.Kinds, queue.Kind{
				Name: w.Kind, DoThen: w.Do, Concurrency: w.Concurrency, PerGroup: w.PerGroup, Timeout: w.Timeout, MaxAttempts: w.MaxAttempts,
			})
		}
		ctx, cancel := context.WithTimeout(h.Context(), time.Hour)
		defer cancel()
		if err := r.Run(ctx); err != nil {
			h.Error(err)
		}
		var got []time.Duration
		for _, r := range h.sent(to, signed) {
			got = append(got, r.after.Truncate(time.Second)) // the runner looks again after some milliseconds
		}
		if diff := cmp.Diff(schedule[:5], got); diff != "" {
			h.Errorf("when attempts were made (-want +got):\n%s", diff)
		}
	})
}
