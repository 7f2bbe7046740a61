package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/innsigli/innsigli/storage"
)

func TestWhatAFailedCommitMeans(t *testing.T) {
	write := &fs.PathError{Op: "write", Path: "store.db", Err: syscall.ENOSPC}
	for name, test := range map[string]struct {
		failed  error
		written bool
		want    error
	}{
		"no room":                      {write, false, storage.ErrFull},
		"no room in the quota":         {syscall.EDQUOT, false, storage.ErrFull},
		"no room to grow":              {fmt.Errorf("file resize error: %s", &fs.PathError{Op: "truncate", Path: "store.db", Err: syscall.EFBIG}), false, storage.ErrFull},
		"no room, but the page is out": {write, true, storage.ErrUnavailable},
		"another failure":              {syscall.EIO, false, syscall.EIO},
		"the store was closed":         {bolterrors.ErrDatabaseNotOpen, false, ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			err := commitError(test.failed, test.written)
			for _, one := range []error{storage.ErrFull, storage.ErrUnavailable, syscall.EIO, ErrClosed} {
				if errors.Is(err, one) != (one == test.want) {
					t.Errorf("%v, want %v", err, test.want)
				}
			}
		})
	}
}
