package storagetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

var claims = tests{
	"of a group the earliest due go first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "g", 3), work("k", "g", 1), work("k", "g", 2), work("k", "g", 1))
		var seconds []float64
		for range 4 {
			for _, l := range claim(t, b, after(10), 1, 4) {
				seconds = append(seconds, l.Due.Sub(base).Seconds())
			}
		}
		found(t, seconds, nil, []float64{1, 1, 2, 3})
	},

	"those claimed together are in the order of their waiting": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "a", 3), work("k", "b", 1), work("k", "c", 4), work("k", "a", 2))
		var seconds []float64
		for _, l := range claim(t, b, after(10), 10, 10) {
			seconds = append(seconds, l.Due.Sub(base).Seconds())
		}
		found(t, seconds, nil, []float64{1, 2, 3, 4})
	},

	"there are never more than the limit": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for i := range 5 {
			enqueue(t, b, work("k", fmt.Sprint(i), i), work("k", fmt.Sprint(i), i))
		}
		for _, want := range []struct{ limit, perGroup, claimed int }{{0, 1, 0}, {-1, 1, 0}, {1, 0, 0}, {1, -1, 0}, {3, 2, 3}, {100, 2, 7}, {100, 2, 0}} {
			if n := len(claim(t, b, after(10), want.limit, want.perGroup)); n != want.claimed {
				t.Errorf("limit %d, per group %d: %d jobs were claimed, want %d", want.limit, want.perGroup, n, want.claimed)
			}
		}
	},

	"leases count towards the group's bound until they run out or are given back": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for range 5 {
			enqueue(t, b, work("k", "g", 0))
		}
		first := claim(t, b, base, 10, 2)
		ofGroups(t, first, map[string]int{"g": 2})
		claimed(t, b, base, 2, 0)
		claimed(t, b, base, 3, 1)
		finish(t, b, first[0])
		claimed(t, b, base, 3, 1)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, first[1], after(1000)) })
		claimed(t, b, base, 3, 1)
		claimed(t, b, base.Add(lease), 2, 2) // they have all run out
	},

	"a group at its bound keeps none from the others": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for range 30 {
			enqueue(t, b, work("k", "huge", 0))
		}
		enqueue(t, b, work("k", "a", 1), work("k", "b", 2), work("k", "b", 3), work("k", "b", 4))
		ofGroups(t, claim(t, b, after(10), 4, 2), map[string]int{"huge": 2, "a": 1, "b": 1})
		ofGroups(t, claim(t, b, after(10), 4, 2), map[string]int{"b": 1})
	},

	"a group that has none in work goes first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for range 30 {
			enqueue(t, b, work("k", "huge", 0))
		}
		ofGroups(t, claim(t, b, base, 2, 10), map[string]int{"huge": 2})
		enqueue(t, b, work("k", "small", 9))
		ofGroups(t, claim(t, b, after(10), 1, 10), map[string]int{"small": 1})
	},

	"a group that always has work starves none": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const small, slots = 20, 4
		for i := range small {
			enqueue(t, b, work("k", fmt.Sprint(i), 0))
		}
		left := small
		for round := 0; left > 0; round++ {
			if round > small {
				t.Fatalf("%d small groups still wait", left)
			}
			for range slots {
				enqueue(t, b, work("k", "huge", -1000)) // due before all others
			}
			leases := claim(t, b, base, slots, slots)
			left -= len(slices.DeleteFunc(slices.Clone(leases), func(l storage.Lease) bool { return l.Group == "huge" }))
			finish(t, b, leases...)
		}
	},
}

// claimed claims jobs that are all of one group and fails the test unless there are so many.
func claimed(t *testing.T, b Backend, now time.Time, perGroup, want int) {
	t.Helper()
	if n := len(claim(t, b, now, 10, perGroup)); n != want {
		t.Errorf("%d jobs were claimed, want %d", n, want)
	}
}

// ofGroups fails the test unless the jobs are of these groups, so many of each.
func ofGroups(t *testing.T, leases []storage.Lease, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for _, l := range leases {
		got[l.Group]++
	}
	found(t, got, nil, want)
}
