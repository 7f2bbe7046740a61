//go:build !linux

package pdfium

import (
	"math"
	"time"
)

// startStopwatch cannot measure how long a thread has a processor on these systems: stop returns
// the greatest duration.
func startStopwatch() (stop func() time.Duration) {
	return func() time.Duration { return math.MaxInt64 }
}
