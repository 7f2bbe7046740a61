package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// A change that makes a subscription inactive ends queued deliveries, also for when it is active again, and
// deliveries in progress are not retried (spec 5.1).
func TestDeliveriesEnd(t *testing.T) {
	t.Parallel()
	elsewhere := "https://hooks.example.net/"
	for name, end := range map[string]func(*harness, delivery.Subscription) error{
		"switched off": func(h *harness, s delivery.Subscription) error {
			h.switchedOff(s)
			return nil
		},
		"switched off and on": func(h *harness, s delivery.Subscription) error {
			h.switchedOff(s)
			_, err := h.hooks.Activate(h.Context(), account, s.ID)
			return err
		},
		"a new URL": func(h *harness, s delivery.Subscription) error {
			_, err := h.hooks.Update(h.Context(), account, s.ID, delivery.Change{URL: &elsewhere})
			return err
		},
		"deleted": func(h *harness, s delivery.Subscription) error {
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
				bubble(t, delivery.Options{}, func(h *harness) {
					to := h.subscribed(account, signed)
					failing := after(5*time.Second, http.StatusInternalServerError)
					h.answer = func(ctx context.Context, r request) int {
						if r.Type == webhook.PingType {
							return r.expectedStatus()
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
					h.runFor(50 * time.Hour)
					if err := <-ended; err != nil {
						h.Error(err)
					}
					if all := h.sent(to, signed); len(all) != attempts {
						h.Errorf("%d attempts, want %d", len(all), attempts)
					}
					h.wantNothingDue()
				})
			})
		}
	}
}

// An attempt that a stopping server interrupts does not count. The next server makes it with the same webhook-id.
func TestServerStopsDuringAnAttempt(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		to := h.subscribed(account, signed)
		h.answer = after(14*time.Second, http.StatusOK)
		h.emit(account, signed)
		h.runFor(3 * time.Second)
		if log := h.attempts(to); log != nil || h.observed != nil {
			h.Errorf("log %v, observed %v", log, h.observed)
		}
		h.runFor(time.Minute)
		all, log := h.sent(to, signed), h.attempts(to)
		if len(all) != 2 || all[0].ID != all[1].ID {
			h.Errorf("requests: %v", all)
		}
		if len(log) != 1 || log[0].Number != 1 || log[0].Status != http.StatusOK {
			h.Errorf("log: %+v", log)
		}
		h.wantNothingDue()
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

// No event is lost if the store fails or a part of the service panics: it is sent at least once, and its schedule
// continues.
func TestTroubleLosesNothing(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, call := range []string{"Subscription", "AddAttempt", "AddDropped"} {
		for kind, fail := range map[string]func() error{
			"fails":  func() error { return broken },
			"panics": func() error { panic(broken) },
		} {
			t.Run(call+" "+kind, func(t *testing.T) {
				bubble(t, delivery.Options{}, func(h *harness) {
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
					h.runFor(longer)
					if calls < 3 || len(h.jobErrors) != 2 {
						h.Errorf("%d calls, and %d jobs failed", calls, len(h.jobErrors))
					}
					h.jobErrors = nil
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
					h.wantNothingDue()
				})
			})
		}
	}
}

// The server's runner does the jobs at the same times.
func TestRunner(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
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

// schedule has the times of the attempts if all are answered at once (spec 5.7).
var schedule = []time.Duration{
	0,
	10 * time.Second,
	10*time.Second + time.Minute,
	10*time.Second + 6*time.Minute,
	10*time.Second + 36*time.Minute,
	10*time.Second + 36*time.Minute + 2*time.Hour,
	10*time.Second + 36*time.Minute + 8*time.Hour,
	10*time.Second + 36*time.Minute + 32*time.Hour,
}

// longer is more than all attempts take.
const longer = 100 * time.Hour

// Any answer but 2xx is a failure. The pause begins when the attempt ends. After the eighth attempt, the event is
// dropped.
func TestEightAttempts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		status  int           // 0: none
		takes   time.Duration // until it is there
		lasts   time.Duration // the attempt
		failure delivery.Failure
	}{
		{"an error", 500, 0, 0, delivery.BadStatus},
		{"no connection", 0, 0, 0, delivery.NoConnection},
		{"early hints", 103, 0, 0, delivery.BadStatus},
		{"a redirect", 302, 0, 0, delivery.BadStatus},
		{"not modified", 304, 0, 0, delivery.BadStatus},
		{"not found", 404, 0, 0, delivery.BadStatus},
		{"gone", 410, 0, 0, delivery.BadStatus},
		{"too many requests", 429, 0, 0, delivery.BadStatus},
		{"an error after a while", 503, 14 * time.Second, 14 * time.Second, delivery.BadStatus},
		{"no answer in time", 200, time.Minute, 15 * time.Second, delivery.TimedOut},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *harness) {
				to := h.subscribed(account, signed)
				h.answer = after(test.takes, test.status)
				h.emit(account, signed)
				h.runFor(longer)

				var want []delivery.Attempt
				for i, when := range schedule {
					a := delivery.Attempt{
						Subscription: to.ID, Type: signed, Purpose: delivery.ForDelivery, Number: i + 1,
						At: h.began.Add(when + time.Duration(i)*test.lasts).UTC(), Duration: test.lasts,
						Failure: test.failure,
					}
					if test.failure == delivery.BadStatus {
						a.Status = test.status
					}
					if i+1 < len(schedule) {
						a.Next = h.began.Add(schedule[i+1] + time.Duration(i+1)*test.lasts).UTC()
					}
					want = append(want, a)
				}
				log := h.attempts(to)
				if diff := cmp.Diff(want, log, cmpopts.IgnoreFields(delivery.Attempt{}, "Event", "Detail")); diff != "" {
					h.Fatalf("log (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(log, h.observed); diff != "" {
					h.Errorf("observed (-log +observed):\n%s", diff)
				}
				for i, r := range h.sent(to, signed) {
					if !h.began.Add(r.after).Equal(log[i].At) {
						h.Errorf("attempt %d was made after %v", i+1, r.after)
					}
				}
				last := log[7]
				gone := []delivery.Dropped{{Subscription: to.ID, Event: last.Event, Type: signed, At: last.At.Add(test.lasts)}}
				if diff := cmp.Diff(gone, h.dropped(to)); diff != "" {
					h.Errorf("dropped (-want +got):\n%s", diff)
				}
				h.wantNothingDue()
			})
		})
	}
}

