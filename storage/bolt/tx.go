package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/innsigli/innsigli/storage"
)

var _ storage.Transactor = (*DB)(nil)

// txKey is the key of a transaction in a context; another DB's is another key.
type txKey struct{ db *DB }

// txn is the transaction that a context carries.
type txn struct {
	db        *DB
	group     *group
	mu        sync.Mutex // a bbolt transaction is for one goroutine at a time
	tx        *boltTx    // nil when it has ended
	nestedErr error      // of a nested InTx
	panicErr  error      // of a panic in bbolt, after which the group is only rolled back
	after     []func()
	files     map[string]*os.File // of the documents that were appended to
	erased    []string            // of the documents in group.erased, those that it has deleted
}

// InTx runs fn in a transaction; see storage.Transactor and the package comment.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if t := db.txn(ctx); t != nil {
		return t.nest(ctx, fn)
	}
	after, err := db.transact(ctx, fn)
	if err != nil {
		return err
	}
	for _, follow := range after {
		follow()
	}
	return nil
}

// errPanicked is the error of a function that panicked.
var errPanicked = errors.New("bolt: the function of the transaction panicked")

// transact runs fn in a transaction of its own and returns the functions to call after it.
func (db *DB) transact(ctx context.Context, fn func(ctx context.Context) error) (after []func(), err error) {
	t, err := db.begin(ctx)
	if err != nil {
		return nil, err
	}
	err = errPanicked // unless fn returns
	defer func() { after, err = t.after, t.end(err) }()
	err = fn(context.WithValue(ctx, txKey{db}, t))
	return nil, err
}

func (db *DB) txn(ctx context.Context) *txn {
	t, _ := ctx.Value(txKey{db}).(*txn)
	return t
}

// nest runs fn as a part of the transaction. What it wrote before it failed
// cannot be undone alone, so its error is the whole transaction's.
func (t *txn) nest(ctx context.Context, fn func(ctx context.Context) error) error {
	if t.ended() {
		return errEnded
	}
	err := fn(ctx)
	if err != nil {
		t.mu.Lock()
		t.nestedErr = errors.Join(t.nestedErr, err)
		t.mu.Unlock()
	}
	return err
}

// afterCommit registers a function that is called after the transaction was committed, when the
// next one may run. It is not called if the transaction is undone. The caller is within write.
func (t *txn) afterCommit(follow func()) { t.after = append(t.after, follow) }

func (t *txn) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tx == nil
}

// errEnded: a context was kept for longer than its transaction.
var errEnded = fmt.Errorf("bolt: the transaction of this context has ended: %w", storage.ErrNoTx)

// use calls fn with the transaction, unless it has ended. If bbolt panics because of a damaged page, the error is
// [ErrDamaged], and the transaction cannot be committed.
func (t *txn) use(fn func(*boltTx) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.tx == nil:
		return errEnded
	case t.panicErr != nil:
		return t.panicErr
	}
	err := guarded(func() error { return fn(t.tx) })
	if errors.Is(err, errPanic) {
		t.panicErr = err
	}
	return err
}

// write calls fn with the context's transaction.
func (db *DB) write(ctx context.Context, fn func(*boltTx) error) error {
	t := db.txn(ctx)
	if t == nil {
		return storage.ErrNoTx
	}
	return t.use(fn)
}

// read calls fn with the context's transaction, or with one of its own that
// reads what was last committed.
func (db *DB) read(ctx context.Context, fn func(*boltTx) error) error {
	if t := db.txn(ctx); t != nil {
		return t.use(fn)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return db.view(fn)
}

// view calls fn with a transaction that reads what was last committed. Compact may close the
// file that it was about to read.
func (db *DB) view(fn func(*boltTx) error) error {
	for {
		file := db.file.Load()
		err := guarded(func() error {
			return file.View(func(tx *bbolt.Tx) error { return fn(&boltTx{Tx: tx}) })
		})
		if errors.Is(err, bolterrors.ErrDatabaseNotOpen) && db.file.Load() != file {
			continue
		}
		return translate(err)
	}
}

// translate returns the error of this package or of storage that an error of bbolt or of the file system stands
// for, or else that error.
func translate(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen), errors.Is(err, fs.ErrClosed):
		return ErrClosed
	case isFull(err) && !errors.Is(err, storage.ErrFull):
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	}
	return err
}

// isFull reports whether a write failed because of the size of the disk, a quota, or the limit of a file's size.
// bbolt keeps only the text of the errors that it gets from making its file longer.
func isFull(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, errno) || strings.HasSuffix(err.Error(), ": "+errno.Error()) {
			return true
		}
	}
	return false
}

// commit commits tx. After an error bbolt drops the transaction and finds the free pages again, so that the store goes
// on as it was. After a panic, the caller has to roll tx back. The free pages that the commit took are then not used until
// the store is opened again.
func (db *DB) commit(tx *bbolt.Tx) error {
	id := tx.ID()
	commitErr := guarded(tx.Commit)
	if commitErr == nil {
		return nil
	}
	last := id
	if err := db.view(func(tx *boltTx) error { last = tx.ID(); return nil }); err != nil {
		commitErr = errors.Join(commitErr, err)
	}
	return commitError(commitErr, last == id)
}

// commitError returns the error for a commit that ended with commitErr. If it ended before the meta page was
// written, nothing was committed. If the page was written and only flushing it failed, reads
// see the transaction now, and perhaps do not after a crash.
func commitError(commitErr error, written bool) error {
	if written {
		return fmt.Errorf("%w: it may have been committed: %v", storage.ErrUnavailable, commitErr)
	}
	return translate(commitErr)
}
