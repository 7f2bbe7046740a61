package online

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	maxCached = 128 << 20 // bytes of a cache
	// maxKept bounds a nextUpdate that is far away, as roots' are: a CRL that was
	// published before its time is noticed within a day.
	maxKept = 24 * time.Hour
)

// cache keeps what was fetched while it is in force, and lets one fetch serve all
// who ask for the same thing at once. Its zero value is empty.
type cache[V any] struct {
	mu      sync.Mutex
	entries map[string]*entry[V]
	size    int64
}

// fetched is a value, the bytes it takes and until when it may be used again.
type fetched[V any] struct {
	value V
	size  int64
	until time.Time
}

type entry[V any] struct {
	done chan struct{} // closed when the rest is set
	fetched[V]
	err       error
	abandoned bool // whoever fetched went away, which says nothing about the value
}

// errUnfinished is what the others see when a fetch does not return.
var errUnfinished = errors.New("online: fetch did not finish")

// get returns the value of a key, fetching it unless it is kept or just being
// fetched. Failures are not kept.
func (c *cache[V]) get(ctx context.Context, key string, fetch func(context.Context) (fetched[V], error)) (V, error) {
	for {
		e, first := c.join(key, time.Now())
		if first {
			c.lead(ctx, key, e, fetch)
			return e.value, e.err
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return e.zero(), ctx.Err()
		}
		if !e.abandoned {
			return e.value, e.err
		}
	}
}

func (*entry[V]) zero() (none V) { return none }

// join returns the entry of a key. It is a new one if there was none in force, and
// then the caller has to lead.
func (c *cache[V]) join(key string, now time.Time) (e *entry[V], first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		if !e.settled() || e.until.After(now) {
			return e, false
		}
		c.drop(key, e)
	}
	if c.entries == nil {
		c.entries = make(map[string]*entry[V])
	}
	e = &entry[V]{done: make(chan struct{}), err: errUnfinished}
	c.entries[key] = e
	return e, true
}

func (c *cache[V]) lead(ctx context.Context, key string, e *entry[V], fetch func(context.Context) (fetched[V], error)) {
	defer c.settle(key, e)
	e.fetched, e.err = fetch(ctx)
	e.abandoned = e.err != nil && ctx.Err() != nil
}

func (c *cache[V]) settle(key string, e *entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if latest := now.Add(maxKept); e.until.After(latest) {
		e.until = latest
	}
	close(e.done)
	c.size += e.size
	if e.err != nil || !e.until.After(now) || e.size > maxCached {
		c.drop(key, e)
	}
	for c.size > maxCached {
		c.evict()
	}
}

// evict drops what would have to go first anyway.
func (c *cache[V]) evict() {
	var soonest string
	for key, e := range c.entries {
		if e.settled() && (soonest == "" || e.until.Before(c.entries[soonest].until)) {
			soonest = key
		}
	}
	c.drop(soonest, c.entries[soonest])
}

func (c *cache[V]) drop(key string, e *entry[V]) {
	delete(c.entries, key)
	c.size -= e.size
}

func (e *entry[V]) settled() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}
