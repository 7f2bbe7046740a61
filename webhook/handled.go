package webhook

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Handled remembers which events were handled. A database that events are handled in is the best
// place for it: with the ID of the event and what it leads to in one transaction, an event has its
// effect once, whatever crashes when (docs/webhooks.md).
type Handled interface {
	// Once calls handle, unless a call of it has returned nil before for the same id, and then
	// remembers the id for longer than the service repeats events, which is 33 hours. It returns
	// nil when the event has been handled, and only once that will not be forgotten; the error of
	// handle otherwise. What handle did not return from, because of a panic or a crash, may be
	// called again.
	//
	// Once is called by several goroutines. There are never two calls of handle for one id at a
	// time: the second waits for the first, or is refused with [ErrBusy] and comes again later.
	Once(ctx context.Context, id string, handle func(ctx context.Context) error) error
}

// ErrBusy: the event is being handled at this moment.
var ErrBusy = errors.New("webhook: the event is being handled")

const (
	// rememberedFor is longer than from the first attempt to the last, which is 32 hours, 36
	// minutes and 10 seconds and eight times what an endpoint has to answer (spec 5.7).
	rememberedFor = 48 * time.Hour
	maxRemembered = 100_000
)

// recent remembers in memory what was handled lately.
type recent struct {
	mu      sync.Mutex
	running map[string]bool
	handled map[string]bool
	order   []remembered // the IDs of handled, the earliest first
}

type remembered struct {
	id string
	at time.Time
}

var _ Handled = (*recent)(nil)

func newRecent() *recent {
	return &recent{running: make(map[string]bool), handled: make(map[string]bool)}
}

func (r *recent) Once(ctx context.Context, id string, handle func(ctx context.Context) error) error {
	if handled, err := r.begin(id); handled || err != nil {
		return err
	}
	succeeded := false
	defer func() { r.end(id, succeeded) }() // also in a panic, which goes on
	if err := handle(ctx); err != nil {
		return err
	}
	succeeded = true
	return nil
}

func (r *recent) begin(id string) (handled bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handled[id] {
		return true, nil
	}
	if r.running[id] {
		return false, ErrBusy
	}
	r.running[id] = true
	return false, nil
}

func (r *recent) end(id string, succeeded bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, id)
	if succeeded {
		now := time.Now()
		r.handled[id] = true
		r.order = append(r.order, remembered{id, now})
		r.forget(now.Add(-rememberedFor))
	}
}

// forget removes what was handled before the time given, and the earliest of what is too many.
func (r *recent) forget(before time.Time) {
	for len(r.order) > maxRemembered || len(r.order) > 0 && r.order[0].at.Before(before) {
		delete(r.handled, r.order[0].id)
		r.order = r.order[1:]
	}
}
