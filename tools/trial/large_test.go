package main

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Large documents that are signed at once take little of the server's memory, and all are signed by clients that
// come back when they are told to. How long that takes is for the benchmark to judge.
func TestLarge(t *testing.T) {
	testenv.Slow(t, "documents of 22 MB are signed")
	for _, on := range backends {
		t.Run(on.name, func(t *testing.T) {
			t.Parallel()
			trial(t, "large", "-store", on.store(t), "-requests", "4", "-within", longLarge.String())
		})
	}
}

// 40 documents of 22 MB at once are signed within 90 seconds, and the server has at most 256 MB.
func BenchmarkLarge(b *testing.B) {
	for _, on := range backends {
		b.Run(on.name, func(b *testing.B) {
			for b.Loop() {
				trial(b, "large", "-store", on.store(b))
			}
		})
	}
}

// What is judged.
func TestLargeIsJudged(t *testing.T) {
	const in = 10 * time.Second
	well := []largeOutcome{{signed: in}, {refused: 2, signed: in}, {refused: 1, signed: in}, {refused: 1, signed: in}}
	for name, test := range map[string]struct {
		change func(l *large, peak *int64, all []largeOutcome)
		broken bool
	}{
		"all is well":          {func(*large, *int64, []largeOutcome) {}, false},
		"too much memory":      {func(_ *large, peak *int64, _ []largeOutcome) { *peak = largeMemory + 1 }, true},
		"one too late":         {func(l *large, _ *int64, all []largeOutcome) { all[2].signed = l.within + 1 }, true},
		"one is lost":          {func(_ *large, _ *int64, all []largeOutcome) { all[3].err = errors.New("gone") }, true},
		"none gets in at once": {func(_ *large, _ *int64, all []largeOutcome) { all[0].refused = 1 }, true},
	} {
		l, peak, all := large{requests: 4, size: largestDocument, within: time.Minute}, int64(100<<20), append([]largeOutcome(nil), well...)
		test.change(&l, &peak, all)
		var out bytes.Buffer
		if diff := cmp.Diff(test.broken, errors.Is(l.judge(&out, peak, all), errBroken)); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, &out)
		}
	}
}
