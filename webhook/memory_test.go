package webhook

import (
	"context"
	"strconv"
	"testing"
)

// The number of recorded events is bounded; the oldest is removed first.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	r, calls := newMemory(), 0
	once := func(id int, want int) {
		t.Helper()
		err := r.Once(t.Context(), strconv.Itoa(id), func(context.Context) error { calls++; return nil })
		if err != nil || calls != want {
			t.Errorf("%d: %d calls, want %d; %v", id, calls, want, err)
		}
	}
	for i := range maxHandled {
		once(i, i+1)
	}
	once(0, maxHandled)
	once(-1, maxHandled+1)
	once(1, maxHandled+1)
	once(0, maxHandled+2)
	if len(r.handled) != maxHandled || len(r.order) != maxHandled || len(r.running) != 0 {
		t.Errorf("%d recorded, %d in order, %d running", len(r.handled), len(r.order), len(r.running))
	}
}
