//go:build !linux

package pdfium

import "time"

// stopwatch would measure how long a thread has a processor, which it cannot on these systems.
type stopwatch struct{}

func startStopwatch() *stopwatch { return &stopwatch{} }

func (*stopwatch) stop() {}

func (*stopwatch) used() (d time.Duration, known bool) { return 0, false }
