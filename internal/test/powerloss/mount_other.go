//go:build !linux

package powerloss

import "errors"

// Mounted is a disk that is mounted.
type Mounted struct{}

// Mount returns an error: FUSE is looked for on Linux alone.
func Mount(string, *Disk) (*Mounted, error) {
	return nil, errors.New("powerloss: disks can be mounted on Linux alone")
}

// Unmount does nothing.
func (m *Mounted) Unmount() error { return nil }
