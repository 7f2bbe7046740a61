package main

import (
	"bytes"
	"errors"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Clients that waste a server's time get what they deserve, and do not fill its memory; others go on. How
// much longer these wait is for the benchmark to judge. What is wasted is none of a store's, so one is the sample.
func TestSlow(t *testing.T) {
	testenv.Slow(t, "clients are slow")
	tried := backends[:1]
	if testenv.Full() {
		tried = backends
	}
	for _, on := range tried {
		t.Run(on.name, func(t *testing.T) {
			t.Parallel()
			trial(t, "slow", "-store", on.store(t), "-calls", "50", "-times", "1e9")
		})
	}
}

// Others' calls take at most twice as long, by the median.
func BenchmarkSlow(b *testing.B) {
	for _, on := range backends {
		b.Run(on.name, func(b *testing.B) {
			for b.Loop() {
				trial(b, "slow", "-store", on.store(b))
			}
		})
	}
}

// What is judged.
func TestSlowIsJudged(t *testing.T) {
	took := func(d time.Duration) []time.Duration { return []time.Duration{d, d, d} }
	for name, test := range map[string]struct {
		o    wasted
		want error
	}{
		"all is well":     {wasted{before: took(10), meanwhile: took(20), peak: largeMemory}, nil},
		"others wait":     {wasted{before: took(10), meanwhile: took(21)}, errBroken},
		"too much memory": {wasted{before: took(10), meanwhile: took(10), peak: largeMemory + 1}, errBroken},
		"a wrong answer":  {wasted{before: took(10), meanwhile: took(10), faults: []string{"200"}}, errBroken},
	} {
		if err := (slow{times: slowly}).judge(new(bytes.Buffer), test.o); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}
