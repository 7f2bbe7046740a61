package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/google/uuid"
	"github.com/innsigli/innsigli/internal/durable"
)

// folder keeps the contents of documents as files, each under its document's id. A file
// without a record is no document, and of one with a record, only as many bytes as the record
// says: bytes behind them are of a transaction that was undone.
//
// What is flushed to the disk, and what for:
//
//   - the content of a new file, by Create: each file has to be flushed on its own.
//   - then its name, which is in the folder: one flush for all that were created meanwhile. The record is committed after
//     that.
//   - a file that was appended to, once for each transaction, before the commit of the new length. Transactions that share
//     a commit flush their files at the same time.
//   - the file of records, by bbolt, twice for each commit: the pages, and then the first page that refers to them.
//
// The name of a file that is removed is not flushed: a file that is back after a crash has no record, and is swept.
//
// All names are resolved below the folder, also those with "..".
type folder struct {
	db   *DB
	root *os.Root
	self *os.File // the folder, to flush it
	// names flushes the names of new files.
	names sharedFlush
	// owner has the owner and the group of the files that Migrate makes; nil: they are this process's.
	owner fs.FileInfo

	mu       sync.Mutex
	incoming map[string]bool // ids of documents that Create is receiving
	created  created
	holds    int      // backups that run
	held     []string // ids of deleted documents, whose files are removed when the last backup has ended
}

// makeFolder makes a folder for its owner alone, unless it is there.
func makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.SyncParent(path)
}

func openFolder(db *DB, path string) (*folder, error) {
	root, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no folder %s (another one is named by bolt:PATH?documents=FOLDER): %w", ErrFolder, path, err)
	}
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	f := &folder{db: db, root: root, self: self, incoming: map[string]bool{}}
	f.names.flush = self.Sync
	return f, nil
}

// sharedFlush flushes something once for all that wait for it.
type sharedFlush struct {
	flush func() error
	one   sync.Mutex // held while flush runs
	mu    sync.Mutex
	next  *flushing // that has not begun; nil if none is wanted
}

// flushing is one call of flush. err is set when done is closed.
type flushing struct {
	done chan struct{}
	err  error
}

// do returns when a flush that began after the call has ended.
func (s *sharedFlush) do() error {
	s.mu.Lock()
	f := s.next
	if f != nil {
		s.mu.Unlock()
		<-f.done
		return f.err
	}
	f = &flushing{done: make(chan struct{})}
	s.next = f
	s.mu.Unlock()
	s.one.Lock()
	defer s.one.Unlock()
	s.mu.Lock()
	s.next = nil // who comes now needs another one
	s.mu.Unlock()
	f.err = s.flush()
	close(f.done)
	return f.err
}

