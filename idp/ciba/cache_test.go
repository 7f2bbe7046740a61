package ciba

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// source is a source of values. Each fetch takes a second.
type source struct {
	value   int
	err     error
	fetched int
}

func (s *source) fetch(ctx context.Context) (int, error) {
	s.fetched++
	value, err := s.value, s.err
	select {
	case <-time.After(time.Second):
		return value, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func is(n int) func(int) bool { return func(value int) bool { return value == n } }

func TestCache(t *testing.T) {
	away := errors.New("away")
	// A step waits and gets a value. got is the result, with the number of fetches so far.
	type step struct {
		after   time.Duration
		value   int // at the source; 0: it is away
		want    int // for which the value is asked
		got     int // 0: away
		fetched int
	}
	for name, test := range map[string]struct {
		stale bool
		steps []step
	}{
		"kept until it is old": {steps: []step{
			{0, 1, 1, 1, 1}, {9 * time.Minute, 2, 1, 1, 1}, {2 * time.Minute, 2, 1, 2, 2},
		}},
		"fetched for what it lacks": {steps: []step{
			{0, 1, 1, 1, 1}, {time.Second, 2, 2, 2, 2}, {time.Second, 3, 3, 3, 3},
		}},
		"with a pause after what was not found": {steps: []step{
			{0, 1, 1, 1, 1}, {0, 1, 9, 1, 2}, {5 * time.Second, 9, 9, 1, 2}, {5 * time.Second, 9, 9, 9, 3},
		}},
		"fetched each time while away": {steps: []step{
			{0, 0, 1, 0, 1}, {0, 0, 1, 0, 2}, {0, 1, 1, 1, 3},
		}},
		"not when it is old and the source away": {steps: []step{
			{0, 1, 1, 1, 1}, {11 * time.Minute, 0, 1, 0, 2},
		}},
		"better than none": {stale: true, steps: []step{
			{0, 1, 1, 1, 1}, {11 * time.Minute, 0, 1, 1, 2}, {5 * time.Second, 2, 1, 1, 2}, {5 * time.Second, 2, 1, 2, 3},
		}},
		"not better than none when it lacks what is needed": {stale: true, steps: []step{
			{0, 1, 1, 1, 1}, {time.Minute, 0, 9, 0, 2},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s source
				k := newCache(s.fetch, 10*time.Minute, test.stale)
				for i, step := range test.steps {
					time.Sleep(step.after)
					s.value, s.err = step.value, nil
					if step.value == 0 {
						s.err = away
					}
					got, err := k.get(t.Context(), is(step.want))
					if got != step.got && err == nil || (err != nil) != (step.got == 0) || s.fetched != step.fetched {
						t.Errorf("step %d: %d, %v after %d fetches", i, got, err, s.fetched)
					}
				}
			})
		})
	}
}

// TestCacheConcurrent checks that concurrent callers share one fetch, also one that fails.
func TestCacheConcurrent(t *testing.T) {
	for _, away := range []error{nil, errors.New("away")} {
		synctest.Test(t, func(t *testing.T) {
			s := source{value: 1, err: away}
			k := newCache(s.fetch, time.Minute, false)
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() {
					if _, err := k.get(t.Context(), is(1)); err != away {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if s.fetched != 1 {
				t.Errorf("%d fetches", s.fetched)
			}
		})
	}
}

// TestCacheCancelled checks that a caller whose context ends neither affects other callers nor waits for them.
func TestCacheCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := source{value: 1}
		k := newCache(s.fetch, time.Minute, false)
		var all sync.WaitGroup
		for i := range 3 { // after 100 ms, 200 ms, and not at all
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				began := time.Now()
				ctx, patience := t.Context(), 100*time.Millisecond*time.Duration(i+1)
				if i < 2 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, patience)
					defer cancel()
				}
				_, err := k.get(ctx, is(1))
				if i < 2 && (!errors.Is(err, context.DeadlineExceeded) || time.Since(began) != patience) || i == 2 && err != nil {
					t.Errorf("%d: %v after %v", i, err, time.Since(began))
				}
			})
		}
		all.Wait()
	})
}
