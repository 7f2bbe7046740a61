package delivery

import "time"

// pauseAfter is how long after the end of an attempt that failed the next one is made; zero: it was
// the last (spec 5.7). Nothing in an answer changes it, neither 410 nor Retry-After.
func pauseAfter(attempt int) time.Duration {
	pauses := [...]time.Duration{
		10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute,
		2 * time.Hour, 6 * time.Hour, 24 * time.Hour,
	}
	if attempt < 1 || attempt > len(pauses) {
		return 0
	}
	return pauses[attempt-1]
}
