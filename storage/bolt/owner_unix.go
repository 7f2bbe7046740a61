//go:build unix

package bolt

import (
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives a file to the owner of another one, so that a server can use what root made of
// its store.
func giveTo(file *os.File, like fs.FileInfo) error {
	owner, known := like.Sys().(*syscall.Stat_t)
	if !known || int(owner.Uid) == os.Geteuid() && int(owner.Gid) == os.Getegid() {
		return nil
	}
	return file.Chown(int(owner.Uid), int(owner.Gid))
}
