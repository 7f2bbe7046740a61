package pdfium

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

const mib = 1 << 20

// TestMemoryBudget checks what three instances get of 400 MiB: 32 each, and 304 that they share.
func TestMemoryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newMemoryBudget(400*mib, 3)
		memories := []*linearMemory{{budget: b}, {budget: b}, {budget: b}}
		for _, step := range []struct {
			memory int
			size   int64 // 0: all is released
			want   error // of growing, within a minute
		}{
			{0, 257 * mib, errMemory},
			{0, 240 * mib, nil},
			{1, 32 * mib, nil},
			{2, 112 * mib, nil}, // but for 16, all that is left
			{2, 113 * mib, context.DeadlineExceeded},
			{1, 33 * mib, context.DeadlineExceeded}, // the first needs 16 to get its limit
			{0, 256 * mib, nil},
			{1, 33 * mib, context.DeadlineExceeded},
			{0, 0, nil},
			{1, 113 * mib, nil},
			{1, 256 * mib, nil},
			{2, 113 * mib, context.DeadlineExceeded},
		} {
			if step.size == 0 {
				b.release(memories[step.memory])
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if err := b.grow(ctx, memories[step.memory], step.size); !errors.Is(err, step.want) {
				t.Errorf("%+v: %v", step, err)
			}
			cancel()
		}
		if want := int64((256 + 112) * mib); b.inUse != want || len(b.waiting) != 0 {
			t.Errorf("%d bytes in use, want %d; %d wait", b.inUse, want, len(b.waiting))
		}
	})
}

// TestMemoryBudgetNeverBlocks has instances that grow to the limit by random steps. All of them get there, and the budget is
// kept.
func TestMemoryBudgetNeverBlocks(t *testing.T) {
	const instances, size = 5, 600 * mib
	b := newMemoryBudget(size, instances)
	var all sync.WaitGroup
	for n := range uint64(instances) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, n))
			for range 200 {
				m := &linearMemory{budget: b}
				for at := int64(0); at < maxMemory; {
					at = min(maxMemory, at+random.Int64N(64*mib))
					if err := b.grow(t.Context(), m, at); err != nil {
						t.Error(err)
					}
					runtime.Gosched()
				}
				b.release(m)
			}
		})
	}
	all.Wait()
	if b.inUse != 0 || b.peak > size || len(b.granted) != 0 {
		t.Errorf("%d bytes in use, %d at most, want 0 and at most %d; %d granted", b.inUse, b.peak, size, len(b.granted))
	}
}

// TestBombs checks that pages that take much memory and time stay within Options.Memory together, that a page that failed
// returns all of it, and that the next page is drawn.
func TestBombs(t *testing.T) {
	const memory = 160 * mib
	r := New(Options{Cache: testenv.RendererCache(), Instances: 3, Memory: memory, Limit: time.Second / 5, Wait: time.Hour})
	defer r.Close()
	if _, err := r.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	draw := func(document []byte) error {
		_, err := r.Render(t.Context(), bytes.NewReader(document), int64(len(document)), 1, 600, 800)
		return err
	}
	var all sync.WaitGroup
	failed := 0
	var lock sync.Mutex
	for _, bomb := range pdftest.Bombs() {
		all.Go(func() {
			if draw(bomb.File) != nil {
				lock.Lock()
				defer lock.Unlock()
				failed++
			}
		})
	}
	all.Wait()
	idle := int64(0)
	for _, i := range r.idle {
		idle += int64(i.memory.size)
	}
	b := r.budget
	if b.peak > memory || b.inUse != idle || idle > 3*keptMemory || failed < 15 {
		t.Errorf("%d bytes at most, want %d; %d now, want %d of idle instances; %d pages failed", b.peak, memory, b.inUse, idle, failed)
	}
	if err := draw(pdftest.Book([]pdftest.Leaf{{Text: []string{"after"}}})); err == nil {
		t.Error("a page of another aspect ratio is drawn")
	}
	if err := draw(pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 600 800]"})); err != nil {
		t.Error(err)
	}
}
