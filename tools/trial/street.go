package main

import (
	"context"
	"fmt"
	"time"
)

// street is endpoints of one sort.
type street struct {
	*arrivals
	endpoints []*endpoint
}

func newStreet(faults *figures) *street {
	return &street{arrivals: &arrivals{faults: faults, all: make(map[letter]*arrival)}}
}

// build makes so many endpoints, which are numbered on. The account of each has its number.
func (s *street) build(ctx context.Context, o *office, from, n int) error {
	for i := from; i < from+n; i++ {
		e, err := newEndpoint(ctx, o, i, accountOf(i), s.arrivals)
		if err != nil {
			return fmt.Errorf("endpoint %d: %w", i, err)
		}
		s.endpoints = append(s.endpoints, e)
	}
	return nil
}

// answerIn has events answered after a time.
func (s *street) answerIn(d time.Duration) {
	for _, e := range s.endpoints {
		e.slow.Store(int64(d))
	}
}

func (s *street) close() {
	for _, e := range s.endpoints {
		e.close()
	}
}

func accountOf(number int) string { return fmt.Sprint("account ", number) }
