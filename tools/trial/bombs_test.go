package main

import (
	"bytes"
	"errors"
	"net/http"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// A costly page is sent and opened, and an account starts requests beside another's flood. How long these wait is for the
// benchmark to judge.
func TestBombs(t *testing.T) {
	testenv.Slow(t, "pages take long")
	trial(t, "bombs", "-store", backends[0].store(t), "-only", "twofold", "-starts", "5", "-flood", "4", "-times", "1e9")
}

// What is judged.
func TestBombsAreJudged(t *testing.T) {
	starts := func(statuses tally, took time.Duration) timedStarts {
		return timedStarts{statuses: statuses, took: []time.Duration{took, took}}
	}
	well := tally{http.StatusOK: 2}
	for name, test := range map[string]struct {
		bomb   bombed
		beside timedStarts
		want   error
	}{
		"all is well":        {bombed{peak: bombPeak, rested: bombRested - 1}, starts(well, 3*time.Second), nil},
		"too much memory":    {bombed{peak: bombPeak + 1}, starts(well, time.Second), errBroken},
		"memory stays":       {bombed{rested: bombRested}, starts(well, time.Second), errBroken},
		"a start is refused": {bombed{}, starts(tally{http.StatusOK: 1, http.StatusServiceUnavailable: 1}, time.Second), errBroken},
		"others wait":        {bombed{}, starts(well, 4*time.Second), errBroken},
	} {
		b := bombs{starts: 2, times: floodFactor}
		if err := b.judge(new(bytes.Buffer), []bombed{{}, test.bomb}, starts(well, time.Second), test.beside); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}
