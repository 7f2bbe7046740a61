package online

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	maxCached  = 128 << 20 // bytes in one cache
	maxEntries = 4096
	entrySize  = 1 << 10 // bytes of an entry beside its key and its value
	// maxCacheAge bounds how long an entry is cached, because the nextUpdate in revocation data
	// about authorities may be far away. A CRL that is published early is then noticed within a
	// day.
	maxCacheAge = 24 * time.Hour
)

// cache keeps fetched values while they are valid. Concurrent callers that ask for the same key
// share one fetch. The zero value is empty and ready to use.
type cache[V any] struct {
	mu      sync.Mutex
	entries map[string]*entry[V]
	size    int64 // of the completed entries
	count   int   // of the completed entries
}

// fetched is a value, its size in bytes, and the time until which it may be returned again. It is not
// cached if that time is zero.
type fetched[V any] struct {
	value V
	size  int64
	until time.Time
}

type entry[V any] struct {
	done chan struct{} // closed when the other fields are set
	fetched[V]
	err        error
	callerGone bool // the caller that fetched gave up, so err tells nothing about the value
}

// errIncomplete is the error for waiting callers when a fetch panics instead of returning.
var errIncomplete = errors.New("online: fetch did not finish")

// get returns the value of a key. It fetches the value unless it is cached or another caller is
// fetching it. It does not cache failures.
func (c *cache[V]) get(ctx context.Context, key string, fetch func(context.Context) (fetched[V], error)) (V, error) {
	for {
		e, isNew := c.entryFor(key, time.Now())
		if isNew {
			c.fill(ctx, key, e, fetch)
			return e.value, e.err
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return e.zeroValue(), ctx.Err()
		}
		if !e.callerGone {
			return e.value, e.err
		}
	}
}

func (*entry[V]) zeroValue() (none V) { return none }

// entryFor returns the entry of a key. If isNew is true, the caller has to call fill.
func (c *cache[V]) entryFor(key string, now time.Time) (e *entry[V], isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		if !e.isComplete() || e.until.After(now) {
			return e, false
		}
		c.drop(key, e)
	}
	if c.entries == nil {
		c.entries = make(map[string]*entry[V])
	}
	e = &entry[V]{done: make(chan struct{}), err: errIncomplete}
	c.entries[key] = e
	return e, true
}

func (c *cache[V]) fill(ctx context.Context, key string, e *entry[V], fetch func(context.Context) (fetched[V], error)) {
	defer c.complete(key, e)
	e.fetched, e.err = fetch(ctx)
	e.callerGone = e.err != nil && ctx.Err() != nil
}

func (c *cache[V]) complete(key string, e *entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if latest := now.Add(maxCacheAge); e.until.After(latest) {
		e.until = latest
	}
	close(e.done)
	if e.err == nil {
		e.size += int64(len(key)) + entrySize
	}
	c.size += e.size
	c.count++
	if e.err != nil || !e.until.After(now) || e.size > maxCached {
		c.drop(key, e)
	}
	for c.size > maxCached || c.count > maxEntries {
		c.evict()
	}
}

// evict removes the completed entry that expires first.
func (c *cache[V]) evict() {
	var soonest string
	for key, e := range c.entries {
		if e.isComplete() && (soonest == "" || e.until.Before(c.entries[soonest].until)) {
			soonest = key
		}
	}
	c.drop(soonest, c.entries[soonest])
}

// drop removes a completed entry.
func (c *cache[V]) drop(key string, e *entry[V]) {
	delete(c.entries, key)
	c.size -= e.size
	c.count--
}

func (e *entry[V]) isComplete() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}
