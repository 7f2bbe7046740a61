package main

import (
	"sync"
	"time"
)

// holders knows who holds a busy signal for certain, as its clients see it: from the
// answer of the start call until the poll is sent that may be the last. When two such
// times overlap, two requests held one signal.
type holders struct {
	mu   sync.Mutex
	held map[string][]*hold // by signal
}

type hold struct {
	all      *holders
	from, to time.Time // to is zero while it lasts
}

// holds notes that a request was started. The first answer that may have come of its start
// call is not known when calls were cut off, and the last one is later.
func (h *holders) holds(signal string, started answer) *hold {
	new := &hold{all: h, from: started.received}
	if signal != "" {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.held[signal] = append(h.held[signal], new)
	}
	return new
}

// endedAt notes when a poll was sent that may have ended the request. The first such poll
// counts.
func (h *hold) endedAt(t time.Time) {
	h.all.mu.Lock()
	defer h.all.mu.Unlock()
	if h.to.IsZero() || t.Before(h.to) {
		h.to = t
	}
}

// overlaps counts the pairs of requests that held one signal at once.
func (h *holders) overlaps() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, holds := range h.held {
		for i, a := range holds {
			for _, b := range holds[:i] {
				if a.before(b.to) && b.before(a.to) {
					n++
				}
			}
		}
	}
	return n
}

// before says whether the hold began before the end of another, which may have none.
func (h *hold) before(end time.Time) bool { return end.IsZero() || h.from.Before(end) }
