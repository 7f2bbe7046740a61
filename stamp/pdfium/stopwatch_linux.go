package pdfium

import (
	"math"
	"runtime"
	"syscall"
	"time"
)

// stopwatch keeps the goroutine on its thread until stop, which says how long that has had a processor since
// (getrusage(2), RUSAGE_THREAD); for ever where nobody can say.
func stopwatch() (stop func() time.Duration) {
	runtime.LockOSThread()
	began, failed := threadTime()
	return func() time.Duration {
		defer runtime.UnlockOSThread()
		ended, err := threadTime()
		if failed != nil || err != nil {
			return math.MaxInt64
		}
		return ended - began
	}
}

func threadTime() (time.Duration, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}
