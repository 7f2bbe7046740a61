package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/innsigli/innsigli/storage"
)

// meaning puts the errors of bbolt and of the file system into the words that callers
// tell apart.
func meaning(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen), errors.Is(err, fs.ErrClosed):
		return ErrClosed
	case noRoom(err) && !errors.Is(err, storage.ErrFull):
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	}
	return err
}

// noRoom says whether the system had no room for what was to be written: on the disk,
// within a quota, or within the greatest size of a file. bbolt keeps only the words of
// the errors that it has from making its file longer.
func noRoom(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		if errors.Is(err, errno) || strings.HasSuffix(err.Error(), ": "+errno.Error()) {
			return true
		}
	}
	return false
}

// commit commits tx. After a failure bbolt forgets the transaction and reads its list of
// free pages again, so that the store goes on as it was.
func (db *DB) commit(tx *bbolt.Tx) error {
	id := tx.ID()
	failed := tx.Commit()
	if failed == nil {
		return nil
	}
	last := id
	if err := db.view(func(tx *bbolt.Tx) error { last = tx.ID(); return nil }); err != nil {
		failed = errors.Join(failed, err)
	}
	return outcome(failed, last == id)
}

// outcome says what the failure of a commit means. What failed before the meta page was
// written never happened. When the page was written and only flushing it failed, the
// transaction is there for whoever reads now, though perhaps not after a crash.
func outcome(failed error, written bool) error {
	if written {
		return fmt.Errorf("%w: it may have been committed: %v", storage.ErrUnavailable, failed)
	}
	return meaning(failed)
}
