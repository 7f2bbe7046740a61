package bolt

import (
	"context"
	"slices"
	"sync"
)

// turns are taken one at a time, in the order of waiting. The zero value is ready for use.
type turns struct {
	mu      sync.Mutex
	taken   bool
	waiting []chan struct{} // one for each waiter; closed when the waiter has the turn
}

// take waits for a turn, or for the end of the context.
func (t *turns) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	t.waiting = append(t.waiting, turn)
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, turn)
	if i < 0 {
		return nil // the turn was passed to this waiter meanwhile
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return ctx.Err()
}

// pass gives the turn of the caller to the waiter that has waited longest, and reports whether there was one. If there was
// none, the caller still has the turn.
func (t *turns) pass() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.passLocked()
}

// release ends the turn of the caller.
func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.passLocked() {
		t.taken = false
	}
}

// passLocked is pass for a caller that holds mu.
func (t *turns) passLocked() bool {
	if len(t.waiting) == 0 {
		return false
	}
	close(t.waiting[0])
	t.waiting = slices.Delete(t.waiting, 0, 1)
	return true
}
