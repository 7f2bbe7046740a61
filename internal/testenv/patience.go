package testenv

import "time"

// Patience is how long something may take that has to be done within a bound. Under the race detector loops that
// do nothing but look into memory take many times as long: whether a bound is kept shows without it,
// here it is enough that there is an end.
func Patience(bound time.Duration) time.Duration {
	if Race {
		return 10 * bound
	}
	return bound
}
