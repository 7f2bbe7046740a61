//go:build !failpoints

package failpoint

// Here marks a point.
func Here(string) {}
