// Package admission limits what a server accepts at the same time, so that neither many clients nor slow ones
// exhaust it: [ByteBudget] limits the bytes in flight, [ConnectionLimit] the open connections, [Queue] costly work,
// and [MinRate] how long a client may keep the server waiting.
//
// The package does not depend on what is served. A client, identified by a key such as an account or an address,
// gets a limited share, so that one client cannot block all others.
package admission

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrFull: the budget was exhausted for as long as the caller may wait.
var ErrFull = errors.New("admission: the byte budget is exhausted")

// ByteBudget is a number of bytes that clients share. It may be used by several goroutines.
type ByteBudget struct {
	all      *semaphore.Weighted
	share    int64 // of one client
	timeout  time.Duration
	acquired atomic.Int64

	mu      sync.Mutex
	clients map[string]*clientBudget // of the clients that hold or wait for bytes
}

// clientBudget is one client's share of a ByteBudget.
type clientBudget struct {
	*semaphore.Weighted
	users int // calls of Acquire that hold or wait for bytes
}

// NewByteBudget returns a budget of size bytes, of which one client gets at most share. Acquire waits for at most
// timeout.
func NewByteBudget(size, share int64, timeout time.Duration) *ByteBudget {
	return &ByteBudget{all: semaphore.NewWeighted(size), share: min(share, size), timeout: timeout, clients: make(map[string]*clientBudget)}
}

// Acquire waits until n bytes are available for a client; waiting calls are served in their order. A number larger
// than the share counts as the share. The caller must call release, which may be called more than once. Errors:
// [ErrFull], and that of the context.
func (b *ByteBudget) Acquire(ctx context.Context, client string, n int64) (release func(), err error) {
	n = max(0, min(n, b.share))
	waiting, stop := context.WithTimeout(ctx, b.timeout)
	defer stop()
	own := b.client(client)
	if err := own.Acquire(waiting, n); err != nil {
		b.releaseClient(client, own)
		return nil, acquireError(ctx, err)
	}
	if err := b.all.Acquire(waiting, n); err != nil {
		own.Release(n)
		b.releaseClient(client, own)
		return nil, acquireError(ctx, err)
	}
	b.acquired.Add(n)
	return sync.OnceFunc(func() {
		b.acquired.Add(-n)
		b.all.Release(n)
		own.Release(n)
		b.releaseClient(client, own)
	}), nil
}

// Acquired returns how many bytes are acquired and not released.
func (b *ByteBudget) Acquired() int64 { return b.acquired.Load() }

// acquireError returns the error of the caller's context if it has ended, and else ErrFull.
func acquireError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrFull, err)
}

func (b *ByteBudget) client(key string) *clientBudget {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.clients[key]
	if own == nil {
		own = &clientBudget{Weighted: semaphore.NewWeighted(b.share)}
		b.clients[key] = own
	}
	own.users++
	return own
}

// releaseClient removes the client's budget when its last user is done.
func (b *ByteBudget) releaseClient(key string, own *clientBudget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(b.clients, key)
	}
}
