package pdfium

import (
	"math"
	"runtime"
	"syscall"
	"time"
)

// startStopwatch locks the goroutine to its thread until stop is called. stop returns how long the
// thread has had a processor since then (getrusage(2), RUSAGE_THREAD), or the greatest duration if
// that is not known.
func startStopwatch() (stop func() time.Duration) {
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
