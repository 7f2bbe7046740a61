package delivery_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
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

// house is a service on a store of its own, with endpoints in memory.
type house struct {
	*testing.T
	db    *bolt.DB
	hooks *delivery.Service
	began time.Time
	// answer is what endpoints answer; nil: as they should.
	answer func(ctx context.Context, r request) int

	mu       sync.Mutex
	requests []request          // in the order in which they came
	observed []delivery.Attempt // by Options.Observed
	told     []error            // what jobs failed with
}

// request is one as an endpoint understands it.
type request struct {
	delivery.Request
	webhook.Event
	to    string        // subscription
	after time.Duration // since the beginning
	// verifies says whether it is signed for the subscription. One that is not is answered 401.
	verifies bool
}

// bubble runs a test in which time is made of nothing.
func bubble(t *testing.T, o delivery.Options, test func(h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		h := &house{T: t, db: db, began: time.Now()}
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
		for _, err := range h.told {
			t.Errorf("a job failed: %v", err)
		}
	})
}

// server is a service on the store, also one beside another.
func (h *house) server(o delivery.Options, jobs storage.Jobs) *delivery.Service {
	s := delivery.New(h.db.Webhooks(), h.db, jobs, o)
	s.AnswerWith(h.receive)
	return s
}

func (h *house) receive(ctx context.Context, sent delivery.Request) int {
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
	return r.asItShould()
}

// asItShould is the answer of an endpoint that is well.
func (r request) asItShould() int {
	if !r.verifies {
		return http.StatusUnauthorized
	}
	return http.StatusNoContent
}

// keys are those that a receiver knows of a subscription.
func (h *house) keys(subscription string) []webhook.Key {
	s, err := h.db.Webhooks().Subscription(h.Context(), subscription)
	if err != nil {
		h.Errorf("reading a subscription: %v", err)
	}
	return []webhook.Key{webhook.Secret(s.Secret)}
}

// subscribed is a subscription that is active, and that nobody pings.
func (h *house) subscribed(account string, types ...string) delivery.Subscription {
	h.Helper()
	now := time.Now().UTC()
	s := delivery.Subscription{
		ID: uuid.NewString(), Account: account, URL: endpoint, EventTypes: types, Active: true,
		CreatedAt: now, UpdatedAt: now, ActivatedAt: now, Secret: make([]byte, 32),
	}
	h.tx(func(ctx context.Context) error { return h.db.Webhooks().CreateSubscription(ctx, s, 100) })
	return s
}

// created is a subscription that was never active.
func (h *house) created(types ...string) delivery.Subscription {
	h.Helper()
	s, err := h.hooks.Create(h.Context(), account, endpoint, types)
	if err != nil {
		h.Fatal(err)
	}
	return s
}

// switchedOff is the subscription when its owner has switched it off.
func (h *house) switchedOff(s delivery.Subscription) delivery.Subscription {
	h.Helper()
	off := false
	s, err := h.hooks.Update(h.Context(), s.Account, s.ID, delivery.Change{Active: &off})
	if err != nil {
		h.Fatal(err)
	}
	return s
}

func (h *house) tx(f func(ctx context.Context) error) {
	h.Helper()
	if err := h.db.InTx(h.Context(), f); err != nil {
		h.Fatal(err)
	}
}

// emit has an event happen to an account.
func (h *house) emit(account, eventType string) {
	h.Helper()
	h.tx(func(ctx context.Context) error {
		return h.hooks.Emit(ctx, account, eventType, time.Now(), map[string]string{"of": account})
	})
}

// after is an endpoint that takes its time, as long as somebody waits.
func after(long time.Duration, status int) func(context.Context, request) int {
	return func(ctx context.Context, _ request) int {
		select {
		case <-time.After(long): // time: in bubbles alone
		case <-ctx.Done():
		}
		return status
	}
}
