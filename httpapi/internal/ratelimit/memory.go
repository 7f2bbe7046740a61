package ratelimit

import (
	"sync"
	"time"
)

// most is how many keys are remembered at least, of those that were used last. There are never more than twice as many.
const most = 20_000

// bucket is that of one key.
type bucket struct {
	turn chan struct{} // has an element while somebody is at it, who may be asking the store
	level
	block
}

func newBucket() *bucket { return &bucket{turn: make(chan struct{}, 1)} }

func (b *bucket) lock()   { b.turn <- struct{}{} }
func (b *bucket) unlock() { <-b.turn }

// memory has the buckets. It forgets those that were not used for a whole age, or, when there are too many,
// since as many others were.
type memory struct {
	age time.Duration

	mu         sync.Mutex
	young, old map[string]*bucket
	youngSince time.Time
}

func newMemory(age time.Duration) *memory {
	return &memory{age: age, young: make(map[string]*bucket)}
}

func (m *memory) bucket(key string, now time.Time) *bucket {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.young) >= most || now.Sub(m.youngSince) > m.age {
		m.young, m.old, m.youngSince = make(map[string]*bucket), m.young, now
	}
	b := m.young[key]
	if b == nil {
		if b = m.old[key]; b == nil {
			b = newBucket()
		}
		delete(m.old, key)
		m.young[key] = b
	}
	return b
}
