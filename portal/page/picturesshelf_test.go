package page

import (
	"math/rand/v2"
	"testing"
	"time"
)

type weighing int

func (w weighing) cost() int { return int(w) }

// The room is never exceeded, what is counted is what is there, and what was used last stays.
func TestShelfHasRoomForSoMuch(t *testing.T) {
	t.Parallel()
	const room = 100_000
	s, at, random := newCache(room, time.Hour), time.Now(), rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		k := cacheKey{page: random.IntN(40)}
		s.put(k, weighing(random.IntN(room/4-entryOverhead)), at)
		if s.get(k, at) == nil {
			t.Fatal("what was put there last is gone")
		}
		sum := 0
		for e := s.lru.Front(); e != nil; e = e.Next() {
			sum += e.Value.(*cacheEntry).cost()
		}
		if sum != s.used || sum > room || s.lru.Len() != len(s.entries) {
			t.Fatalf("%d bytes, counted %d, of %d; %d and %d things", sum, s.used, room, s.lru.Len(), len(s.entries))
		}
	}
	s.put(cacheKey{page: 99}, weighing(room/2), at)
	if s.get(cacheKey{page: 99}, at) != nil {
		t.Error("one thing takes the room of many")
	}
}

func TestShelfForgets(t *testing.T) {
	t.Parallel()
	s, at := newCache(1<<20, time.Minute), time.Now()
	s.put(cacheKey{page: 1}, weighing(1), at)
	s.put(cacheKey{page: 2}, weighing(2), at)
	if at = at.Add(50 * time.Second); s.get(cacheKey{page: 1}, at) != weighing(1) {
		t.Error("forgotten too soon")
	}
	at = at.Add(50 * time.Second)
	if s.get(cacheKey{page: 2}, at) != nil || s.get(cacheKey{page: 1}, at) != weighing(1) {
		t.Error("what was not used is kept, or what was is not")
	}
	if s.evictExpired(at.Add(time.Hour)); s.used != 0 || len(s.entries) != 0 {
		t.Errorf("%d bytes and %d things are left", s.used, len(s.entries))
	}
}
