package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Servers deliver what clients begin, as fast as they can and at a steady rate with a burst. How fast is for the benchmark to
// judge.
func TestCapacity(t *testing.T) {
	testenv.Slow(t, "servers sign for seconds")
	for _, on := range backends {
		t.Run(on.name, func(t *testing.T) {
			t.Parallel()
			trial(t, "capacity", "-store", on.store(t), "-clients", "2", "-duration", span(t).String(), "-floor", "100ms")
		})
	}
	t.Run("two servers at a rate", func(t *testing.T) {
		t.Parallel()
		trial(t, "capacity", "-store", backends[1].store(t), "-servers", "2", "-rate", "4", "-duration", span(t).String(), "-floor", "0", "-times", "+Inf", "-drift", "+Inf")
	})
}

// What is judged.
func TestCapacityIsJudged(t *testing.T) {
	const usual = 10 * time.Millisecond
	steady := func(n int, at func(i int) time.Duration) (all []signed) {
		for i := range n {
			began := time.Duration(i) * time.Minute / time.Duration(n)
			all = append(all, signed{began: began, took: at(i), ended: began})
		}
		return all
	}
	well := func(int) time.Duration { return usual }
	for name, test := range map[string]struct {
		change func(*capacity, *measured)
		broken bool
	}{
		"all is well":      {func(*capacity, *measured) {}, false},
		"too slow":         {func(c *capacity, _ *measured) { c.least = 11 }, true},
		"too many commits": {func(_ *capacity, m *measured) { m.cost.commits = 600*4 + 1 }, true},
		"too much CPU":     {func(_ *capacity, m *measured) { m.cost.cpu = 600*4*time.Millisecond + 30*time.Millisecond }, true},
		"one is lost":      {func(_ *capacity, m *measured) { m.all[5].err = errors.New("gone") }, true},
		"none":             {func(_ *capacity, m *measured) { m.all = nil }, true},
		"a long tail": {func(c *capacity, m *measured) {
			m.all = steady(600, func(i int) time.Duration { return usual * time.Duration(1+i%50/49*4) })
		}, true},
		"drift": {func(c *capacity, m *measured) {
			m.all = steady(600, func(i int) time.Duration { return usual + usual*time.Duration(i)/600 })
		}, true},
		"a burst is over": {func(c *capacity, m *measured) {
			c.burst, m.all = 300, steady(600, func(i int) time.Duration { return usual * time.Duration(max(1, 100-i)) })
		}, false},
		"a burst is never over": {func(c *capacity, m *measured) {
			c.burst, m.all = 300, steady(600, func(i int) time.Duration { return usual * time.Duration(max(1, 400-i)) })
		}, true},
	} {
		c := capacity{rate: 10, span: time.Minute, commits: 4, cpu: 4 * time.Millisecond, tail: tailFactor, drift: driftFactor}
		m := measured{all: steady(600, well), cost: spent{commits: 600 * 4, cpu: 600 * 4 * time.Millisecond}}
		test.change(&c, &m)
		var out bytes.Buffer
		if got := errors.Is(c.judge(&out, m), errBroken); got != test.broken {
			t.Errorf("%s: broken %v\n%s", name, got, &out)
		}
	}
}

// Each transaction that a bbolt file commits counts.
func TestBoltCommits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	before, err := boltCommits(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(5) {
		if err := db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucketIfNotExists([]byte{byte(i)}); return err }); err != nil {
			t.Fatal(err)
		}
		if now, err := boltCommits(path); err != nil || now != before+i+1 {
			t.Errorf("after %d commits: %d, before %d, %v", i+1, now, before, err)
		}
	}
	if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := boltCommits(path); err == nil {
		t.Error("no error for another file")
	}
}

// BenchmarkCapacity holds servers at a rate that they can keep to the promise about their times.
func BenchmarkCapacity(b *testing.B) {
	for _, on := range backends {
		b.Run(on.name, func(b *testing.B) {
			for b.Loop() {
				trial(b, "capacity", "-store", on.store(b), "-rate", "10", "-duration", time.Minute.String())
			}
		})
	}
}
