package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// queueTest is a queue in a bubble, in which callers have a place for a second.
type queueTest struct {
	*testing.T
	*Queue
	all            sync.WaitGroup
	lock           sync.Mutex
	served, failed []string
}

// comes has a caller "account" or "account/group" come, and returns when it has a place or waits.
func (q *queueTest) comes(callers ...string) {
	for _, caller := range callers {
		q.all.Go(func() {
			account, name, _ := strings.Cut(caller, "/")
			release, err := q.Acquire(q.Context(), Group{account, name, name == "long"}, time.Hour)
			q.lock.Lock()
			if err == nil {
				q.served = append(q.served, caller)
			} else {
				q.failed = append(q.failed, caller)
			}
			q.lock.Unlock()
			if err == nil {
				time.Sleep(time.Second)
				release()
			} else if !errors.Is(err, ErrBusy) {
				q.Error(err)
			}
		})
		synctest.Wait()
	}
}

// TestQueueIsFair checks who is served in which order, and who is refused.
func TestQueueIsFair(t *testing.T) {
	many := func(n int, caller string) []string { return slices.Repeat([]string{caller}, n) }
	for name, test := range map[string]struct {
		places, maxWaiting int
		come               []string
		served             []string // the first
		failed             []string
	}{
		"another account has a place at once": {2, 9, append(many(5, "flood"), "a"), []string{"flood", "a"}, nil},
		"each account in its turn": {1, 100, slices.Concat(many(5, "flood"), many(2, "a"), many(2, "b")),
			[]string{"flood", "flood", "a", "b", "flood", "a", "b", "flood"}, nil},
		"each group of an account in its turn": {1, 100, slices.Concat(many(5, "a/long"), many(2, "a/short"), []string{"b"}),
			[]string{"a/long", "a/long", "b", "a/short", "a/long", "a/short", "a/long"}, nil},
		"long turns leave one place":                {2, 9, []string{"a/long", "b/long", "c/long", "c/short"}, []string{"a/long", "c/short", "b/long", "c/long"}, nil},
		"long turns of an account leave it a place": {3, 9, []string{"a/long", "a/long", "a/short", "b/long"}, []string{"a/long", "a/short", "b/long", "a/long"}, nil},
		"the flood is refused":                      {2, 4, slices.Concat(many(9, "flood"), many(1, "a"), many(1, "b")), []string{"flood", "a"}, many(5, "flood")},
		"the larger flood is refused": {1, 6, slices.Concat(many(1, "a"), many(4, "b"), many(3, "a"), many(1, "c")), []string{"a", "b", "a", "c", "b", "a", "b"},
			[]string{"b", "a"}},
		"the larger group is refused":        {1, 4, []string{"a/1", "a/1", "a/1", "a/2", "a/1", "a/2"}, []string{"a/1", "a/1", "a/2"}, []string{"a/1"}},
		"an account alone leaves one place":  {3, 9, many(4, "a"), many(4, "a"), nil},
		"one place is for any account":       {1, 1, many(2, "a"), many(2, "a"), nil},
		"a caller without an account counts": {2, 1, many(3, ""), many(2, ""), many(1, "")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := &queueTest{T: t, Queue: NewQueue(test.places, test.maxWaiting)}
				q.comes(test.come...)
				q.all.Wait()
				if got := q.served[:min(len(q.served), len(test.served))]; !slices.Equal(got, test.served) || !slices.Equal(q.failed, test.failed) {
					t.Errorf("served %q, want first %q; refused %q, want %q", q.served, test.served, q.failed, test.failed)
				}
				if len(q.served)+len(q.failed) != len(test.come) || q.free != test.places || q.has.all+q.long.all != 0 || len(q.has.accounts)+len(q.has.groups)+len(q.waiting) > 0 {
					t.Errorf("%d came: %d served, %d refused; left: %d free, %v, %d waiting", len(test.come), len(q.served), len(q.failed), q.free, q.has, len(q.waiting))
				}
			})
		})
	}
}

// TestQueueCounts checks that no more callers than places have one, no account has all of them, and none is lost, however
// waiting ends.
func TestQueueCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 3
		q := NewQueue(places, 1000)
		var working, served atomic.Int32
		ofAccount := make([]atomic.Int32, 7)
		var all sync.WaitGroup
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 300 {
			timeout, work := time.Duration(random.IntN(30))*time.Millisecond, time.Duration(random.IntN(5))*time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(60))*time.Millisecond)
			account := i % 7
			all.Go(func() {
				defer cancel()
				release, err := q.Acquire(ctx, Group{Account: fmt.Sprint(account)}, timeout)
				if err != nil {
					return
				}
				defer release()
				if n, own := working.Add(1), ofAccount[account].Add(1); n > places || own > places-1 {
					t.Errorf("%d at work, %d of the account", n, own)
				}
				time.Sleep(work)
				served.Add(1)
				working.Add(-1)
				ofAccount[account].Add(-1)
			})
		}
		all.Wait()
		if q.free != places || len(q.waiting)+len(q.has.accounts)+len(q.has.groups) > 0 || served.Load() < 10 {
			t.Errorf("%d free, %d waiting, %v, %d served", q.free, len(q.waiting), q.has, served.Load())
		}
	})
}

// TestQueueEndsWaiting checks that waiting ends with the timeout and with the context, and that a place is released once.
func TestQueueEndsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 10)
		release, err := q.Acquire(t.Context(), Group{}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Acquire(t.Context(), Group{}, time.Second); !errors.Is(err, ErrBusy) {
			t.Errorf("a long wait: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := q.Acquire(ctx, Group{}, time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the request has ended: %v", err)
		}
		release()
		release()
		if q.free != 1 {
			t.Errorf("%d free", q.free)
		}
	})
}
