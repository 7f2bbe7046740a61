package signing

import (
	"sync"
	"time"
)

// early looks up when the request was last polled, and applies tooEarly.
func (s *Service) early(r *Request, now time.Time) bool {
	if s.options.AnyPace {
		return false
	}
	last := r.PolledAt
	if here := s.pace.last(r.ID); here.After(last) {
		last = here
	}
	return tooEarly(last, now, s.options.Interval)
}

// tooEarly reports whether a poll comes before its time (spec 3.6): the
// first never does, later ones may come up to 20 % early.
func tooEarly(last, now time.Time, interval time.Duration) bool {
	return !last.IsZero() && now.Sub(last) < interval*8/10
}

// pace remembers when requests were polled without anything being stored.
//
// Polls that come too early are told so (spec 3.6): a rule that spares the provider
// and the store. A poll that takes the lease stores its time, so that every server knows it.
// One that only waits writes nothing, and does not ask the provider: its time is known to its own server
// and to no other, so a client whose polls go to several servers may hear of its haste later.
// Nothing depends on it: such polls are reads, and the provider is asked no sooner.
type pace struct {
	mu         sync.Mutex
	young, old map[string]time.Time
	began      time.Time // when young did
}

// paceLimit bounds how many requests a generation remembers. With more than that polled in
// one interval, some go unwarned.
const paceLimit = 10000

// note remembers a poll. What is older than an interval is no longer of use, and goes with
// its generation.
func (p *pace) note(id string, now time.Time, interval time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.young == nil || len(p.young) >= paceLimit || now.Sub(p.began) > interval {
		p.young, p.old, p.began = make(map[string]time.Time), p.young, now
	}
	p.young[id] = now
}

// last is when a request was polled, zero when that is not known or long ago.
func (p *pace) last(id string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.young[id]; ok {
		return at
	}
	return p.old[id]
}
