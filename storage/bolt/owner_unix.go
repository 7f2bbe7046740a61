//go:build unix

package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// setOwner gives a file the owner and the group of another one, so that a server can use what root made of its
// store, and then permissions. A process that does not run as root may not give a file a group that it is not in.
// That is an error only if the permissions of the group differ from those of all people.
func setOwner(file *os.File, like fs.FileInfo, permissions fs.FileMode) error {
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	is, known := stat.Sys().(*syscall.Stat_t)
	wanted, alike := like.Sys().(*syscall.Stat_t)
	if !known || !alike {
		return errors.New("the file's owner is not known")
	}
	if is.Gid != wanted.Gid { // first: the owner before may change the group, and afterwards only root
		err := file.Chown(-1, int(wanted.Gid))
		group, others := permissions>>3&7, permissions&7
		if err != nil && (group != others || !errors.Is(err, fs.ErrPermission)) {
			return fmt.Errorf("giving the file to group %d, as the permissions %v need it: %w", wanted.Gid, permissions, err)
		}
	}
	if is.Uid != wanted.Uid {
		if err := file.Chown(int(wanted.Uid), -1); err != nil {
			return fmt.Errorf("giving the file to user %d: %w", wanted.Uid, err)
		}
	}
	if stat.Mode().Perm() == permissions {
		return nil
	}
	return file.Chmod(permissions)
}
