package page

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Somebody who asks for all pages of a document at once keeps nobody else waiting for more than one,
// however few may work at once.
func TestTurnsAreFair(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 2; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) { turnsAreFair(t, n) })
	}
}

func turnsAreFair(t *testing.T, n int) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(n, 100, 100)
		var order []string
		var lock sync.Mutex
		var all sync.WaitGroup
		work := func(process string) {
			all.Go(func() {
				if err := turns.wait(t.Context(), process, time.Hour); err != nil {
					t.Error(err)
					return
				}
				lock.Lock()
				order = append(order, process)
				lock.Unlock()
				time.Sleep(time.Second)
				turns.done(process)
			})
			synctest.Wait()
		}
		for range 40 {
			work("long")
		}
		work("short")
		work("short")
		all.Wait()
		if order[n] != "short" && order[n+1] != "short" {
			t.Errorf("in the order %v", order)
		}
		if len(turns.working) != 0 || turns.free != n {
			t.Errorf("left: %v, %d free", turns.working, turns.free)
		}
	})
}

// There are never more at work than may be, and no turn is lost, however people leave.
func TestTurnsAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 3
		turns := newTurns(most, 1000, 1000)
		var working, served atomic.Int32
		var all sync.WaitGroup
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 300 {
			patience, work := time.Duration(random.IntN(30))*time.Millisecond, time.Duration(random.IntN(5))*time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(60))*time.Millisecond)
			process := fmt.Sprint(i % 7)
			all.Go(func() {
				defer cancel()
				if turns.wait(ctx, process, patience) != nil {
					return
				}
				defer turns.done(process)
				if n := working.Add(1); n > most {
					t.Errorf("%d at work", n)
				}
				time.Sleep(work)
				served.Add(1)
				working.Add(-1)
			})
		}
		all.Wait()
		if turns.free != most || len(turns.waiting) != 0 || len(turns.working) != 0 || served.Load() < 10 {
			t.Errorf("%d free, %d waiting, %v, %d served", turns.free, len(turns.waiting), turns.working, served.Load())
		}
	})
}

func TestTurnsAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1, 1, 1)
		if err := turns.wait(t.Context(), "a", time.Second); err != nil {
			t.Fatal(err)
		}
		go turns.wait(t.Context(), "b", time.Minute)
		synctest.Wait()
		if err := turns.wait(t.Context(), "c", time.Minute); !errors.Is(err, errBusy) {
			t.Errorf("too many wait: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if err := turns.wait(t.Context(), "c", time.Second); !errors.Is(err, errBusy) {
			t.Errorf("waiting for long: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := turns.wait(ctx, "c", time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody waits: %v", err)
		}
	})
}

// No process has all of those who may wait.
func TestTurnsOfOneProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1, 10, 3)
		if err := turns.wait(t.Context(), "long", time.Second); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			go func() {
				if turns.wait(t.Context(), "long", time.Minute) == nil {
					turns.done("long")
				}
			}()
		}
		synctest.Wait()
		began := time.Now()
		if err := turns.wait(t.Context(), "long", time.Minute); !errors.Is(err, errBusy) || time.Since(began) > 0 {
			t.Errorf("one more of the same: %v after %v", err, time.Since(began))
		}
		time.AfterFunc(time.Second, func() { turns.done("long") })
		if err := turns.wait(t.Context(), "short", time.Minute); err != nil {
			t.Errorf("another: %v", err)
		}
	})
}
