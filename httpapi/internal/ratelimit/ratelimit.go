// Package ratelimit says whether something may happen once more: it keeps a bucket for each key, a client
// or an address, that so many tokens a second flow into until it is full, and takes one each time.
//
//	limiter := ratelimit.New(storage.Rate{PerSecond: 20, Burst: 60}, buckets)
//	if d := limiter.Take(ctx, client); !d.Allowed {
//		// 429, Retry-After: d.Wait
//	}
//
// With storage.Buckets the limit is that of all servers of a deployment together: each draws tokens in
// blocks, the more the faster it uses them up, and forgets those that it has left over after [blockLife]. So a busy client
// costs a statement for each block and not for each request, and a bucket gives at most what is in it. While the
// store does not answer, each server limits by itself, to the same rate: a limit that failed closed
// would turn an outage of the store into one of what needs no store.
//
// Memory is bounded: of more than [most] keys those that were not used of late are forgotten, which
// is to say that their buckets are full.
package ratelimit

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Decision is what a limiter says.
type Decision struct {
	Allowed bool
	Rate    storage.Rate
	// Left is how many more may follow now. Of a limit that several servers share it is a guess: the others
	// draw as well.
	Left int
	// Full is how long it takes until nothing is missing.
	Full time.Duration
	// Wait is how long nothing may happen; 0 when it was allowed.
	Wait time.Duration
}

// Limiter limits what happens by key. Its methods may be called from several goroutines. A nil Limiter allows all.
type Limiter struct {
	rate    storage.Rate
	store   storage.Buckets
	buckets *memory
	away    outage
}

// New makes a limiter; with the zero rate it is nil. Without a store it counts what happens here alone.
func New(r storage.Rate, store storage.Buckets) *Limiter {
	if r.PerSecond == 0 {
		return nil
	}
	r.Burst = max(r.Burst, 1)
	return &Limiter{rate: r, store: store, buckets: newMemory(max(time.Minute, 2*time.Duration(r.Burst)*r.Cost()))}
}

// Take takes a token for something that is about to happen.
func (l *Limiter) Take(ctx context.Context, key string) Decision {
	if l == nil {
		return Decision{Allowed: true}
	}
	b := l.buckets.bucket(key, time.Now())
	b.lock()
	defer b.unlock()
	if l.store == nil {
		return b.level.take(l.rate, time.Now())
	}
	return b.takeShared(ctx, l, key)
}

// Look says whether something may happen, and takes nothing. Of a limit that several servers share it knows
// what happened here.
func (l *Limiter) Look(key string) Decision {
	if l == nil {
		return Decision{Allowed: true}
	}
	now := time.Now()
	b := l.buckets.bucket(key, now)
	b.lock()
	defer b.unlock()
	if l.store == nil {
		seen := b.level
		return seen.take(l.rate, now)
	}
	return Decision{Allowed: b.left > 0 || !now.Before(b.empty), Rate: l.rate, Left: b.left, Wait: max(0, b.empty.Sub(now))}
}

// level is how full a bucket is, told by when it will be full: so many tokens are missing as flow in
// until then (the generic cell rate algorithm of ITU-T I.371).
type level struct{ full time.Time }

func (v *level) take(r storage.Rate, now time.Time) Decision {
	missing := max(0, v.full.Sub(now))
	d := Decision{Rate: r, Allowed: missing+r.Cost() <= time.Duration(r.Burst)*r.Cost()}
	if d.Allowed {
		missing += r.Cost()
		v.full = now.Add(missing)
	}
	return d.with(missing)
}

// with says the rest of a decision about a bucket in which so much is missing.
func (d Decision) with(missing time.Duration) Decision {
	room := time.Duration(d.Rate.Burst)*d.Rate.Cost() - missing
	d.Full, d.Left = missing, int(max(0, room)/d.Rate.Cost())
	if !d.Allowed {
		d.Wait = max(d.Rate.Cost()-room, 0)
	}
	return d
}
