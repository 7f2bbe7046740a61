//go:build !failpoints

package failpoint

// Here kills the process if INNSIGLI_FAILPOINT is name, in a program with the tag.
func Here(string) {}

// Called traces the beginning of a call.
func Called(name, id string) {}

// Returned traces the return of a call with its outcome.
func Returned(name, id, outcome string) {}

// Stored traces that the result of a call is stored.
func Stored(name, id string) {}
