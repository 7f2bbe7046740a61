package page

import (
	"context"
	"slices"
	"sync"
	"time"
)

// renderQueue limits concurrent work. Waiting tickets are served first come, first served, with two exceptions:
// a process with fewer running tickets goes first, and after each ticket the others of its process move to the
// end. So a request for all pages of a long document does not delay others.
type renderQueue struct {
	mu            sync.Mutex
	free          int            // tickets that may start
	maxWaiting    int            // tickets in the queue
	maxPerProcess int            // of them of one process
	running       map[string]int // by process
	waiting       []*ticket
}

// ticket is a place in the queue.
type ticket struct {
	process string
	granted chan struct{} // closed when the ticket may start
}

// newRenderQueue returns a queue of so many concurrent tickets.
func newRenderQueue(atOnce, maxWaiting, maxPerProcess int) *renderQueue {
	return &renderQueue{free: atOnce, maxWaiting: maxWaiting, maxPerProcess: maxPerProcess, running: make(map[string]int)}
}

// acquire waits until a ticket of the process may start, at most for the timeout. The caller calls release
// afterwards. Errors: errBusy, the error of ctx.
func (q *renderQueue) acquire(ctx context.Context, process string, timeout time.Duration) error {
	own, err := q.enqueue(process)
	if err != nil {
		return err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-own.granted:
		return nil
	case <-timer.C:
		err = errBusy
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !q.withdraw(own) { // granted at the same time
		q.release(process)
	}
	return err
}

// enqueue adds a ticket, or returns errBusy if the queue is full.
func (q *renderQueue) enqueue(process string) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= q.maxWaiting || q.queuedFor(process) >= q.maxPerProcess {
		return nil, errBusy
	}
	own := &ticket{process, make(chan struct{})}
	q.waiting = append(q.waiting, own)
	q.dispatch()
	return own, nil
}

// queuedFor counts the waiting tickets of a process.
func (q *renderQueue) queuedFor(process string) (n int) {
	for _, one := range q.waiting {
		if one.process == process {
			n++
		}
	}
	return n
}

// withdraw removes a waiting ticket, and reports whether it had not been granted.
func (q *renderQueue) withdraw(own *ticket) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, own)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// release ends a ticket of the process.
func (q *renderQueue) release(process string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	if q.running[process]--; q.running[process] == 0 {
		delete(q.running, process)
	}
	q.dispatch()
}

// dispatch grants tickets while any are free.
func (q *renderQueue) dispatch() {
	for q.free > 0 && len(q.waiting) > 0 {
		next := 0
		for i, one := range q.waiting {
			if q.running[one.process] < q.running[q.waiting[next].process] {
				next = i
			}
		}
		one := q.waiting[next]
		q.waiting = slices.Delete(q.waiting, next, next+1)
		q.moveToEnd(one.process)
		q.free--
		q.running[one.process]++
		close(one.granted)
	}
}

// moveToEnd moves the tickets of a process behind all others.
func (q *renderQueue) moveToEnd(process string) {
	var others, own []*ticket
	for _, one := range q.waiting {
		if one.process == process {
			own = append(own, one)
		} else {
			others = append(others, one)
		}
	}
	q.waiting = append(others, own...)
}
