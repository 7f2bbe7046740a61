package storagetest

import (
	"context"
	"crypto"
	"io"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// mostHeap is what the heap may grow by while a large document comes in or goes out.
const mostHeap = 16 << 20

var memory = tests{
	"a large document comes in and goes out in little memory": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var ref storage.Ref
		within(t, "coming in", func() (err error) {
			ref, err = b.Documents.Create(t.Context(), &zebra{size: largeDocument}, largeDocument, crypto.SHA256)
			return err
		})
		blob := opened(t, b, ref.ID)
		within(t, "going out", func() error {
			n, err := io.Copy(io.Discard, io.NewSectionReader(blob, 0, blob.Size()))
			if n != largeDocument {
				t.Errorf("%d bytes went out", n)
			}
			return err
		})
		within(t, "deleting", func() error {
			return b.InTx(t.Context(), func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
		})
	},
}

// within fails the test if the heap grows by more than mostHeap meanwhile.
func within(t *testing.T, what string, fn func() error) {
	t.Helper()
	runtime.GC()
	before := heap()
	peak := heapPeak()
	if err := fn(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	grown := int64(peak()) - int64(before)
	t.Logf("figure: %s: the heap grew by %.1f MiB", what, float64(grown)/(1<<20))
	if grown > mostHeap {
		t.Errorf("%s: that is more than %d MiB", what, mostHeap>>20)
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

// heap is the memory that objects take, in bytes, those included that are not cleared away
// yet.
func heap() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
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
