package delivery_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// numbers are those of keys.
func numbers(keys []delivery.SigningKey, err error) ([]int, error) {
	var list []int
	for _, k := range keys {
		list = append(list, k.Number)
	}
	return list, err
}

// mustSign compares the keys that sign now by their numbers.
func (h *house) mustSign(s *delivery.Service, want ...int) {
	h.Helper()
	if got, err := numbers(s.Keys(h.Context())); !slices.Equal(got, want) || err != nil {
		h.Errorf("keys %v sign, %v; want %v", got, err, want)
	}
}

func (h *house) rotate(s *delivery.Service, overlap time.Duration) {
	h.Helper()
	if _, err := s.RotateKey(h.Context(), overlap); err != nil {
		h.Fatal(err)
	}
}

// old reads keys as they were, as a server does that another is faster than.
type old struct {
	delivery.Store
	mu    sync.Mutex
	keys  []delivery.SigningKey
	times int
}

func (o *old) Keys(ctx context.Context) ([]delivery.SigningKey, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.times > 0 {
		o.times--
		return o.keys, nil
	}
	return o.Store.Keys(ctx)
}

// Servers that start or rotate at once make one key each time.
func TestKeysAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		behind := &old{Store: h.db.Webhooks(), times: 1}
		other := delivery.New(behind, h.db, h.db.Jobs(), delivery.Options{})
		if err := other.EnsureKey(h.Context()); err != nil {
			h.Errorf("the first: %v", err)
		}
		h.mustSign(other, 1)

		behind.keys, _ = h.db.Webhooks().Keys(h.Context())
		h.rotate(h.hooks, time.Hour)
		behind.times = 1
		h.rotate(other, time.Hour)
		h.mustSign(other, 1, 2, 3)

		behind.times = 1000 // a store that is as wrong for good keeps nobody busy for ever
		if _, err := other.RotateKey(h.Context(), time.Hour); err == nil || behind.times < 900 {
			h.Errorf("%v, after %d readings", err, 1000-behind.times)
		}

		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := h.hooks.EnsureKey(h.Context()); err != nil {
					h.Error(err)
				}
				h.rotate(h.hooks, time.Hour)
			})
		}
		all.Wait()
		h.mustSign(h.hooks, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	})
}

// Keys sign beside each other for the overlap, and then the new one alone. One that has ended is
// removed, and its number does not come again.
func TestRotation(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *house) {
		s := h.activated()
		mustBeSigned := func(signatures int) {
			h.Helper()
			h.requests = nil
			if err := h.hooks.Test(h.Context(), account, s.ID); err != nil {
				h.Fatal(err)
			}
			if got := strings.Count(h.requests[0].Header.Get(webhook.HeaderSignature), "v1a,"); got != signatures {
				h.Errorf("%d signatures of v1a; want %d", got, signatures)
			}
		}
		mustBeSigned(1)
		h.rotate(h.hooks, 24*time.Hour)
		h.mustSign(h.hooks, 1, 2)
		mustBeSigned(2)
		time.Sleep(24*time.Hour - 1)
		h.mustSign(h.hooks, 1, 2)
		time.Sleep(time.Nanosecond)
		h.mustSign(h.hooks, 2)
		mustBeSigned(1)

		if n, err := h.hooks.Sweep(h.Context(), h.began); n != 1 || err != nil {
			h.Errorf("%d swept, %v", n, err)
		}
		if stored, err := numbers(h.db.Webhooks().Keys(h.Context())); !slices.Equal(stored, []int{2}) || err != nil {
			h.Errorf("stored: %v, %v", stored, err)
		}
		h.rotate(h.hooks, time.Hour)
		h.rotate(h.hooks, 48*time.Hour)
		h.mustSign(h.hooks, 2, 3, 4)
		time.Sleep(time.Hour) // a later rotation does not prolong what an earlier one ended
		h.mustSign(h.hooks, 3, 4)
		h.rotate(h.hooks, 0) // as when a key may be known
		h.mustSign(h.hooks, 5)
		mustBeSigned(1)
	})
}