// A 2xx ends the attempts.
func TestSuccessEndsTheSchedule(t *testing.T) {
	t.Parallel()
	for n, when := range schedule {
		status := []int{200, 201, 202, 204, 206, 226, 250, 299}[n]
		t.Run(fmt.Sprintf("%d at attempt %d", status, n+1), func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *harness) {
				to := h.subscribed(account, signed)
				h.answer = func(context.Context, request) int {
					if time.Since(h.began) < when {
						return 500
					}
					return status
				}
				h.emit(account, signed)
				h.runFor(longer)
				log := h.attempts(to)
				if len(log) != n+1 {
					h.Fatalf("%d attempts", len(log))
				}
				if a := log[n]; a.Status != status || a.Failure != "" || a.Detail != "" || !a.Next.IsZero() {
					h.Errorf("the last attempt: %+v", a)
				}
				if gone := h.dropped(to); gone != nil {
					h.Errorf("dropped: %v", gone)
				}
				h.wantNothingDue()
			})
		})
	}
}

// Attempts differ only in their time and signatures, because receivers refuse a signature that is older than five
// minutes (spec 5.5).
func TestAttemptsAreAlike(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		to := h.subscribed(account, signed)
		h.answer = after(time.Second, 500)
		h.emit(account, signed)
		h.runFor(longer)
		all := h.sent(to, signed)
		if len(all) != len(schedule) {
			h.Fatalf("%d requests", len(all))
		}
		signatures := make(map[string]bool)
		for i, r := range all {
			if !r.verifies {
				h.Errorf("attempt %d does not verify", i+1)
			}
			if at := strconv.FormatInt(h.began.Add(r.after).Unix(), 10); r.Header.Get(webhook.HeaderTimestamp) != at {
				h.Errorf("attempt %d has timestamp %s, made at %s", i+1, r.Header.Get(webhook.HeaderTimestamp), at)
			}
			signatures[r.Header.Get(webhook.HeaderSignature)] = true
			r.Header.Del(webhook.HeaderTimestamp)
			r.Header.Del(webhook.HeaderSignature)
			if diff := cmp.Diff(all[0].Request, r.Request); diff != "" {
				h.Errorf("attempts 1 and %d differ (-1 +%d):\n%s", i+1, i+1, diff)
			}
		}
		if len(signatures) != len(all) {
			h.Errorf("%d signatures of %d attempts", len(signatures), len(all))
		}
	})
}
