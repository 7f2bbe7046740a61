package ratelimit

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// blockLife is how long tokens that were drawn may be used. What nobody asked for in that time is
	// lost to the client, which is a small share of its burst, and other servers' again as it flows in.
	blockLife = time.Second
	// busy is how soon a block is used up whose successor is to be larger.
	busy = blockLife / 2
	// blocksInBurst is how many blocks there are in a burst at least.
	blocksInBurst = 6
	// drawTime is how long a draw is waited for, which a request waits as well.
	drawTime = 250 * time.Millisecond
	// outageTime is how long the store is not asked after it did not answer.
	outageTime = time.Second
)

// block is what of a shared bucket is here.
type block struct {
	left    int
	size    int           // of the next one
	drawn   time.Time     // when
	missing time.Duration // from then on, until the bucket in the store is full
	empty   time.Time     // until when there is nothing to be had
}

func (b *bucket) takeShared(ctx context.Context, l *Limiter, key string) Decision {
	now := time.Now()
	if b.left > 0 && now.Sub(b.drawn) > blockLife { // nobody is so busy here
		b.left, b.size = 0, b.size/2
	}
	if b.left == 0 && !now.Before(b.empty) {
		if l.away.lasts(now) || !b.draw(ctx, l, key, now) {
			return b.level.take(l.rate, now)
		}
		now = time.Now()
	}
	d := Decision{Rate: l.rate, Allowed: b.left > 0}
	if d.Allowed {
		b.left--
	}
	d = d.with(max(0, b.missing-now.Sub(b.drawn)))
	d.Left = min(d.Left+b.left, l.rate.Burst)
	if !d.Allowed {
		d.Wait = b.empty.Sub(now)
	}
	return d
}

// draw fetches a block; false when the store does not answer.
func (b *bucket) draw(ctx context.Context, l *Limiter, key string, now time.Time) bool {
	if now.Sub(b.drawn) < busy {
		b.size *= 2
	}
	b.size = min(max(b.size, 1), max(l.rate.Burst/blocksInBurst, 1))
	soon, stop := context.WithTimeout(context.WithoutCancel(ctx), drawTime) // what a client that hangs up has drawn, the next one uses
	defer stop()
	drawn, full, err := l.store.Draw(soon, key, l.rate, b.size)
	if err != nil {
		l.away.begin(time.Now())
		return false
	}
	b.left, b.drawn, b.missing = drawn, time.Now(), full
	if drawn < b.size { // there was no more
		butOne := time.Duration(l.rate.Burst-1) * l.rate.Cost()
		b.empty = b.drawn.Add(max(full-butOne, time.Millisecond))
	}
	return true
}

// outage is the time in which a store is not asked.
type outage struct{ until atomic.Int64 } // nanoseconds of Unix time

func (o *outage) begin(now time.Time)      { o.until.Store(now.Add(outageTime).UnixNano()) }
func (o *outage) lasts(now time.Time) bool { return now.UnixNano() < o.until.Load() }
