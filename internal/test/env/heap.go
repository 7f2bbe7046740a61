package env

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// PeakHeap is by how much the heap grows at most while f runs, with what was not collected yet.
func PeakHeap(f func()) uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	before, peak := sample[0].Value.Uint64(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for ticker := time.NewTicker(time.Millisecond); ; {
			metrics.Read(sample)
			peak = max(peak, sample[0].Value.Uint64())
			select {
			case <-stop:
				ticker.Stop()
				return
			case <-ticker.C:
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak - min(peak, before)
}

// Allocated is how many bytes were allocated while f ran, what was freed in between included: a count of work, which
// is the same on a fast machine and on a busy one. It counts what the whole process allocated, so that no other
// goroutine may be at work: a test that uses it is not parallel.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
