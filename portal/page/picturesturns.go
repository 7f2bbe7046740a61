package page

import (
	"context"
	"slices"
	"sync"
	"time"
)

// turns let so many work at once. Who waits gets a turn in the order of coming, but those for whose
// process fewer are at work come first, and after a turn the others of its process go to the end of the
// line: somebody who asks for all pages of a long document at once keeps nobody else from theirs.
type turns struct {
	lock    sync.Mutex
	free    int
	most    int // who may wait
	ofOne   int // of them of one process
	working map[string]int
	waiting []*turn
}

type turn struct {
	process string
	given   chan struct{} // closed when it is
}

func newTurns(n, waiting, ofOne int) *turns {
	return &turns{free: n, most: waiting, ofOne: ofOne, working: make(map[string]int)}
}

// wait waits for a turn, for so long at most. errBusy, or the error of ctx.
func (t *turns) wait(ctx context.Context, process string, patience time.Duration) error {
	mine, err := t.ask(process)
	if err != nil {
		return err
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-mine.given:
		return nil
	case <-late.C:
		err = errBusy
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !t.withdraw(mine) { // it was given at the same time
		t.done(process)
	}
	return err
}

func (t *turns) ask(process string) (*turn, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if len(t.waiting) >= t.most || t.waitingOf(process) >= t.ofOne {
		return nil, errBusy
	}
	mine := &turn{process, make(chan struct{})}
	t.waiting = append(t.waiting, mine)
	t.give()
	return mine, nil
}

func (t *turns) waitingOf(process string) (n int) {
	for _, one := range t.waiting {
		if one.process == process {
			n++
		}
	}
	return n
}

// withdraw says whether the turn was not given.
func (t *turns) withdraw(mine *turn) bool {
	t.lock.Lock()
	defer t.lock.Unlock()
	i := slices.Index(t.waiting, mine)
	if i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	}
	return i >= 0
}

// done gives a turn back.
func (t *turns) done(process string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.free++
	if t.working[process]--; t.working[process] == 0 {
		delete(t.working, process)
	}
	t.give()
}

// give gives the turns that are free to who waits.
func (t *turns) give() {
	for t.free > 0 && len(t.waiting) > 0 {
		next := 0
		for i, one := range t.waiting {
			if t.working[one.process] < t.working[t.waiting[next].process] {
				next = i
			}
		}
		one := t.waiting[next]
		t.waiting = slices.Delete(t.waiting, next, next+1)
		t.toTheEnd(one.process)
		t.free--
		t.working[one.process]++
		close(one.given)
	}
}

// toTheEnd lets all others go before those of a process.
func (t *turns) toTheEnd(process string) {
	var others, own []*turn
	for _, one := range t.waiting {
		if one.process == process {
			own = append(own, one)
		} else {
			others = append(others, one)
		}
	}
	t.waiting = append(others, own...)
}
