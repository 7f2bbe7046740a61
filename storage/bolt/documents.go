package bolt

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// A document is a record in documentTable, and a file in the folder.
var (
	// unkept are the documents that may be swept, by age.
	unkept = index[documentRecord]{bucket: "document.unkept", key: func(d documentRecord) []byte {
		if d.Kept {
			return nil
		}
		return instant(d.StartedAt)
	}}
	documentTable = table[documentRecord]{bucket: "document", indexes: []index[documentRecord]{unkept}}
)

const (
	// createStep is how many bytes of a new document are written at once.
	createStep = 512 << 10
	// sweepStep is how many documents one transaction of Sweep removes.
	sweepStep = 16
)

type documentRecord struct {
	StartedAt time.Time           `json:"startedAt"` // when its Create began
	Kept      bool                `json:"kept"`
	Size      int64               `json:"size"` // bytes
	Hashed    []document.Midstate `json:"hashed,omitempty"`
}

// documents is the storage.Documents of a DB.
type documents struct{ db *DB }

var _ storage.Documents = documents{}

// Documents is the store of documents.
func (db *DB) Documents() storage.Documents { return documents{db} }

// errCreateInTx: Create runs a transaction of its own, which would wait for that
// of its context for ever.
var errCreateInTx = errors.New("bolt: a document cannot be created within a transaction")

// Create writes the file. The record is added when the file is complete and on the disk, and stored by the transaction that
// keeps the document. A crash before that leaves a file for Sweep.
func (s documents) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	if s.db.txn(ctx) != nil {
		return storage.Ref{}, errCreateInTx
	}
	sums, err := document.NewSums(hashes)
	if err != nil {
		return storage.Ref{}, err
	}
	id, d := uuid.NewString(), documentRecord{StartedAt: time.Now().UTC()}
	received := s.db.folder.receiving(id)
	d.Size, err = s.receive(ctx, id, r, limit, sums)
	if err == nil {
		d.Hashed = sums.Midstates(d.Size)
		s.db.folder.created.add(id, d)
	}
	received()
	if err != nil {
		_, _ = s.db.folder.removeStray(context.WithoutCancel(ctx), id)
		return storage.Ref{}, err
	}
	return storage.Ref{ID: id, Size: d.Size, Sums: sums.Digests()}, nil
}

// receive writes what r delivers to a new file, which is on the disk on return, and returns
// its size.
func (s documents) receive(ctx context.Context, id string, r io.Reader, limit int64, sums document.Sums) (size int64, err error) {
	folder := s.db.folder
	file, err := folder.root.OpenFile(id, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, createError(err)
	}
	defer file.Close() // again, unless something fails
	step := s.db.steps.Get().(*[createStep]byte)
	defer s.db.steps.Put(step)
	err = document.Receive(r, limit, step[:], func(p []byte, last bool) error {
		if err := ctx.Err(); err != nil {
			return createError(err)
		}
		sums.Write(p)
		size += int64(len(p))
		_, err := file.Write(p)
		if err == nil && last { // the file, then its name
			err = errors.Join(file.Sync(), file.Close(), folder.names.do())
		}
		return createError(err)
	})
	return size, err
}

// createError returns the error of Create; nil of nil.
func createError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("bolt: storing a document: %w", translate(err))
}

func (s documents) Keep(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		if err := s.db.folder.store(s.db.txn(ctx), id); err != nil {
			return err
		}
		return documentTable.change(tx, id, func(d *documentRecord) error {
			d.Kept = true
			return nil
		})
	})
}

func (s documents) Append(ctx context.Context, id string, revisions ...storage.Revision) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		if err := s.db.folder.store(s.db.txn(ctx), id); err != nil {
			return err
		}
		return documentTable.change(tx, id, func(d *documentRecord) error {
			if !document.Follow(d.Size, revisions) {
				return storage.ErrMoved
			}
			file, err := s.db.txn(ctx).file(id)
			if err != nil {
				return translate(err)
			}
			for _, r := range revisions {
				if err := s.db.folder.append(file, id, d.Size, r.Bytes); err != nil {
					return translate(err)
				}
				d.Size += int64(len(r.Bytes))
				d.Hashed = document.Replaced(d.Hashed, r.Hashed)
			}
			return nil
		})
	})
}

// file opens the file of a document that the transaction appends to, once. The caller is within write.
func (t *txn) file(id string) (*os.File, error) {
	if file := t.files[id]; file != nil {
		return file, nil
	}
	file, err := t.db.folder.open(id)
	if err != nil {
		return nil, err
	}
	if t.files == nil {
		t.files = map[string]*os.File{}
	}
	t.files[id] = file
	return file, nil
}

// flushFiles flushes the files that the transaction has appended to. They are on the disk before its records are.
func (t *txn) flushFiles() error { return t.eachFile((*os.File).Sync) }

