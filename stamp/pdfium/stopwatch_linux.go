package pdfium

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// stopwatch measures how long one thread has had a processor.
type stopwatch struct {
	clock uintptr
	began time.Duration
	known bool
}

// startStopwatch locks the goroutine to its thread until stop is called, and measures that thread.
func startStopwatch() *stopwatch {
	runtime.LockOSThread()
	s := &stopwatch{clock: threadClock(syscall.Gettid())}
	s.began, s.known = s.time()
	return s
}

// stop is called by the goroutine that started the stopwatch.
func (s *stopwatch) stop() { runtime.UnlockOSThread() }

// used returns how long the thread has had a processor since the start. Any goroutine may call it until
// stop. known is false if the system does not tell.
func (s *stopwatch) used() (d time.Duration, known bool) {
	now, known := s.time()
	return now - s.began, known && s.known
}

// threadClock returns the clock of a thread's processor time, by which another thread can read it:
// pthread_getcpuclockid(3), MAKE_THREAD_CPUCLOCK of the kernel.
func threadClock(thread int) uintptr {
	const perThread, scheduled = 4, 2
	return uintptr(uint32(^int32(thread)<<3 | perThread | scheduled))
}

func (s *stopwatch) time() (time.Duration, bool) {
	var t syscall.Timespec
	_, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, s.clock, uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano()), failed == 0
}
