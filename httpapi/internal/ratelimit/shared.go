package ratelimit

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// blockLife is how long drawn tokens may be used. A client loses the tokens that it did not use in this time,
	// which are a small part of its burst. They become available to all servers again as the bucket fills up.
	blockLife = time.Second
	// growWithin is how soon a block has to be used up for the next one to be larger.
	growWithin = blockLife / 2
	// blocksPerBurst is the least number of blocks in a burst.
	blocksPerBurst = 6
	// drawTimeout bounds a draw, which delays the request.
	drawTimeout = 250 * time.Millisecond
	// outageTime is how long the limiter does not call the store after a failure.
	outageTime = time.Second
)

// block is a block of tokens that was drawn from a shared bucket.
type block struct {
	tokens     int
	size       int           // of the next block
	drawnAt    time.Time     // when the block was drawn
	deficit    time.Duration // from drawnAt until the shared bucket is full
	emptyUntil time.Time     // the shared bucket has no token before
}

func (b *bucket) takeShared(ctx context.Context, l *Limiter, key string) Decision {
	now := time.Now()
	if b.tokens > 0 && now.Sub(b.drawnAt) > blockLife { // the block was larger than needed
		b.tokens, b.size = 0, b.size/2
	}
	if b.tokens == 0 && !now.Before(b.emptyUntil) {
		if l.outage.lasts(now) || !b.draw(ctx, l, key, now) {
			return b.gcra.take(l.rate, now)
		}
		now = time.Now()
	}
	d := Decision{Rate: l.rate, Allowed: b.tokens > 0}
	if d.Allowed {
		b.tokens--
	}
	d = d.withDeficit(max(0, b.deficit-now.Sub(b.drawnAt)))
	d.Remaining = min(d.Remaining+b.tokens, l.rate.Burst)
	if !d.Allowed {
		d.RetryAfter = b.emptyUntil.Sub(now)
	}
	return d
}

// draw draws a block from the store and reports whether the store answered.
func (b *bucket) draw(ctx context.Context, l *Limiter, key string, now time.Time) bool {
	if now.Sub(b.drawnAt) < growWithin {
		b.size *= 2
	}
	b.size = min(max(b.size, 1), max(l.rate.Burst/blocksPerBurst, 1))
	// A canceled request does not cancel the draw: the next request uses its tokens.
	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), drawTimeout)
	defer stop()
	drawn, deficit, err := l.store.Draw(limited, key, l.rate, b.size)
	if err != nil {
		l.outage.begin(time.Now())
		return false
	}
	b.tokens, b.drawnAt, b.deficit = drawn, time.Now(), deficit
	if drawn < b.size { // the shared bucket is empty
		allButOne := time.Duration(l.rate.Burst-1) * l.rate.Cost()
		b.emptyUntil = b.drawnAt.Add(max(deficit-allButOne, time.Millisecond))
	}
	return true
}

// outage is the time in which the limiter does not call the store.
type outage struct{ until atomic.Int64 } // nanoseconds of Unix time

func (o *outage) begin(now time.Time)      { o.until.Store(now.Add(outageTime).UnixNano()) }
func (o *outage) lasts(now time.Time) bool { return now.UnixNano() < o.until.Load() }
