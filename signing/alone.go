package signing

import (
	"sync"
	"time"

	"github.com/innsigli/innsigli/idp"
)

// alone has what the only process of a store ([Options.SingleProcess]) knows of requests beside their records: who has a
// lease, and what the provider said while the person has not answered. Both are void when the process dies. Then no
// session is left that could have the lease, and the provider is asked again.
type alone struct {
	mu     sync.Mutex
	leases map[string]chan struct{} // by request; closed when the lease is released
	waits  map[string]waitingAnswer // by request
	swept  time.Time                // when answers were last looked for whose requests have expired
}

// waitingAnswer is what changes in a request by an answer of the provider that the person has not answered.
type waitingAnswer struct {
	revision int64 // of the record that it changes
	state    idp.State
	expires  time.Time
	nextAsk  time.Time
	code     string
}

const (
	// maxWaits bounds the answers that are kept, some 1 KB each. Further ones are stored.
	maxWaits = 10_000
	// sweepPause is how often all of them are looked at for those whose requests have expired.
	sweepPause = time.Second
)

// acquire takes the lease of a request. If another session has it, released is closed when that one releases it.
func (a *alone) acquire(id string) (released <-chan struct{}, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if held, found := a.leases[id]; found {
		return held, false
	}
	if a.leases == nil {
		a.leases, a.waits = make(map[string]chan struct{}), make(map[string]waitingAnswer)
	}
	a.leases[id] = make(chan struct{})
	return nil, true
}

// release releases the lease of a request. Only its holder calls it.
func (a *alone) release(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if held, found := a.leases[id]; found {
		close(held)
		delete(a.leases, id)
	}
}

// isHeld reports whether a session has the lease of a request.
func (a *alone) isHeld(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, held := a.leases[id]
	return held
}

// keep keeps what an answer of the provider changes in a request, in place of storing it. It returns false if there is no
// room.
func (a *alone) keep(r *Request, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, found := a.waits[r.ID]; !found && len(a.waits) >= maxWaits {
		a.sweep(now)
		if len(a.waits) >= maxWaits {
			return false
		}
	}
	a.waits[r.ID] = waitingAnswer{revision: r.Revision, state: r.State, expires: r.Expires, nextAsk: r.NextAsk, code: r.Code}
	return true
}

// sweep drops answers whose requests have expired, unless it did so just before. The answer of a request whose lease is held
// stays: its session compares the record with it. The caller holds mu.
func (a *alone) sweep(now time.Time) {
	at := time.Now() // time: limits the work, whatever time the account has
	if at.Sub(a.swept) < sweepPause {
		return
	}
	a.swept = at
	for id, w := range a.waits {
		if _, held := a.leases[id]; !held && now.After(w.expires) {
			delete(a.waits, id)
		}
	}
}

// complement changes a request as it is stored to what it is by the answer that was kept since, if there is one.
func (a *alone) complement(r *Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if w, found := a.waits[r.ID]; found && w.revision == r.Revision {
		r.State, r.Expires, r.NextAsk, r.Code = w.state, w.expires, w.nextAsk, w.code
	}
}

// forget drops the answer that was kept for a request, whose record now has it.
func (a *alone) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waits, id)
}
