package env

import (
	"runtime/debug"
	"testing"
	"time"
)

// Bounded is a benchmark of what must not take more than so much time of the processors, the garbage collector's
// included, nor more of the heap. What else the process does may make it seem so: then it is measured again, three
// times in all.
func Bounded(b *testing.B, most time.Duration, room uint64, do func()) {
	b.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage may otherwise grow with what is in use
	var took time.Duration
	var heap uint64
	for b.Loop() {
		for try := 0; try < 3 && (try == 0 || took > most || heap > room); try++ {
			began := ProcessorTime(b)
			heap = PeakHeap(do)
			took = ProcessorTime(b) - began
		}
		if took > most || heap > room {
			b.Errorf("it takes %v of the processors and %d MB, and may take %v and %d MB", took, heap>>20, most, room>>20)
		}
	}
	b.ReportMetric(took.Seconds(), "processor-s")
	b.ReportMetric(float64(heap>>20), "heap-MB")
}
