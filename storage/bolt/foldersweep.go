package bolt

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"go.etcd.io/bbolt"
)

// sweepBatch is how many names sweep reads at once.
const sweepBatch = 256

// sweep removes files that have no record: of documents that never came to their end, and
// of ones that were deleted when the process died.
func (f *folder) sweep(ctx context.Context, before time.Time) (total int, err error) {
	if f.isHeld() {
		return 0, nil // files of deleted documents are still wanted
	}
	list, err := f.root.Open(".")
	if err != nil {
		return 0, err
	}
	defer list.Close()
	for {
		entries, ended := list.ReadDir(sweepBatch)
		strays, err := f.strays(ctx, entries)
		if err != nil {
			return total, err
		}
		for _, id := range strays {
			n, err := f.removeStray(ctx, id, before)
			if total += n; err != nil {
				return total, err
			}
		}
		if ended == io.EOF {
			return total, nil
		}
		if ended != nil {
			return total, ended
		}
	}
}

func (f *folder) isHeld() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holds > 0
}

// strays are the documents' files among the entries that have no record.
func (f *folder) strays(ctx context.Context, entries []fs.DirEntry) (ids []string, err error) {
	err = f.db.read(ctx, func(tx *bbolt.Tx) error {
		for _, entry := range entries {
			if id := entry.Name(); isID(id) && !documentTable.has(tx, id) {
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids, err
}

// removeStray removes a file that was last written before the time given and that no
// record refers to, and says how many that is. The transaction keeps a document that is
// just coming to its end from getting its record meanwhile.
func (f *folder) removeStray(ctx context.Context, id string, before time.Time) (n int, err error) {
	err = f.db.InTx(ctx, func(ctx context.Context) error {
		return f.db.read(ctx, func(tx *bbolt.Tx) error {
			stat, err := f.root.Stat(id)
			if errors.Is(err, fs.ErrNotExist) || err == nil && (documentTable.has(tx, id) || !stat.ModTime().Before(before)) {
				return nil
			}
			if err != nil {
				return err
			}
			f.unlink(id)
			n = 1
			return nil
		})
	})
	return n, err
}
