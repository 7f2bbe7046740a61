package admission

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrBusy: the queue was full, or there was no place for as long as the caller may wait.
var ErrBusy = errors.New("admission: too many wait")

// Queue admits callers to a limited number of places. It is fair among accounts, and among the groups of an account:
//
//   - An account has at most all places but one, so that another account finds a place at once. So have all groups together
//     whose turns are long, and those of one account have one place less, so that its other groups find one.
//   - A free place goes to the account that has the fewest places, then to the group that has the fewest, then to the
//     caller that came first. After each turn, the account and the group go behind all others.
//   - If too many wait, the one is refused that came last of the account that has the most waiting, in its group that has
//     the most. So no account is refused because of another that has more waiting.
//
// It may be used by several goroutines.
type Queue struct {
	places     int
	maxWaiting int

	mu      sync.Mutex
	free    int       // places
	has     tally     // places
	long    tally     // places of groups whose turns are long
	waiting []*ticket // in the order in which they get a place, but for the places that they have
}

// Group is a part of an account's work, such as that for one document.
type Group struct {
	Account, Name string
	Long          bool // its turns may be long
}

// tally counts by account and by group.
type tally struct {
	all      int
	accounts map[string]int
	groups   map[Group]int
}

func newTally() tally { return tally{accounts: make(map[string]int), groups: make(map[Group]int)} }

func (t *tally) add(g Group, n int) {
	t.all += n
	if t.accounts[g.Account] += n; t.accounts[g.Account] == 0 {
		delete(t.accounts, g.Account)
	}
	if t.groups[g] += n; t.groups[g] == 0 {
		delete(t.groups, g)
	}
}

// compare returns -1 if the account of a has less than that of b, or as much and the group a has less than b; 0 if both
// have as much; else 1.
func (t *tally) compare(a, b Group) int {
	return cmp.Or(cmp.Compare(t.accounts[a.Account], t.accounts[b.Account]), cmp.Compare(t.groups[a], t.groups[b]))
}

// ticket is a caller that waits. answered is closed when it has a place, or is refused.
type ticket struct {
	group    Group
	answered chan struct{}
	err      error // set when answered is closed
}

// NewQueue returns a queue for a number of places, in which at most maxWaiting callers wait.
func NewQueue(places, maxWaiting int) *Queue {
	return &Queue{places: places, maxWaiting: maxWaiting, free: places, has: newTally(), long: newTally()}
}

// Acquire waits for a place, at most for the timeout. The caller must call release, which may be called more than once.
// Errors: [ErrBusy], and that of the context.
func (q *Queue) Acquire(ctx context.Context, g Group, timeout time.Duration) (release func(), err error) {
	own := q.enqueue(g)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-own.answered:
		err = own.err
	case <-timer.C:
		err = q.withdraw(own, ErrBusy)
	case <-ctx.Done():
		err = q.withdraw(own, ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { q.release(g) }), nil
}

// enqueue adds a caller, and refuses one if too many wait then.
func (q *Queue) enqueue(g Group) *ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := &ticket{group: g, answered: make(chan struct{})}
	q.waiting = append(q.waiting, own)
	q.dispatch()
	if len(q.waiting) > q.maxWaiting {
		q.refuseOne()
	}
	return own
}

// withdraw removes a caller that waits, and returns why. It returns the answer if the caller was answered before.
func (q *Queue) withdraw(own *ticket, why error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, own); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return why
	}
	return own.err
}

// release frees a place.
func (q *Queue) release(g Group) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count(g, -1)
	q.dispatch()
}

// count counts places of a group.
func (q *Queue) count(g Group, n int) {
	q.free -= n
	q.has.add(g, n)
	if g.Long {
		q.long.add(g, n)
	}
}

// dispatch gives free places to those that wait. The caller holds mu.
func (q *Queue) dispatch() {
	for q.free > 0 {
		next := q.next()
		if next < 0 {
			return
		}
		own := q.waiting[next]
		q.waiting = slices.Delete(q.waiting, next, next+1)
		q.moveBack(func(g Group) bool { return g == own.group })
		q.moveBack(func(g Group) bool { return g.Account == own.group.Account })
		q.count(own.group, 1)
		close(own.answered)
	}
}

// next returns the index of the ticket that gets the next place, or -1.
func (q *Queue) next() int {
	found := -1
	for i, one := range q.waiting {
		if !q.mayHave(one.group) {
			continue
		}
		if found < 0 || q.has.compare(one.group, q.waiting[found].group) < 0 {
			found = i
		}
	}
	return found
}

// mayHave reports whether a group may have one more place.
func (q *Queue) mayHave(g Group) bool {
	allBut := func(n int) int { return max(1, q.places-n) }
	return q.has.accounts[g.Account] < allBut(1) && (!g.Long || q.long.all < allBut(1) && q.long.accounts[g.Account] < allBut(2))
}

// moveBack moves the tickets of some groups behind all others.
func (q *Queue) moveBack(moved func(Group) bool) {
	var behind []*ticket
	q.waiting = slices.DeleteFunc(q.waiting, func(one *ticket) bool {
		if moved(one.group) {
			behind = append(behind, one)
			return true
		}
		return false
	})
	q.waiting = append(q.waiting, behind...)
}

// refuseOne refuses the last ticket of the group that has the most waiting, of the account that has the most.
func (q *Queue) refuseOne() {
	waiting := newTally()
	for _, one := range q.waiting {
		waiting.add(one.group, 1)
	}
	last := 0
	for i, one := range q.waiting {
		if waiting.compare(one.group, q.waiting[last].group) >= 0 {
			last = i
		}
	}
	own := q.waiting[last]
	q.waiting = slices.Delete(q.waiting, last, last+1)
	own.err = ErrBusy
	close(own.answered)
}
