package bolt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage"
)

// fileIntake stores a document that comes in as a file, and its record when the file is
// whole and on the disk: one transaction for a document, and a crash before it leaves a
// file for sweep.
type fileIntake struct {
	folder *folder
	*creation
	file *os.File
}

func (f *folder) create(c *creation) intake { return &fileIntake{folder: f, creation: c} }

func (in *fileIntake) store(ctx context.Context, p []byte, last bool) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if in.file == nil {
		in.file, err = in.folder.root.OpenFile(in.id, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
	}
	if _, err := in.file.Write(p); err != nil || !last {
		return err
	}
	// The file, its name, then the record.
	if err := errors.Join(in.file.Sync(), in.file.Close(), in.folder.self.Sync()); err != nil {
		return err
	}
	return in.complete(ctx)
}

// complete stores the record, unless sweep has found the file too old meanwhile.
func (in *fileIntake) complete(ctx context.Context) error {
	db := in.folder.db
	return db.InTx(ctx, func(ctx context.Context) error {
		return db.write(ctx, func(tx *bbolt.Tx) error {
			if _, err := in.folder.root.Stat(in.id); errors.Is(err, fs.ErrNotExist) {
				return storage.ErrNotFound
			} else if err != nil {
				return err
			}
			return documentTable.insert(tx, in.id, in.record())
		})
	})
}

func (in *fileIntake) discard(ctx context.Context) {
	if in.file == nil {
		return
	}
	in.file.Close() // it may be closed
	// Whatever its age; but a commit that failed may have stored the record all the same.
	_, _ = in.folder.removeStray(ctx, in.id, time.Now().Add(time.Hour))
}
