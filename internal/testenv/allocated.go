package testenv

import "runtime"

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
