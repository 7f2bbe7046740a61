package env

import (
	"testing"
	"time"
)

// Wait returns once done reports true, which it asks again and again. There is no bound but the test's own (go
// test -timeout): how long something takes on a busy machine is no fault. A little before that bound the test fails,
// and says what it waited for. done runs on the calling goroutine, and may end the test itself.
func Wait(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline, bounded := time.Time{}, false
	if t, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		deadline, bounded = t.Deadline()
	}
	const grace = 5 * time.Second // for the cleanups, before go test ends the whole process
	for pause := time.Millisecond; !done(); pause = min(2*pause, 50*time.Millisecond) {
		if bounded && time.Until(deadline) < grace {
			t.Fatalf("still waiting for %s when the time of the tests is up", what)
		}
		time.Sleep(pause)
	}
}

// Receive returns what is sent on the channel, or the zero value and false once it is closed. It waits as Wait does.
func Receive[T any](t testing.TB, what string, from <-chan T) (value T, ok bool) {
	t.Helper()
	Wait(t, what, func() bool {
		select {
		case value, ok = <-from:
			return true
		default:
			return false
		}
	})
	return value, ok
}