// closeFiles closes the files that the transaction has appended to, also after an error of flushFiles.
func (t *txn) closeFiles() error { return t.eachFile((*os.File).Close) }

func (t *txn) eachFile(do func(*os.File) error) (err error) {
	for id, file := range t.files {
		if failed := do(file); failed != nil {
			err = errors.Join(err, fmt.Errorf("bolt: document %s: %w", id, failed))
		}
	}
	return err
}

func (s documents) Delete(ctx context.Context, id string) error {
	return s.db.write(ctx, func(*boltTx) error {
		return s.erase(s.db.txn(ctx), id)
	})
}

// erase removes the record with the transaction, and the file after its commit.
func (s documents) erase(t *txn, id string) error {
	_, isCreated := s.db.folder.createdFor(t.tx, id)
	err := documentTable.remove(t.tx, id)
	if errors.Is(err, storage.ErrNotFound) {
		if !isCreated {
			return nil
		}
		err = nil
	}
	if err != nil {
		return err
	}
	if isCreated {
		t.group.erased[id] = true
		t.erased = append(t.erased, id)
	}
	t.afterCommit(func() { s.db.folder.unlink(id) })
	return nil
}

// Sweep leaves a document alone that Create is receiving, however long that takes. In a transaction, which may still be
// undone, it removes records, and files after the commit, and leaves files without a record to the next call.
func (s documents) Sweep(ctx context.Context, earlier time.Time) (total int, err error) {
	for n := sweepStep; n == sweepStep && err == nil; total += n {
		n, err = s.sweep(ctx, earlier)
	}
	if err == nil && s.db.txn(ctx) == nil {
		var n int
		n, err = s.db.folder.sweepCreated(ctx, earlier)
		if total += n; err == nil {
			n, err = s.db.folder.sweep(ctx)
			total += n
		}
	}
	if err != nil {
		return total, fmt.Errorf("bolt: sweeping documents: %w", err)
	}
	return total, nil
}

// sweep removes the oldest few.
func (s documents) sweep(ctx context.Context, earlier time.Time) (n int, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		return s.db.write(ctx, func(tx *boltTx) error {
			ids := unkept.ids(tx, before(earlier), sweepStep)
			for _, id := range ids {
				if err := s.erase(s.db.txn(ctx), id); err != nil {
					return err
				}
			}
			n = len(ids)
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// blob is a document as it was when it was opened. What was there then does not
// change, so nothing is held while it is open.
type blob struct {
	db     *DB
	within *txn // the transaction it was opened in, if any
	id     string
	size   int64
	hashed []storage.Midstate
	closed atomic.Bool
}

var _ storage.Blob = (*blob)(nil)

func (s documents) Open(ctx context.Context, id string) (storage.Blob, error) {
	b := &blob{db: s.db, within: s.db.txn(ctx), id: id}
	var d documentRecord
	err := s.db.read(ctx, func(tx *boltTx) (err error) {
		d, err = s.db.folder.record(tx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.size, b.hashed = d.Size, document.Midstates(d.Hashed)
	return b, nil
}

func (b *blob) Size() int64 { return b.size }

func (b *blob) Hashed() []storage.Midstate { return b.hashed }

func (b *blob) Close() error {
	b.closed.Store(true)
	return nil
}

// ReadAt follows io.ReaderAt.
func (b *blob) ReadAt(p []byte, offset int64) (int, error) {
	switch {
	case b.closed.Load():
		return 0, fmt.Errorf("bolt: reading document %s: %w", b.id, fs.ErrClosed)
	case offset < 0:
		return 0, fmt.Errorf("bolt: reading document %s at %d", b.id, offset)
	case offset >= b.size:
		return 0, io.EOF
	}
	var end error
	if rest := b.size - offset; int64(len(p)) > rest {
		p, end = p[:rest], io.EOF
	}
	if err := b.exists(); err != nil {
		return 0, err
	}
	err := b.db.folder.read(b.id, offset, p)
	if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile, or by something else than the store
		if err := b.exists(); err != nil {
			return 0, err
		}
		err = fmt.Errorf("%w: document %s has no file", ErrDamaged, b.id)
	}
	if err != nil {
		return 0, translate(err)
	}
	return len(p), end
}

// exists returns storage.ErrNotFound once the document is deleted. It uses the transaction that
// the blob was opened in for as long as that lasts.
func (b *blob) exists() error {
	check := func(tx *boltTx) error {
		if !b.db.folder.has(tx, b.id) {
			return storage.ErrNotFound
		}
		return nil
	}
	if b.within != nil {
		if err := b.within.use(check); !errors.Is(err, errEnded) {
			return err
		}
	}
	return b.db.view(check)
}
