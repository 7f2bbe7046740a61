package postgres

import (
	"errors"
	"testing"
	"time"
)

func TestClocksHaveToAgree(t *testing.T) {
	before := time.Date(2026, 6, 17, 12, 0, 0, 0, time.UTC)
	after := before.Add(5 * time.Second) // the answer took its time
	for there, want := range map[time.Duration]error{
		-2001 * time.Millisecond: ErrClock,
		-1999 * time.Millisecond: nil,
		0:                        nil,
		6999 * time.Millisecond:  nil,
		7001 * time.Millisecond:  ErrClock,
		time.Hour:                ErrClock,
	} {
		if err := agrees(before, before.Add(there), after); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", there, err, want)
		}
	}
}
