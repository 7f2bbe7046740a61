package storagetest

import (
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
)

// slowly is a rate at which nothing to speak of comes back while a test runs.
var slowly = storage.Rate{PerSecond: 1, Burst: 3600}

var buckets = tests{
	"a bucket gives what is in it and no more": shared(func(t *testing.T, b storage.Buckets) {
		for _, draw := range []struct{ n, want int }{{10, 10}, {3000, 3000}, {1000, 590}} {
			if got, _ := drawn(t, b, "a", slowly, draw.n); got < draw.want || got > min(draw.n, draw.want+60) {
				t.Errorf("of %d drawn, there are %d", draw.n, got)
			}
		}
		if got, _ := drawn(t, b, "b", slowly, 5000); got != slowly.Burst {
			t.Errorf("another bucket has %d", got)
		}
	}),
	"it fills with time": shared(func(t *testing.T, b storage.Buckets) {
		quickly := storage.Rate{PerSecond: 1000, Burst: 100}
		got, full := drawn(t, b, "a", quickly, 100)
		if got != 100 || full <= 0 || full > 100*time.Millisecond {
			t.Errorf("%d drawn, and full in %v", got, full)
		}
		time.Sleep(2 * full)
		if got, _ := drawn(t, b, "a", quickly, 200); got != 100 {
			t.Errorf("%d drawn afterwards", got)
		}
	}),
	"how full it is": shared(func(t *testing.T, b storage.Buckets) {
		for _, n := range []int{0, 600, 600} {
			drawn(t, b, "a", slowly, n)
		}
		if _, full := drawn(t, b, "a", slowly, 0); full > 1200*time.Second || full < 1100*time.Second {
			t.Errorf("full in %v", full)
		}
		if _, full := drawn(t, b, "never drawn from", slowly, 0); full != 0 {
			t.Errorf("full in %v", full)
		}
	}),
	"a lower rate applies at once": shared(func(t *testing.T, b storage.Buckets) {
		drawn(t, b, "a", slowly, 100)
		if got, _ := drawn(t, b, "a", storage.Rate{PerSecond: 1, Burst: 10}, 5); got != 0 {
			t.Errorf("%d drawn", got)
		}
	}),
	"draws at once never get more together": shared(func(t *testing.T, b storage.Buckets) {
		var sum atomic.Int64
		var group errgroup.Group
		for range 8 {
			group.Go(func() error {
				for range 100 {
					n, _, err := b.Draw(t.Context(), "a", slowly, 7)
					if err != nil {
						return err
					}
					sum.Add(int64(n))
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		if n := sum.Load(); n < 3600 || n > 3600+60 {
			t.Errorf("%d drawn of %d", n, slowly.Burst)
		}
	}),
	"full ones are forgotten": shared(func(t *testing.T, b storage.Buckets) {
		at := storage.Rate{PerSecond: 1_000_000, Burst: 1}
		for _, key := range []string{"a", "b", "c"} {
			drawn(t, b, key, at, 1)
		}
		drawn(t, b, "in use", slowly, 100)
		time.Sleep(10 * time.Millisecond)
		for _, want := range []int{2, 1, 0} {
			if n, err := b.DeleteFull(t.Context(), 2); n != want || err != nil {
				t.Errorf("%d forgotten, want %d: %v", n, want, err)
			}
		}
		if got, _ := drawn(t, b, "in use", slowly, 3600); got > 3560 {
			t.Errorf("one in use was forgotten: %d drawn", got)
		}
	}),
}

// shared is a test of what a backend for several servers has. One process counts by itself.
func shared(test func(t *testing.T, b storage.Buckets)) func(t *testing.T, open func(t *testing.T) Backend) {
	return func(t *testing.T, open func(t *testing.T) Backend) {
		if b := open(t).Buckets; b != nil {
			test(t, b)
		}
	}
}

func drawn(t *testing.T, b storage.Buckets, key string, r storage.Rate, n int) (int, time.Duration) {
	t.Helper()
	got, full, err := b.Draw(t.Context(), key, r, n)
	if err != nil {
		t.Fatal(err)
	}
	return got, full
}
