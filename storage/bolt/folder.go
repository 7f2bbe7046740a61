package bolt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage"
)

// folder keeps the contents of documents as files in a folder, each under its document's
// id. A file without a record is no document, and of one with a record, only as many
// bytes as the record says: what is behind them is of a transaction that was undone.
//
// All names are resolved below the folder, whatever is in them.
type folder struct {
	db   *DB
	root *os.Root
	self *os.File // the folder, to flush it

	mu    sync.Mutex
	holds int
	held  []string // ids of documents whose files go when nothing holds them
}

var _ contents = (*folder)(nil)

func openFolder(db *DB, path string) (*folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &folder{db: db, root: root, self: self}, nil
}

// close may be called again.
func (f *folder) close() error {
	err := errors.Join(f.self.Close(), f.root.Close())
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

func (f *folder) read(tx *bbolt.Tx, id string, offset int64, p []byte) error {
	if !documentTable.has(tx, id) {
		return storage.ErrNotFound
	}
	file, err := f.root.Open(id)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: document %s has no file", ErrDamaged, id)
	}
	if err != nil {
		return fmt.Errorf("bolt: document %s: %w", id, err)
	}
	defer file.Close()
	if n, err := file.ReadAt(p, offset); err == io.EOF {
		return fmt.Errorf("%w: document %s ends at %d", ErrDamaged, id, offset+int64(n))
	} else if err != nil {
		return fmt.Errorf("bolt: document %s: %w", id, err)
	}
	return nil
}

// append is on the disk before the transaction is. Nobody reads it before that: for all
// others the document ends where the record says.
func (f *folder) append(_ *bbolt.Tx, id string, end int64, p []byte) (err error) {
	file, err := f.root.OpenFile(id, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: document %s has no file", ErrDamaged, id)
	}
	if err != nil {
		return fmt.Errorf("bolt: document %s: %w", id, err)
	}
	defer file.Close()
	if err = file.Truncate(end); err == nil {
		_, err = file.WriteAt(p, end)
	}
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return fmt.Errorf("bolt: document %s: %w", id, err)
	}
	return nil
}

func (f *folder) remove(t *txn, id string) error {
	t.afterCommit(func() { f.unlink(id) })
	return nil
}

// unlink removes a document's file, now or when nothing holds it any more. What it cannot
// remove is swept later.
func (f *folder) unlink(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holds > 0 {
		f.held = append(f.held, id)
		return
	}
	_ = f.root.Remove(id)
}

func (f *folder) hold() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds++
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.holds--; f.holds > 0 {
			return
		}
		for _, id := range f.held {
			_ = f.root.Remove(id)
		}
		f.held = nil
	})
}
