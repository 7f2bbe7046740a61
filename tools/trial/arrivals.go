package main

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// arrivals are the events that some endpoints were sent.
type arrivals struct {
	faults *figures
	mu     sync.Mutex
	all    map[letter]*arrival
	last   time.Time // when one came that had not come before
}

// letter is an event on its way to an endpoint, by their numbers.
type letter struct{ endpoint, number int }

// arrival is when it came, the first time and again, and as what.
type arrival struct {
	times []time.Time
	id    string
	body  []byte
}

// note notes that a letter came. When it comes again it has the same ID and says the same.
func (a *arrivals) note(l letter, at time.Time, id string, body []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.all[l]
	switch {
	case known == nil:
		known = &arrival{id: id, body: body}
		a.all[l], a.last = known, at
	case known.id != id || !bytes.Equal(known.body, body):
		a.faults.fault("event %d came to endpoint %d as %s and as %s", l.number, l.endpoint, known.id, id)
	}
	known.times = append(known.times, at)
}

// count is how many letters have come, and how many times some of them came again.
func (a *arrivals) count() (letters, repeats int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, known := range a.all {
		repeats += len(known.times) - 1
	}
	return len(a.all), repeats
}

// await waits for so many letters, for so long at most, and says how many are missing.
func (a *arrivals) await(ctx context.Context, letters int, long time.Duration) (missing int) {
	over := time.Now().Add(long)
	for {
		a.mu.Lock()
		missing = letters - len(a.all)
		a.mu.Unlock()
		if missing <= 0 || time.Now().After(over) || ctx.Err() != nil {
			return missing
		}
		pause(ctx, 5*time.Millisecond)
	}
}
