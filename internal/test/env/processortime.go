//go:build unix

package env

import (
	"syscall"
	"testing"
	"time"
)

// ProcessorTime is what this process has had of the processors: what something takes by it does not
// depend on what else the machine does.
func ProcessorTime(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