// close may be called again.
func (f *folder) close() error {
	err := errors.Join(f.self.Close(), f.root.Close())
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// markFile is a file in the folder that names the store that the folder belongs to. With
// another store's folder all documents would be missing, and that store's would be swept.
const markFile = "store-id"

// openDocuments opens the folder of a store, which has to be its own.
func (db *DB) openDocuments() error {
	var err error
	if db.folder, err = openFolder(db, db.opts.DocumentFolder); err != nil {
		return err
	}
	return db.view(func(tx *boltTx) error {
		mark := string(metaBucket.get(tx).Get([]byte(folderKey)))
		first, _ := tx.Bucket([]byte(documentTable.bucket)).Cursor().First()
		return db.folder.checkMark(mark, first == nil)
	})
}

// checkMark returns an error unless the folder has the mark. If neither the store nor the
// folder has a document, a folder without a mark gets it: the store's first start was cut off
// before writeMark.
func (f *folder) checkMark(mark string, isNew bool) error {
	found, err := f.mark()
	if err != nil {
		return err
	}
	if found == "" && isNew {
		if empty, err := f.empty(); err != nil || empty {
			return errors.Join(err, f.writeMark(mark))
		}
	}
	switch found {
	case mark:
		return nil
	case "":
		return fmt.Errorf("%w: there is no file %s in %s", ErrFolder, markFile, f.root.Name())
	}
	return fmt.Errorf("%w: %s belongs to another store", ErrFolder, f.root.Name())
}

// mark returns the mark of the folder, empty if it has none.
func (f *folder) mark() (string, error) {
	mark, err := f.root.ReadFile(markFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(mark), err
}

// newMark returns a mark for a new store. It is an error if the folder has a mark or documents.
func (f *folder) newMark() (string, error) {
	found, err := f.mark()
	if err != nil {
		return "", err
	}
	empty, err := f.empty()
	switch {
	case err != nil:
		return "", err
	case found != "":
		return "", fmt.Errorf("%w: %s belongs to another store", ErrFolder, f.root.Name())
	case !empty:
		return "", fmt.Errorf("%w: there are documents in %s already", ErrFolder, f.root.Name())
	}
	return uuid.NewString(), nil
}

// writeMark writes the mark to the folder, after the store has it.
func (f *folder) writeMark(mark string) error {
	file, err := f.root.OpenFile(markFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(mark)
	return errors.Join(err, f.own(file, 0o600), file.Sync(), file.Close(), f.self.Sync())
}

// belongsLike gives the folder, and all files that are made in it from now on, the owner and the group of a file. Root
// does that when it migrates a store, so that the server can use the folder. What other users make is theirs.
func (f *folder) belongsLike(path string) (err error) {
	if f.owner, err = os.Stat(path); err != nil {
		return err
	}
	self, err := f.self.Stat()
	if err != nil {
		return err
	}
	return f.own(f.self, self.Mode().Perm())
}

// own gives a file in the folder, or the folder itself, the owner that belongsLike set.
func (f *folder) own(file *os.File, permissions fs.FileMode) error {
	if f.owner == nil {
		return nil
	}
	return setOwner(file, f.owner, permissions)
}

// empty reports whether there is no document in the folder.
func (f *folder) empty() (bool, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isID(e.Name()) }), err
}

// isID reports whether a file's name is a document's.
func isID(name string) bool {
	id, err := uuid.Parse(name)
	return err == nil && id.String() == name
}

// read fills p with a document's bytes from the offset on.
func (f *folder) read(id string, offset int64, p []byte) error {
	file, err := f.root.Open(id)
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

// append stores p as a document's bytes from its end on, in the file that open has opened. The caller has to flush the
// file before the transaction is committed. They are not read before that: for all others the document ends where the
// record says.
func (f *folder) append(file *os.File, id string, end int64, p []byte) error {
	err := file.Truncate(end)
	if err == nil {
		_, err = file.WriteAt(p, end)
	}
	if err != nil {
		return fmt.Errorf("bolt: document %s: %w", id, err)
	}
	return nil
}

// open opens the file of a document that is appended to.
func (f *folder) open(id string) (*os.File, error) {
	file, err := f.root.OpenFile(id, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: document %s has no file", ErrDamaged, id)
	}
	if err != nil {
		return nil, fmt.Errorf("bolt: document %s: %w", id, err)
	}
	return file, nil
}

// maxHeld is how many documents that were deleted while a backup runs are remembered, some 50 bytes for each.
const maxHeld = 4096

// unlink removes the file of a deleted document, or has it removed when no backup runs any more. Sweep removes
// what unlink could not: files for which the file system had an error, and those of the documents after the first
// maxHeld that are deleted while backups run.
func (f *folder) unlink(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.holds == 0:
		_ = f.root.Remove(id)
	case len(f.held) < maxHeld:
		f.held = append(f.held, id)
	}
}

// hold keeps the files of documents that are deleted, until release is called.
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

// receiving keeps the file of a document without a record from being swept, until received
// is called.
func (f *folder) receiving(id string) (received func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.incoming[id] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.incoming, id)
	}
}

// mustStay reports whether a file without a record may not be removed: a backup runs, Create receives the document, or its
// record is not stored yet.
func (f *folder) mustStay(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, isCreated := f.created.get(id)
	return f.holds > 0 || f.incoming[id] || isCreated
}

// sweepBatch is how many names sweep reads at once.
const sweepBatch = 256

// sweep removes the files that have no record and that Create is not receiving, whatever
// their age, and returns how many: the process died before a document was complete, or before
// the file of a deleted document was removed.
func (f *folder) sweep(ctx context.Context) (total int, err error) {
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
			n, err := f.removeStray(ctx, id)
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

// strays returns the documents' files among the entries that have no record.
func (f *folder) strays(ctx context.Context, entries []fs.DirEntry) (ids []string, err error) {
	err = f.db.read(ctx, func(tx *boltTx) error {
		for _, entry := range entries {
			if id := entry.Name(); isID(id) && !f.mustStay(id) && !documentTable.has(tx, id) {
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids, err
}

// removeStray removes a file without a record, and returns how many that is. The caller is in no transaction. While
// removeStray has the turn, no document gets its record, and what it reads is committed: a record that a transaction has
// deleted is back if its commit fails.
func (f *folder) removeStray(ctx context.Context, id string) (n int, err error) {
	if err := f.db.pause(ctx); err != nil {
		return 0, err
	}
	defer f.db.resume()
	err = f.db.view(func(tx *boltTx) error {
		if f.mustStay(id) || documentTable.has(tx, id) {
			return nil
		}
		err := f.root.Remove(id)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			n = 1
		}
		return err
	})
	return n, err
}
