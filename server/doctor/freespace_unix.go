//go:build linux || darwin

package doctor

import (
	"fmt"
	"syscall"
)

// freeSpace returns the free space on the disk of a folder for users other than root.
func freeSpace(folder string) (bytes uint64, known bool, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false, fmt.Errorf("%s: %w", folder, err)
	}
	return s.Bavail * uint64(s.Bsize), true, nil
}
