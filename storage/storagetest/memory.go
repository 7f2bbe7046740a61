package storagetest

import (
	"context"
	"crypto"
	"io"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
)

// mostHeap is what the heap may grow by while a large document comes in or goes out, and
// mostHeapOfMany while many documents come in at once, whose size may not be seen in memory.
const (
	mostHeap       = 16 << 20
	mostHeapOfMany = 48 << 20
)

var memory = tests{
	"a large document comes in and goes out in little memory": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var ref storage.Ref
		within(t, "coming in", mostHeap, func() (err error) {
			ref, err = b.Documents.Create(t.Context(), &zebra{size: largeDocument}, largeDocument, crypto.SHA256)
			return err
		})
		blob := opened(t, b, ref.ID)
		within(t, "going out", mostHeap, func() error {
			n, err := io.Copy(io.Discard, io.NewSectionReader(blob, 0, blob.Size()))
			if n != largeDocument {
				t.Errorf("%d bytes went out", n)
			}
			return err
		})
		within(t, "deleting", mostHeap, func() error {
			return b.InTx(t.Context(), func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
		})
	},

	"many documents come in at once in little memory": func(t *testing.T, open func(*testing.T) Backend) {
		const documents, size = 20, 6 << 20
		b := open(t)
		within(t, "20 coming in", mostHeapOfMany, func() error {
			var group errgroup.Group
			for range documents {
				group.Go(func() error {
					_, err := b.Documents.Create(t.Context(), &zebra{size: size}, size, crypto.SHA256)
					return err
				})
			}
			return group.Wait()
		})
	},
}

// within fails the test if the heap grows by more than so many bytes meanwhile.
func within(t *testing.T, what string, most int64, fn func() error) {
	t.Helper()
	debug.FreeOSMemory() // what earlier tests needed
	before := heap()
	peak := heapPeak()
	if err := fn(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	grown := int64(peak()) - int64(before)
	t.Logf("figure: %s: the heap grew by %.1f MiB", what, float64(grown)/(1<<20))
	if grown > most {
		t.Errorf("%s: that is more than %d MiB", what, most>>20)
	}
}

// heapPeak looks at the heap again and again until stop is called, which returns the most
// there was, in bytes. The race detector's own memory is not in it.
func heapPeak() (stop func() uint64) {
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			most = max(most, heap())
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(done); return <-peak }
}

// heap is the memory that the heap occupies, in bytes: objects, those included that are not
// cleared away yet, and the room between and after them.
func heap() (sum uint64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}

// zebra is a document of which each 32 KiB are different.
type zebra struct{ at, size int64 }

func (z *zebra) Read(p []byte) (int, error) {
	if z.at == z.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.size-z.at, 32<<10))
	clear(p[:n])
	p[0], p[n-1] = byte(z.at>>15), byte(z.at>>23)
	z.at += int64(n)
	return n, nil
}
