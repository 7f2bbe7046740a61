package ciba

import (
	"context"
	"sync"
	"time"
)

// cache holds a document of the provider, which it fetches on demand and again after maxAge.
type cache[T any] struct {
	fetch      func(context.Context) (T, error)
	maxAge     time.Duration
	serveStale bool          // if fetching fails, an older value is used
	fetching   chan struct{} // holds one element during a fetch

	mu        sync.Mutex
	value     T
	fetchedAt time.Time // zero: never
	missedAt  time.Time // when a new value was not acceptable
	endedAt   time.Time // when the last fetch ended, successful or not
	err       error     // of the last fetch
}

func newCache[T any](fetch func(context.Context) (T, error), maxAge time.Duration, serveStale bool) *cache[T] {
	return &cache[T]{fetch: fetch, maxAge: maxAge, serveStale: serveStale, fetching: make(chan struct{}, 1)}
}

// retryDelay is the time for which a cache does not fetch again after a new value was not acceptable, so that
// tokens with made-up key IDs do not cause a request each.
const retryDelay = 10 * time.Second

// get returns a value that accept reports as acceptable. If the provider has no such value, get returns the latest one
// instead, which the caller must check.
func (c *cache[T]) get(ctx context.Context, accept func(T) bool) (T, error) {
	start := time.Now()
	if value, done, err := c.lookup(start, accept); done {
		return value, err
	}
	select {
	case c.fetching <- struct{}{}:
		defer func() { <-c.fetching }()
	case <-ctx.Done():
		var zero T
		return zero, &TransportError{Err: ctx.Err()}
	}
	if value, done, err := c.lookup(start, accept); done {
		return value, err
	}
	return c.refresh(ctx, accept)
}

// lookup returns the cached value or error. done is false if a fetch is needed. start is the time when get was called.
func (c *cache[T]) lookup(start time.Time, accept func(T) bool) (value T, done bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch {
	case c.endedAt.After(start): // another caller has fetched meanwhile
		return c.value, true, c.err
	case c.fetchedAt.IsZero(), now.Sub(c.fetchedAt) > c.maxAge:
		return c.value, false, nil
	}
	return c.value, accept(c.value) || now.Sub(c.missedAt) < retryDelay, nil
}

// refresh fetches a new value.
func (c *cache[T]) refresh(ctx context.Context, accept func(T) bool) (T, error) {
	start := time.Now()
	value, err := c.fetch(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.value, c.fetchedAt = value, start
		if !accept(value) {
			c.missedAt = start
		}
	case c.serveStale && accept(c.value):
		value, err = c.value, nil
		c.fetchedAt = start.Add(retryDelay - c.maxAge) // the next fetch is due after retryDelay
	}
	if ctx.Err() == nil { // otherwise the error concerns only this caller
		c.endedAt, c.err = time.Now(), err
	}
	return value, err
}
