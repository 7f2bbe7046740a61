// Package ratelimit limits how often a client or an address, identified by a key, may do something. Each key has a
// token bucket; tokens are added at a rate until the bucket is full, and each call takes one.
//
//	limiter := ratelimit.New(storage.Rate{PerSecond: 20, Burst: 60}, buckets)
//	if d := limiter.Take(ctx, client); !d.Allowed {
//		// 429, Retry-After: d.RetryAfter
//	}
//
// With storage.Buckets, the servers of a deployment share the limit: each server draws blocks of tokens from the
// store, in larger blocks for a busier key, and drops the tokens that are unused after [blockLife]. So a busy
// client costs a statement per block instead of one per request, and the servers together never use more tokens
// than the bucket has. While the store is unavailable, each server applies the rate by itself: if it refused
// requests, an outage of the store would also affect requests that do not need the store.
//
// Memory is bounded: above [maxKeys] keys, the limiter removes those that were not used recently, so their buckets
// are full again.
package ratelimit

import (
	"context"
	"sync"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Decision is the result of a check. Its fields are those of the RateLimit header fields.
type Decision struct {
	Allowed bool
	Rate    storage.Rate
	// Remaining is how many more calls are allowed now. If several servers share the limit it is an estimate, since
	// the others draw tokens too.
	Remaining int
	// Reset is how long it takes until the bucket is full.
	Reset time.Duration
	// RetryAfter is how long it takes until the next call is allowed; 0 if this one was.
	RetryAfter time.Duration
}

// Limiter limits calls by key. Its methods may be called from several goroutines. A nil Limiter allows all calls.
type Limiter struct {
	rate    storage.Rate
	store   storage.Buckets
	buckets *buckets
	outage  outage
}

// New returns a limiter; for the zero rate it returns nil. If store is nil, the limit is that of this process.
func New(r storage.Rate, store storage.Buckets) *Limiter {
	if r.PerSecond == 0 {
		return nil
	}
	r.Burst = max(r.Burst, 1)
	return &Limiter{rate: r, store: store, buckets: newBuckets(max(time.Minute, 2*time.Duration(r.Burst)*r.Cost()))}
}

// Take takes a token for a call.
func (l *Limiter) Take(ctx context.Context, key string) Decision {
	if l == nil {
		return Decision{Allowed: true}
	}
	b := l.buckets.get(key, time.Now())
	b.lock()
	defer b.unlock()
	if l.store == nil {
		return b.gcra.take(l.rate, time.Now())
	}
	return b.takeShared(ctx, l, key)
}

// Peek reports whether a call would be allowed, without taking a token. If several servers share the limit, it
// considers the calls of this server only.
func (l *Limiter) Peek(key string) Decision {
	if l == nil {
		return Decision{Allowed: true}
	}
	now := time.Now()
	b := l.buckets.get(key, now)
	b.lock()
	defer b.unlock()
	if l.store == nil {
		copied := b.gcra
		return copied.take(l.rate, now)
	}
	return Decision{Allowed: b.tokens > 0 || !now.Before(b.emptyUntil), Rate: l.rate, Remaining: b.tokens, RetryAfter: max(0, b.emptyUntil.Sub(now))}
}

// gcra is a bucket, represented by the time at which it will be full (the generic cell rate algorithm of ITU-T
// I.371).
type gcra struct{ fullAt time.Time }

func (g *gcra) take(r storage.Rate, now time.Time) Decision {
	deficit := max(0, g.fullAt.Sub(now))
	d := Decision{Rate: r, Allowed: deficit+r.Cost() <= time.Duration(r.Burst)*r.Cost()}
	if d.Allowed {
		deficit += r.Cost()
		g.fullAt = now.Add(deficit)
	}
	return d.withDeficit(deficit)
}

// withDeficit sets the fields of a decision for a bucket that will be full after deficit.
func (d Decision) withDeficit(deficit time.Duration) Decision {
	available := time.Duration(d.Rate.Burst)*d.Rate.Cost() - deficit
	d.Reset, d.Remaining = deficit, int(max(0, available)/d.Rate.Cost())
	if !d.Allowed {
		d.RetryAfter = max(d.Rate.Cost()-available, 0)
	}
	return d
}

// maxKeys is how many recently used keys a limiter stores at least. It stores at most twice as many.
const maxKeys = 20_000

// bucket is the bucket of one key.
type bucket struct {
	mutex chan struct{} // has an element while locked; not a sync.Mutex, since a holder may wait for the store
	gcra
	block
}

func newBucket() *bucket { return &bucket{mutex: make(chan struct{}, 1)} }

func (b *bucket) lock()   { b.mutex <- struct{}{} }
func (b *bucket) unlock() { <-b.mutex }

// buckets stores the buckets by key in two generations. A bucket that is used moves to the current one. The previous
// generation is removed when the current one is older than maxAge or has maxKeys keys.
type buckets struct {
	maxAge time.Duration

	mu                sync.Mutex
	current, previous map[string]*bucket
	startedAt         time.Time // of the current generation
}

func newBuckets(maxAge time.Duration) *buckets {
	return &buckets{maxAge: maxAge, current: make(map[string]*bucket)}
}

// get returns the bucket of a key, which is new for a key that is not stored.
func (m *buckets) get(key string, now time.Time) *bucket {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.current) >= maxKeys || now.Sub(m.startedAt) > m.maxAge {
		m.current, m.previous, m.startedAt = make(map[string]*bucket), m.current, now
	}
	b := m.current[key]
	if b == nil {
		if b = m.previous[key]; b == nil {
			b = newBucket()
		}
		delete(m.previous, key)
		m.current[key] = b
	}
	return b
}
