//go:build linux || darwin

package doctor

import (
	"fmt"
	"syscall"
)

// freeSpace is the room that is left for others than root where a folder is.
func freeSpace(folder string) (bytes uint64, known bool, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false, fmt.Errorf("%s: %w", folder, err)
	}
	return s.Bavail * uint64(s.Bsize), true, nil
}
