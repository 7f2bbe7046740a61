package pdfium

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Memory of instances, in bytes.
const (
	// maxMemory is the most memory that one instance may have.
	maxMemory = 256 << 20
	// keptMemory is the memory that each instance has without asking, and the most that an instance keeps
	// when it is idle. A new instance has 18 MiB.
	keptMemory = 32 << 20
	// sharedMemory is the memory for each further instance in the default of Options.Memory.
	sharedMemory = 48 << 20
)

// errMemory is returned when a page needs more memory than an instance may have.
var errMemory = errors.New("pdfium: the page needs too much memory")

// memoryBudget limits the memory of all instances together. Each instance has keptMemory. They share what is left,
// and each may get so much of it that it has the limit of an instance. An instance waits for memory while the others
// have too much.
//
// Instances that wait for one another would wait forever. So memory is only granted if afterwards all instances could
// get the limit, one after another, each with what those before it returned (the banker's algorithm).
type memoryBudget struct {
	each   int64 // most that one instance gets of the shared memory
	shared int64 // bytes

	mu      sync.Mutex
	granted map[*linearMemory]int64 // bytes of the shared memory
	waiting []*memoryRequest        // in the order of their arrival
	inUse   int64                   // bytes of all instances
	peak    int64                   // the most that inUse has been
}

// memoryRequest is an instance that waits until it may have size bytes.
type memoryRequest struct {
	memory  *linearMemory
	size    int64
	granted chan struct{} // closed when it may
}

// newMemoryBudget divides a number of bytes among instances. It is at least keptMemory for each.
func newMemoryBudget(size int64, instances int) *memoryBudget {
	shared := max(0, size-keptMemory*int64(instances))
	return &memoryBudget{each: min(shared, maxMemory-keptMemory), shared: shared, granted: make(map[*linearMemory]int64)}
}

// grow waits until a memory may have size bytes. Errors: errMemory if no instance may have so much, and that of ctx.
func (b *memoryBudget) grow(ctx context.Context, m *linearMemory, size int64) error {
	if size-keptMemory > b.each {
		return errMemory
	}
	b.mu.Lock()
	if b.tryGrant(m, size) {
		b.mu.Unlock()
		return nil
	}
	own := &memoryRequest{m, size, make(chan struct{})}
	b.waiting = append(b.waiting, own)
	b.mu.Unlock()
	select {
	case <-own.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiting, own); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		return ctx.Err()
	}
	return nil // granted at the same time
}

// tryGrant grants a memory size bytes if that leaves enough for all others. The caller holds mu.
func (b *memoryBudget) tryGrant(m *linearMemory, size int64) bool {
	before := b.granted[m]
	if size > keptMemory {
		b.granted[m] = size - keptMemory
		if !b.isSafe() {
			b.granted[m] = before
			return false
		}
	}
	b.inUse += size - m.counted
	b.peak = max(b.peak, b.inUse)
	m.counted = size
	return true
}

// isSafe reports whether all instances can get the limit one after another. Those that have most need least.
func (b *memoryBudget) isSafe() bool {
	free := b.shared
	var all []int64
	for _, granted := range b.granted {
		free -= granted
		all = append(all, granted)
	}
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(b, a) })
	for _, granted := range all {
		if b.each-granted > free {
			return false
		}
		free += granted
	}
	return free >= 0
}

// release returns all of a memory to the budget.
func (b *memoryBudget) release(m *linearMemory) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inUse -= m.counted
	m.counted = 0
	delete(b.granted, m)
	b.waiting = slices.DeleteFunc(b.waiting, func(r *memoryRequest) bool {
		fits := b.tryGrant(r.memory, r.size)
		if fits {
			close(r.granted)
		}
		return fits
	})
}

// linearMemory is the memory of one instance, outside of Go's heap, so that it is returned to the system when the
// instance is closed. It implements [experimental.LinearMemory].
type linearMemory struct {
	budget  *memoryBudget
	counted int64 // bytes that the budget granted; guarded by its mu

	area []byte          // address space for the limit of an instance
	size uint64          // bytes of it that are in use
	ctx  context.Context // of the page that is drawn or read: growing waits no longer
	err  error           // why the memory did not grow when the page needed more
}

// newMemory reserves address space for an instance that is made while ctx lasts.
func (b *memoryBudget) newMemory(ctx context.Context) (*linearMemory, error) {
	area, err := reserve(int(keptMemory + b.each))
	if err != nil {
		return nil, fmt.Errorf("pdfium: address space for an instance: %w", err)
	}
	return &linearMemory{budget: b, area: area, ctx: ctx}, nil
}

// Reallocate implements [experimental.LinearMemory].
func (m *linearMemory) Reallocate(size uint64) []byte {
	err := m.budget.grow(m.ctx, m, int64(size))
	if err == nil && size > m.size {
		if err = commit(m.area[m.size:size]); err == nil {
			m.size = size
		}
	}
	if err != nil {
		m.err = err
		return nil
	}
	return m.area[:size:size]
}

// Free implements [experimental.LinearMemory]. The memory is released with the instance, because wazero calls Free when
// the module is closed, and the module may still be called afterwards.
func (m *linearMemory) Free() {}

// release returns the memory to the system and to the budget. Nothing may use it afterwards.
func (m *linearMemory) release() {
	unreserve(m.area)
	m.area, m.size = nil, 0
	m.budget.release(m)
}
