package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// acquire fails the test unless Acquire returns the error want.
func acquire(t *testing.T, b *ByteBudget, client string, n int64, want error) (release func()) {
	t.Helper()
	release, err := b.Acquire(t.Context(), client, n)
	if !errors.Is(err, want) {
		t.Fatalf("%s acquires %d: %v, want %v", client, n, err, want)
	}
	return release
}

func TestByteBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewByteBudget(100, 60, time.Second)
		release := acquire(t, b, "a", 60, nil)
		acquire(t, b, "a", 1, ErrFull) // the share is acquired
		acquire(t, b, "b", 40, nil)
		acquire(t, b, "c", 1, ErrFull) // the budget is
		if got := b.Acquired(); got != 100 {
			t.Errorf("%d are acquired of an exhausted budget", got)
		}
		release()
		release() // releases once
		if got := b.Acquired(); got != 40 {
			t.Errorf("%d are acquired, want 40", got)
		}
		acquire(t, b, "c", 60, nil)
		acquire(t, b, "b", 1, ErrFull)
	})
}

// A number larger than the share counts as the share.
func TestMoreThanTheShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewByteBudget(100, 60, time.Second)
		release := acquire(t, b, "a", 1000, nil)
		acquire(t, b, "b", 41, ErrFull)
		acquire(t, b, "b", 40, nil)
		acquire(t, b, "a", 0, nil)
		release()
		acquire(t, b, "a", 60, nil)
	})
}

// Waiting calls are served in their order, so that small ones do not starve a large one.
func TestWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewByteBudget(100, 100, time.Minute)
		release := acquire(t, b, "a", 60, nil)
		acquired := make(chan string, 2)
		for i, client := range []string{"large", "small"} {
			go func() {
				acquire(t, b, client, []int64{100, 1}[i], nil)()
				acquired <- client
			}()
			synctest.Wait()
		}
		time.Sleep(30 * time.Second)
		if len(acquired) > 0 {
			t.Error("a call did not wait")
		}
		release()
		if first, second := <-acquired, <-acquired; first != "large" || second != "small" {
			t.Errorf("%s, then %s", first, second)
		}
	})
}

// A call whose context ends returns, and the client is removed.
func TestContextOfAWaitingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewByteBudget(100, 60, time.Minute)
		release := acquire(t, b, "a", 60, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := b.Acquire(ctx, "a", 1); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrFull) {
			t.Error(err)
		}
		if time.Since(began) != time.Second {
			t.Errorf("after %v", time.Since(began))
		}
		release()
		if len(b.clients) > 0 {
			t.Errorf("%d clients are not removed", len(b.clients))
		}
		acquire(t, b, "a", 60, nil)
	})
}
