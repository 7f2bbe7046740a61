package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What the trace shows is what is counted.
func TestTrace(t *testing.T) {
	for name, test := range map[string]struct {
		lines string
		want  calls
	}{
		"one signature": {`begin r call 1 10
begin r return 1 waiting 11
poll r call 2 20
poll r return 2 waiting 21
poll r call 1 30
poll r return 1 needdigest 31
sign r call 1 32
sign r return 1 signed 33
`, calls{made: 4}},
		"two servers at once": {`poll r call 1 10
poll r call 2 11
poll r return 1 waiting 12
poll r return 2 waiting 13
`, calls{made: 2, overlap: 1}},
		"two requests at once": {`poll r call 1 10
poll s call 2 11
`, calls{made: 2}},
		"after one that died in the call": {`poll r call 1 10
killed 1 11
poll r call 2 12
`, calls{made: 2}},
		"asked twice": {`sign r call 1 10
sign r return 1 signed 11
sign r call 2 12
sign r return 2 signed 13
`, calls{made: 2, doubled: 1}},
		"asked again for one that died with the answer": {`sign r call 1 10
sign r return 1 signed 11
killed 1 12
sign r call 2 13
sign r return 2 signed 14
`, calls{made: 2, again: 1}},
		"asked again though the answer was stored": {`sign r call 1 10
sign r return 1 signed 11
sign r stored 1 12
killed 1 13
sign r call 2 14
sign r return 2 signed 15
`, calls{made: 2, doubled: 1}},
		"what is stored is that the person has not answered": {`poll r call 1 10
poll r return 1 waiting 11
poll r stored 1 12
poll r call 1 20
poll r return 1 signed 21
killed 1 22
poll r call 2 23
poll r return 2 signed 24
poll r stored 2 25
`, calls{made: 3, again: 1}},
		"an error is no answer": {`begin r call 1 10
begin r return 1 error 11
begin r call 1 12
begin r return 1 waiting 13
`, calls{made: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace")
			if err := os.WriteFile(path, []byte(test.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := readTrace(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(calls{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := readTrace(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no trace is no fault")
	}
}

// Two requests that held one signal at the same time are found.
func TestHolders(t *testing.T) {
	h := &holders{held: make(map[string][]*hold)}
	one := h.holds("a", answer{received: at(1)})
	one.endedAt(at(5))
	one.endedAt(at(9)) // the first counts
	h.holds("a", answer{received: at(6)})
	h.holds("b", answer{received: at(2)})
	if n := h.overlaps(); n != 0 {
		t.Errorf("%d overlaps, want none", n)
	}
	h.holds("a", answer{received: at(4)}).endedAt(at(7))
	if n := h.overlaps(); n != 2 {
		t.Errorf("%d overlaps, want 2", n)
	}
}

func at(second int) time.Time { return time.Unix(int64(second), 0) }
