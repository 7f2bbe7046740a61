package bolt

import (
	"fmt"
	"io"

	"go.etcd.io/bbolt"
)

// Backup is the store's file as it was at one moment, to be written elsewhere while the
// store is in use. What is written opens with [Open]. The store's file grows more than it
// otherwise would until the backup is closed, for nothing that is in it may be overwritten.
//
// Of a store with a folder of documents it is the records alone; see [CopyDocuments].
type Backup struct{ tx *bbolt.Tx }

// Backup begins a backup. Closing the store waits until it is closed.
func (db *DB) Backup() (*Backup, error) {
	tx, err := db.file.Begin(false)
	if err != nil {
		return nil, fmt.Errorf("bolt: beginning a backup: %w", meaning(err))
	}
	return &Backup{tx}, nil
}

// Size is how many bytes WriteTo writes.
func (b *Backup) Size() int64 { return b.tx.Size() }

// WriteTo writes the backup. Errors of w are returned wrapped.
func (b *Backup) WriteTo(w io.Writer) (int64, error) {
	n, err := b.tx.WriteTo(w)
	if err != nil {
		return n, fmt.Errorf("bolt: writing a backup: %w", err)
	}
	return n, nil
}

// Close ends the backup.
func (b *Backup) Close() error { return b.tx.Rollback() }

// HoldDeletions keeps the files of documents that are deleted, until release is called:
// taken before a backup begins, it keeps those that are in the backup.
func (db *DB) HoldDeletions() (release func()) { return db.contents.hold() }
