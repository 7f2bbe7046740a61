package bolt_test

import (
	"crypto"
	"io"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage/bolt"
)

// heapPeak samples the memory that the heap occupies until stop is called, which
// returns the most there was, in bytes. The race detector's own memory is not in
// it.
func heapPeak() (stop func() uint64) {
	debug.FreeOSMemory() // what earlier tests needed
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

func heap() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	var sum uint64
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}

// pattern is a document of which each block is another.
type pattern struct{ at, size int64 }

func (p *pattern) Read(b []byte) (int, error) {
	if p.at == p.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(b)), p.size-p.at, 32<<10))
	clear(b[:n])
	b[0], b[n-1] = byte(p.at>>15), byte(p.at>>23)
	p.at += int64(n)
	return n, nil
}

// The service takes 20 documents at once, whose size may not be seen in memory:
// together they are well over the limit.
func TestCreatingManyDocumentsTakesLittleMemory(t *testing.T) {
	const documents, size, limit = 20, 6 << 20, 48 << 20
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	stop := heapPeak()
	var group errgroup.Group
	for range documents {
		group.Go(func() error {
			_, err := db.Documents().Create(t.Context(), &pattern{size: size}, size, crypto.SHA256)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	peak := stop()
	t.Logf("the heap grew to %d MiB", peak>>20)
	if peak > limit {
		t.Errorf("that is more than %d MiB", limit>>20)
	}
}

func open(t testing.TB, path string) *bolt.DB {
	t.Helper()
	return openWith(t, path, bolt.Options{})
}

func openWith(t testing.TB, path string, opts bolt.Options) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
