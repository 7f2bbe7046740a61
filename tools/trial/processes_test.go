package main

import (
	"bytes"
	"errors"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Processes are created and read, and their documents, on a store that has others. How long that takes
// beside a great number of them is for the benchmark to judge.
func TestProcesses(t *testing.T) {
	testenv.Slow(t, "thousands of processes are made")
	h, err := newHouse(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.remove(); err != nil {
			t.Error(err)
		}
	})
	for _, on := range backends {
		t.Run(on.name, func(t *testing.T) {
			t.Parallel()
			const rounds = 5
			list, err := h.processTimes(t.Context(), on.store(t), on.store(t), 500, rounds)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range list {
				if len(call.empty) != rounds || len(call.full) != rounds {
					t.Errorf("%s: %d and %d calls", call.call, len(call.empty), len(call.full))
				}
			}
			var out bytes.Buffer
			if err := printRatios(&out, "500 processes", list); err != nil && !errors.Is(err, errBroken) {
				t.Error(err)
			}
			ends(t, &out, nil)
		})
	}
}

// A call may take 1.2 times as long, by the median.
func TestRatios(t *testing.T) {
	empty := []time.Duration{10 * time.Millisecond, 10 * time.Millisecond, time.Second}
	for _, test := range []struct {
		full time.Duration
		want error
	}{{12 * time.Millisecond, nil}, {12001 * time.Microsecond, errBroken}} {
		usual := timed{"another", empty, empty}
		full := []time.Duration{0, test.full, time.Minute}
		if err := printRatios(new(bytes.Buffer), "a full one", []timed{usual, {"call", empty, full}, usual}); err != test.want {
			t.Errorf("%v: %v, want %v", test.full, err, test.want)
		}
	}
}
