package ciba

import (
	"context"
	"sync"
	"time"
)

// kept is something of the provider's that is fetched when it is needed and kept for a while.
type kept[T any] struct {
	fetch  func(context.Context) (T, error)
	maxAge time.Duration
	stale  bool // an old value is better than none
	turn   chan struct{}

	lock   sync.Mutex
	value  T
	read   time.Time // when value was fetched; zero: never
	missed time.Time // when a new value did not suit
	ended  time.Time // when the last fetch ended, with success or without
	err    error     // of that
}

func keep[T any](fetch func(context.Context) (T, error), maxAge time.Duration, stale bool) *kept[T] {
	return &kept[T]{fetch: fetch, maxAge: maxAge, stale: stale, turn: make(chan struct{}, 1)}
}

// pause is how long nothing is looked for again after it was not found, so that tokens with
// invented key IDs do not become as many requests.
const pause = 10 * time.Second

// get returns a value that suits, if the provider has one: the caller looks.
func (k *kept[T]) get(ctx context.Context, suits func(T) bool) (T, error) {
	asked := time.Now()
	if value, done, err := k.known(asked, suits); done {
		return value, err
	}
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		var none T
		return none, &TransportError{Err: ctx.Err()}
	}
	if value, done, err := k.known(asked, suits); done {
		return value, err
	}
	return k.renew(ctx, suits)
}

// known answers without a request, if none is due.
func (k *kept[T]) known(asked time.Time, suits func(T) bool) (value T, done bool, err error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	now := time.Now()
	switch {
	case k.ended.After(asked): // another caller has just tried
		return k.value, true, k.err
	case k.read.IsZero(), now.Sub(k.read) > k.maxAge:
		return k.value, false, nil
	}
	return k.value, suits(k.value) || now.Sub(k.missed) < pause, nil
}

func (k *kept[T]) renew(ctx context.Context, suits func(T) bool) (T, error) {
	began := time.Now()
	value, err := k.fetch(ctx)
	k.lock.Lock()
	defer k.lock.Unlock()
	switch {
	case err == nil:
		k.value, k.read = value, began
		if !suits(value) {
			k.missed = began
		}
	case k.stale && suits(k.value):
		value, err = k.value, nil
		k.read = began.Add(pause - k.maxAge) // and tried again after the pause
	}
	if ctx.Err() == nil { // else the failure is this caller's own
		k.ended, k.err = time.Now(), err
	}
	return value, err
}
