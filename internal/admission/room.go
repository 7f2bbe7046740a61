// Package admission says what a server takes on at once, so that neither many callers nor slow ones take
// more of it than there is: [Room] bounds the bytes that are under way, [Connections] what is connected,
// and [Pace] how long a peer may keep the server waiting.
//
// None of them knows what is being served. Whoever is told by a name (a client, an address) has a share,
// so that nobody keeps all others out.
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

// ErrFull: there was no room in time.
var ErrFull = errors.New("admission: there is no room")

// Room is a number of bytes that those who enter share.
type Room struct {
	all      *semaphore.Weighted
	share    int64
	patience time.Duration
	taken    atomic.Int64

	mu     sync.Mutex
	shares map[string]*share // of those who are in the room, or wait to be
}

// share is how much of a room one name may take.
type share struct {
	*semaphore.Weighted
	users int
}

// NewRoom makes a room of so many bytes, of which nobody has more than a share. Who waits
// longer than the patience is turned away.
func NewRoom(size, most int64, patience time.Duration) *Room {
	return &Room{all: semaphore.NewWeighted(size), share: min(most, size), patience: patience, shares: make(map[string]*share)}
}

// Enter waits until there is room for n bytes of who, in the order in which others came; what is larger
// than a share counts as a whole one. leave gives the room back, and does so once. Errors: [ErrFull], and
// that of the context.
func (r *Room) Enter(ctx context.Context, who string, n int64) (leave func(), err error) {
	n = max(0, min(n, r.share))
	soon, stop := context.WithTimeout(ctx, r.patience)
	defer stop()
	own := r.use(who)
	if err := own.Acquire(soon, n); err != nil {
		r.disuse(who, own)
		return nil, turnedAway(ctx, err)
	}
	if err := r.all.Acquire(soon, n); err != nil {
		own.Release(n)
		r.disuse(who, own)
		return nil, turnedAway(ctx, err)
	}
	r.taken.Add(n)
	return sync.OnceFunc(func() {
		r.taken.Add(-n)
		r.all.Release(n)
		own.Release(n)
		r.disuse(who, own)
	}), nil
}

// Taken is how many bytes those who are in have taken.
func (r *Room) Taken() int64 { return r.taken.Load() }

// turnedAway tells a caller who has left from one for whom there was no room.
func turnedAway(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrFull, err)
}

func (r *Room) use(who string) *share {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.shares[who]
	if own == nil {
		own = &share{Weighted: semaphore.NewWeighted(r.share)}
		r.shares[who] = own
	}
	own.users++
	return own
}

// disuse forgets a name that nobody goes by any more.
func (r *Room) disuse(who string, own *share) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(r.shares, who)
	}
}
