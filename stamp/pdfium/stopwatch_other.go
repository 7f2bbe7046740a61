//go:build !linux

package pdfium

import (
	"math"
	"time"
)

// stopwatch is one that cannot say how long a thread has had a processor: for ever.
func stopwatch() (stop func() time.Duration) {
	return func() time.Duration { return math.MaxInt64 }
}
