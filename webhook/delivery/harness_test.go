package delivery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

const (
	signed, declined, completed = "participant.signed", "participant.declined", "process.completed"

	account  = "an account"
	endpoint = "https://hooks.example.com/innsigli"
)

// harness is a service on its own store, with endpoints in memory.
type harness struct {
	*testing.T
	db    *bolt.DB
	hooks *delivery.Service
	began time.Time
	// answer is how endpoints answer. If nil, they answer correctly.
	answer func(ctx context.Context, r request) int

	mu        sync.Mutex
	requests  []request          // in the order in which they came
	observed  []delivery.Attempt // by Options.Observed
	jobErrors []error            // what jobs failed with
}

// request is a request as an endpoint decodes it.
type request struct {
	delivery.Request
	webhook.Event
	to    string        // subscription
	after time.Duration // since the beginning
	// verifies reports whether the request is signed for the subscription.
	verifies bool
}

// bubble runs a test with a synthetic clock.
func bubble(t *testing.T, o delivery.Options, test func(h *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		h := &harness{T: t, db: db, began: time.Now()}
		o.EventTypes = []string{signed, declined, completed}
		o.Observed = func(a delivery.Attempt) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.observed = append(h.observed, a)
		}
		h.hooks = h.server(o, db.Jobs())
		if err := h.hooks.EnsureKey(t.Context()); err != nil {
			t.Fatal(err)
		}
		test(h)
		for _, err := range h.jobErrors {
			t.Errorf("a job failed: %v", err)
		}
	})
}

// server returns a service on the store. A test may have several.
func (h *harness) server(o delivery.Options, jobs storage.Jobs) *delivery.Service {
	s := delivery.New(h.db.Webhooks(), h.db, jobs, o)
	s.AnswerWith(h.receive)
	return s
}

func (h *harness) receive(ctx context.Context, sent delivery.Request) int {
	// time: in bubbles alone
	r := request{Request: sent, to: sent.Header.Get(webhook.HeaderSubscription), after: time.Since(h.began)}
	r.Event.ID = sent.Header.Get(webhook.HeaderID)
	if err := json.Unmarshal(sent.Body, &r.Event); err != nil {
		h.Errorf("a body is no event: %v", err)
	}
	r.verifies = webhook.Verify(sent.Header, sent.Body, h.keys(r.to)...) == nil
	h.mu.Lock()
	h.requests = append(h.requests, r)
	h.mu.Unlock()
	if h.answer != nil {
		return h.answer(ctx, r)
	}
	return r.expectedStatus()
}

// expectedStatus returns the status with which a correct endpoint answers.
func (r request) expectedStatus() int {
	if !r.verifies {
		return http.StatusUnauthorized
	}
	return http.StatusNoContent
}

// keys returns the keys that the receiver of a subscription has.
func (h *harness) keys(subscription string) []webhook.Key {
	s, err := h.db.Webhooks().Subscription(h.Context(), subscription)
	if err != nil {
		h.Errorf("reading a subscription: %v", err)
	}
	return []webhook.Key{webhook.Secret(s.Secret)}
}

// subscribed returns an active subscription without pings and checks.
func (h *harness) subscribed(account string, types ...string) delivery.Subscription {
	h.Helper()
	now := time.Now().UTC()
	s := delivery.Subscription{
		ID: uuid.NewString(), Account: account, URL: endpoint, EventTypes: types, Active: true,
		CreatedAt: now, UpdatedAt: now, ActivatedAt: now, Secret: make([]byte, 32),
	}
	h.tx(func(ctx context.Context) error { return h.db.Webhooks().CreateSubscription(ctx, s, 100) })
	return s
}

// created returns a subscription that was never active.
func (h *harness) created(types ...string) delivery.Subscription {
	h.Helper()
	s, err := h.hooks.Create(h.Context(), account, endpoint, types)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// switchedOff returns the subscription after its owner has switched it off.
func (h *harness) switchedOff(s delivery.Subscription) delivery.Subscription {
	h.Helper()
	off := false
	s, err := h.hooks.Update(h.Context(), s.Account, s.ID, delivery.Change{Active: &off})
	if err != nil {
		h.Fatal(err)
	}
	return s
}

func (h *harness) tx(f func(ctx context.Context) error) {
	h.Helper()
	if err := h.db.InTx(h.Context(), f); err != nil {
		h.Fatal(err)
	}
}

// emit emits an event for an account.
func (h *harness) emit(account, eventType string) {
	h.Helper()
	h.tx(func(ctx context.Context) error {
		return h.hooks.Emit(ctx, account, eventType, time.Now(), map[string]string{"of": account})
	})
}

// after returns an endpoint that answers after a while, unless the request ends before.
func after(long time.Duration, status int) func(context.Context, request) int {
	return func(ctx context.Context, _ request) int {
		select {
		case <-time.After(long): // time: in bubbles alone
		case <-ctx.Done():
		}
		return status
	}
}

// sent returns the requests of an event type to a subscription.
func (h *harness) sent(to delivery.Subscription, eventType string) (list []request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.requests {
		if r.to == to.ID && r.Type == eventType {
			list = append(list, r)
		}
	}
	return list
}

// attempts returns the log of a subscription, the first attempt first.
func (h *harness) attempts(of delivery.Subscription) (list []delivery.Attempt) {
	h.Helper()
	for a, err := range h.hooks.Attempts(h.Context(), of.ID) {
		if err != nil {
			h.Fatal(err)
		}
		list = append(list, a)
	}
	slices.Reverse(list)
	return list
}

// dropped returns the dropped events of a subscription.
func (h *harness) dropped(of delivery.Subscription) []delivery.Dropped {
	h.Helper()
	list, err := h.hooks.Dropped(h.Context(), of.ID)
	if err != nil {
		h.Fatal(err)
	}
	return list
}

// wantNothingDue checks that no delivery is due.
func (h *harness) wantNothingDue() {
	h.Helper()
	if due, err := h.hooks.OldestDue(h.Context()); err != nil || !due.IsZero() {
		h.Errorf("something is due at %v, error %v", due, err)
	}
}

// runFor does jobs for a while, each at the nanosecond at which it is due.
func (h *harness) runFor(long time.Duration) {
	h.Helper()
	stop := h.work(h.hooks)
	time.Sleep(long)
	stop()
}

// work does a server's jobs until stop is called, which interrupts those in progress.
func (h *harness) work(s *delivery.Service) (stop func()) {
	ctx, cancel := context.WithCancel(h.Context())
	ended := make(chan struct{}, 10_000)
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			next := h.claim(ctx, s, func(w delivery.Work, l storage.Lease) {
				all.Go(func() {
					h.do(ctx, w, l)
					ended <- struct{}{}
				})
			})
			select {
			case <-ctx.Done():
			case <-time.After(time.Until(next)): // time: in bubbles alone
			case <-h.db.Jobs().Enqueued():
			case <-ended:
			}
		}
	})
	return func() {
		cancel()
		all.Wait()
	}
}

