package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

// backends are one store of each sort, and what a burst is to reach on it.
var backends = []struct {
	name  string
	store func(testing.TB) string
	least float64
}{
	{"bbolt", func(t testing.TB) string { return filepath.Join(t.TempDir(), "store.db") }, leastInFile},
	{"postgres", func(t testing.TB) string { return postgrestest.Database(t) }, leastInPostgres},
}

// trial runs one and logs its figures.
func trial(t testing.TB, args ...string) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, &out)
	ends(t, &out, err)
}

// Processes of one database are killed one after another while they send events: each event
// arrives, and again only when a process died that was about to store that it had. How many that
// are depends on what else this machine does, so that any share will do here.
func TestWebhooks(t *testing.T) {
	testenv.Slow(t, "thousands of events are sent")
	events := fmt.Sprint(200 * int(span(t).Seconds()))
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		trial(t, "webhooks", "-postgres", postgrestest.Database(t), "-events", events, "-kill-every", (span(t) / 3).String(), "-repeated", "101")
	})
	t.Run("not killed", func(t *testing.T) {
		t.Parallel()
		trial(t, "webhooks", "-postgres", postgrestest.Database(t), "-events", events, "-kill-every", "0")
	})
}

// A process dies between sending and storing that: what it sent comes again, and is the same.
func TestSent(t *testing.T) {
	testenv.Slow(t, "thousands of events are sent")
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			trial(t, "sent", "-store", b.store(t))
		})
	}
}

// Endpoints that are slow or dead keep nothing from the others, and nothing is lost. The others
// have theirs within a minute here: a second would be too short beside other tests.
func TestLoad(t *testing.T) {
	testenv.Slow(t, "thousands of events are sent")
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			trial(t, "load", "-store", b.store(t), "-for", span(t).String(), "-recover", "-within", "1m")
		})
	}
}

// A request that was made again is explained by a death soon after the one before.
func TestRepeats(t *testing.T) {
	for _, test := range []struct {
		name             string
		times, kills     []int // seconds
		all, unexplained int
	}{
		{"none", []int{1}, []int{2}, 0, 0},
		{"after a death", []int{1, 30}, []int{2}, 1, 0},
		{"after two", []int{1, 30, 60}, []int{2, 31}, 2, 0},
		{"after one of two", []int{1, 30, 60}, []int{2}, 2, 1},
		{"and no server had died", []int{1, 30}, nil, 1, 1},
		{"before the death", []int{1, 2}, []int{3}, 1, 1},
		{"after a death before either", []int{8, 30}, []int{2}, 1, 1},
		{"after a death that it was noted late of", []int{4, 30}, []int{2}, 1, 0},
		{"long before the death", []int{1, 30}, []int{20}, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var kills []time.Time
			for _, second := range test.kills {
				kills = append(kills, at(second))
			}
			s := newStreet(new(figures))
			for _, second := range test.times {
				s.note(letter{}, at(second), "id", nil)
			}
			if all, unexplained := s.repeats(kills); all != test.all || unexplained != test.unexplained {
				t.Errorf("%d, %d unexplained, want %d and %d", all, unexplained, test.all, test.unexplained)
			}
		})
	}
}

// A request that comes again with another ID, or says something else, is a fault.
func TestArrivals(t *testing.T) {
	s := newStreet(new(figures))
	for _, a := range []struct {
		number   int
		id, body string
	}{{1, "a", "A"}, {2, "b", "B"}, {1, "a", "A"}, {2, "c", "B"}, {2, "b", "C"}} {
		s.note(letter{number: a.number}, at(a.number), a.id, []byte(a.body))
	}
	want := []string{"event 2 came to endpoint 0 as b and as c", "event 2 came to endpoint 0 as b and as b"}
	if diff := cmp.Diff(want, s.faults.faults); diff != "" {
		t.Error(diff)
	}
	if letters, repeats := s.count(); letters != 2 || repeats != 3 {
		t.Errorf("%d letters, %d repeats", letters, repeats)
	}
	if missing := s.await(t.Context(), 3, 0); missing != 1 {
		t.Errorf("%d missing", missing)
	}
}

// Shares below what is promised break the promise.
func TestPrintBurst(t *testing.T) {
	all := []rates{{1000, 4000, 0}, {1600, 4000, 0}, {1200, 4000, 0}}
	for least, want := range map[float64]error{0.30: nil, 0.31: errBroken} {
		if err := printBurst(new(bytes.Buffer), all, least); !errors.Is(err, want) {
			t.Errorf("at least %v: %v", least, err)
		}
	}
}
