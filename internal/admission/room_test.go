package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// enter enters and fails the test when that is not as it should be.
func enter(t *testing.T, r *Room, who string, n int64, want error) (leave func()) {
	t.Helper()
	leave, err := r.Enter(t.Context(), who, n)
	if !errors.Is(err, want) {
		t.Fatalf("%s enters with %d: %v, want %v", who, n, err, want)
	}
	return leave
}

func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom(100, 60, time.Second)
		leave := enter(t, r, "a", 60, nil)
		enter(t, r, "a", 1, ErrFull) // the share is used up
		enter(t, r, "b", 40, nil)
		enter(t, r, "c", 1, ErrFull) // the room is
		if got := r.Taken(); got != 100 {
			t.Errorf("%d are taken of a full room", got)
		}
		leave()
		leave() // gives nothing back twice
		if got := r.Taken(); got != 40 {
			t.Errorf("%d are taken, want 40", got)
		}
		enter(t, r, "c", 60, nil)
		enter(t, r, "b", 1, ErrFull)
	})
}

// What is larger than a share is let in when nobody else of that name is there: else it never could be.
func TestWhatIsLargerThanAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom(100, 60, time.Second)
		leave := enter(t, r, "a", 1000, nil)
		enter(t, r, "b", 41, ErrFull)
		enter(t, r, "b", 40, nil)
		enter(t, r, "a", 0, nil)
		leave()
		enter(t, r, "a", 60, nil)
	})
}

// Who waits is let in as soon as there is room, in turn; a large one is not passed by small ones for ever.
func TestWhoWaitsIsLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom(100, 100, time.Minute)
		leave := enter(t, r, "a", 60, nil)
		entered := make(chan string, 2)
		for i, who := range []string{"large", "small"} {
			go func() {
				enter(t, r, who, []int64{100, 1}[i], nil)()
				entered <- who
			}()
			synctest.Wait()
		}
		time.Sleep(30 * time.Second)
		if len(entered) > 0 {
			t.Error("somebody went in")
		}
		leave()
		if first, second := <-entered, <-entered; first != "large" || second != "small" {
			t.Errorf("%s, then %s", first, second)
		}
	})
}

// Who has left waits no longer, and leaves nothing behind.
func TestWhoHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRoom(100, 60, time.Minute)
		leave := enter(t, r, "a", 60, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := r.Enter(ctx, "a", 1); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrFull) {
			t.Error(err)
		}
		if time.Since(began) != time.Second {
			t.Errorf("after %v", time.Since(began))
		}
		leave()
		if len(r.shares) > 0 {
			t.Errorf("%d names are remembered", len(r.shares))
		}
		enter(t, r, "a", 60, nil)
	})
}
