package page

import (
	"container/list"
	"time"
)

// shelf keeps what was made: up to a number of bytes, and each thing for a time after its last use. It
// is used by one at a time.
type shelf struct {
	room, used int
	time       time.Duration
	things     map[key]*list.Element
	order      *list.List // of *thing, the last used first
}

type thing struct {
	key  key
	kept kept
	last time.Time
}

// thingWeight is what a thing takes beside what it says.
const thingWeight = 512

func newShelf(room int, d time.Duration) *shelf {
	return &shelf{room: room, time: d, things: make(map[key]*list.Element), order: list.New()}
}

// take returns what is kept under a key; nil: nothing.
func (s *shelf) take(k key, now time.Time) kept {
	s.forget(now)
	e := s.things[k]
	if e == nil {
		return nil
	}
	s.order.MoveToFront(e)
	e.Value.(*thing).last = now
	return e.Value.(*thing).kept
}

// put keeps something, in the room of what was used the longest time ago.
func (s *shelf) put(k key, what kept, now time.Time) {
	if e := s.things[k]; e != nil {
		s.remove(e)
	}
	t := &thing{k, what, now}
	if t.weight() > s.room/4 { // for which much else would have to go
		return
	}
	s.things[k] = s.order.PushFront(t)
	s.used += t.weight()
	for s.used > s.room {
		s.remove(s.order.Back())
	}
}

// forget removes what was not used for too long: documents do not stay in memory after their readers
// have gone.
func (s *shelf) forget(now time.Time) {
	for e := s.order.Back(); e != nil && now.Sub(e.Value.(*thing).last) > s.time; e = s.order.Back() {
		s.remove(e)
	}
}

func (s *shelf) remove(e *list.Element) {
	t := s.order.Remove(e).(*thing)
	delete(s.things, t.key)
	s.used -= t.weight()
}

func (t *thing) weight() int { return t.kept.weight() + thingWeight }
