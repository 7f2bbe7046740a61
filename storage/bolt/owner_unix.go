//go:build unix

package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// setOwner gives a file the owner and the group of another one. permissions are those that the file has or is going to
// have. Only root may give a file to another user, and others may give it no group that they are not in. The group may
// stay another one if the permissions of the group are those of all people.
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
	if is.Gid != wanted.Gid { // before the owner changes: the one before may change the group, and afterwards only root
		err := file.Chown(-1, int(wanted.Gid))
		group, others := permissions>>3&7, permissions&7
		if err != nil && (group != others || !errors.Is(err, fs.ErrPermission)) {
			return ownerError("group", wanted.Gid, err)
		}
	}
	if is.Uid != wanted.Uid {
		if err := file.Chown(int(wanted.Uid), -1); err != nil {
			return ownerError("user", wanted.Uid, err)
		}
	}
	return nil
}

func ownerError(kind string, id uint32, err error) error {
	self := os.Geteuid()
	return fmt.Errorf("the store's file belongs to %s %d, and a process of user %d cannot give a new file to it: "+
		"make user %d and a group of that user the owner of the store's file (chown), or compact it as root: %w", kind, id, self, self, err)
}
