//go:build !unix

package env

import (
	"testing"
	"time"
)

var began = time.Now()

// ProcessorTime is the time since the start, which is the most that one processor can have spent on this process.
func ProcessorTime(t testing.TB) time.Duration {
	t.Helper()
	return time.Since(began)
}
