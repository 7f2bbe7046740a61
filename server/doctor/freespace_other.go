//go:build !linux && !darwin

package doctor

// freeSpace is not supported on this system.
func freeSpace(string) (bytes uint64, known bool, err error) { return 0, false, nil }
