package ratelimit

import (
	"context"
	"sync"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// stores are what a limiter may have behind it.
var stores = map[string]func() storage.Buckets{
	"alone":  func() storage.Buckets { return nil },
	"shared": func() storage.Buckets { return newShared() },
}

// shared is a store in memory, as storagetest wants one.
type shared struct {
	mu    sync.Mutex
	full  map[string]time.Time
	draws int
	err   error
}

func newShared() *shared { return &shared{full: make(map[string]time.Time)} }

func (s *shared) Draw(_ context.Context, key string, r storage.Rate, n int) (int, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draws++
	if s.err != nil {
		return 0, 0, s.err
	}
	missing := max(0, time.Until(s.full[key]))
	there := r.Burst - int((missing+r.Cost()-1)/r.Cost())
	n = max(0, min(n, there))
	missing += time.Duration(n) * r.Cost()
	s.full[key] = time.Now().Add(missing)
	return n, missing, nil
}

func (s *shared) DeleteFull(context.Context, int) (int, error) { return 0, nil }

// hanging never answers.
type hanging struct{}

func (hanging) Draw(ctx context.Context, _ string, _ storage.Rate, _ int) (int, time.Duration, error) {
	<-ctx.Done()
	return 0, 0, ctx.Err()
}

func (hanging) DeleteFull(context.Context, int) (int, error) { return 0, nil }
