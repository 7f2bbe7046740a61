//go:build !failpoints

package failpoint

// Here marks a point.
func Here(string) {}

// Called traces that a call begins.
func Called(name, id string) {}

// Returned traces that it has ended, and how.
func Returned(name, id, outcome string) {}

// Stored traces that what it was answered is stored.
func Stored(name, id string) {}