// claim begins the jobs that are due, and returns when the next one is due.
func (h *harness) claim(ctx context.Context, s *delivery.Service, begin func(delivery.Work, storage.Lease)) (next time.Time) {
	now := time.Now()
	next = now.Add(1000 * time.Hour)
	for _, w := range s.Work() {
		var leases []storage.Lease
		h.recordError(h.db.InTx(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
			leases, err = h.db.Jobs().Claim(ctx, w.Kind, now, w.Concurrency, w.PerGroup, w.Timeout)
			return err
		}))
		for _, l := range leases {
			begin(w, l)
		}
		due, err := h.db.Jobs().NextDue(context.WithoutCancel(ctx), w.Kind)
		h.recordError(err)
		if at := due[w.Kind]; at.After(now) && at.Before(next) {
			next = at
		}
	}
	return next
}

// do does a job as a runner does.
func (h *harness) do(ctx context.Context, w delivery.Work, l storage.Lease) {
	// time: in bubbles alone
	limited, cancel := context.WithDeadline(ctx, l.Until.Add(-time.Second))
	defer cancel()
	then, err := handle(limited, w, l.Job)
	if err == nil {
		err = h.finish(l, then)
	}
	if err == nil || errors.Is(err, storage.ErrLeaseLost) {
		return
	}
	if ctx.Err() == nil {
		h.recordError(err)
	}
	err = h.db.InTx(context.WithoutCancel(ctx), func(ctx context.Context) error {
		return h.db.Jobs().Retry(ctx, l, time.Now().Add(5*time.Second))
	})
	if !errors.Is(err, storage.ErrLeaseLost) {
		h.recordError(err)
	}
}

// finish finishes a job, and calls then in the same transaction.
func (h *harness) finish(l storage.Lease, then func(context.Context) error) error {
	return h.db.InTx(h.Context(), func(ctx context.Context) (err error) {
		if err := h.db.Jobs().Finish(ctx, l); err != nil || then == nil {
			return err
		}
		defer recovered(&err)
		return then(ctx)
	})
}

func handle(ctx context.Context, w delivery.Work, job storage.Job) (then func(context.Context) error, err error) {
	defer recovered(&err)
	return w.Do(ctx, job)
}

// recovered turns a panic into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panicked: %v", p)
	}
}

// recordError records the error of a job.
func (h *harness) recordError(err error) {
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.jobErrors = append(h.jobErrors, err)
	}
}

// uncommitted fails when transactions are committed.
type uncommitted struct{ err error }

func (u uncommitted) InTx(context.Context, func(context.Context) error) error { return u.err }

// Errors have the prefix of this package once, and wrap the errors of the store.
func TestErrorsOfTheStore(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	bubble(t, delivery.Options{}, func(h *harness) {
		ctx, s := h.Context(), h.subscribed(account, signed)
		o := delivery.Options{EventTypes: []string{signed}}
		reading := delivery.New(faulty{h.db.Webhooks(), func(string) error { return broken }}, h.db, h.db.Jobs(), o)
		writing := delivery.New(h.db.Webhooks(), uncommitted{broken}, h.db.Jobs(), o)
		writing.AnswerWith(h.receive)
		for name, err := range map[string]error{
			"Subscription":   second(reading.Subscription(ctx, account, s.ID)),
			"Subscriptions":  second(reading.Subscriptions(ctx, account)),
			"Emit":           reading.Emit(ctx, account, signed, time.Now(), struct{}{}),
			"SendAgain":      reading.SendAgain(ctx, s.ID, "event"),
			"Create":         second(writing.Create(ctx, account, endpoint, []string{signed})),
			"Update":         second(writing.Update(ctx, account, s.ID, delivery.Change{})),
			"Update, read":   second(reading.Update(ctx, account, s.ID, delivery.Change{})),
			"Delete":         writing.Delete(ctx, account, s.ID),
			"Activate":       second(writing.Activate(ctx, account, s.ID)),
			"Activate, read": second(reading.Activate(ctx, account, s.ID)),
			"Test":           writing.Test(ctx, account, s.ID),
			"RotateKey":      second(writing.RotateKey(ctx, 0)),
			"Sweep":          second(writing.Sweep(ctx, time.Now())),
		} {
			if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "webhook: ") || strings.Count(err.Error(), ": ") != 2 {
				h.Errorf("%s: %v", name, err)
			}
		}
	})
}
