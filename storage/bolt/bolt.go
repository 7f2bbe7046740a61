// Package bolt keeps everything in one file of this machine, by
// go.etcd.io/bbolt. It is the backend for one server: the file is locked by the
// process that has it open.
//
//	db, err := bolt.Open("innsigli.db", bolt.Options{})
//	defer db.Close()
//	accounts := account.New(db.Accounts(), db, account.Options{})
//	signals := busysignal.New(db.BusySignals(), db, busysignal.Options{})
//
// # Transactions
//
// A [DB] is a storage.Transactor. One transaction runs at a time; the others
// wait for it, or for the end of their context. It is on the disk when InTx has
// returned nil. Reads outside a transaction wait for nobody.
//
// A function that runs in a transaction passes on the context it was given:
// calling InTx with the outer context would wait for the transaction that it is
// itself part of. An error of a nested InTx undoes the whole transaction, also
// when the function around it goes on and returns nil. A context is good until
// the transaction's function has returned; used after that, methods answer
// storage.ErrNoTx.
//
// # What is stored
//
// Records are JSON; members that a later version adds read as zero here, and
// members that this version does not know are ignored. A file written in a later
// schema is refused with [ErrSchema]. Documents are cut into chunks; creating
// one takes a transaction for each half megabyte, so a slow sender holds up nobody and
// the memory used does not depend on the document's size. With Options.DocumentFolder
// they are files instead: copied by any program, and freed on the disk when deleted,
// whereas the store's file keeps its length and uses freed room again.
//
// When there is no room, transactions and Create answer storage.ErrFull, nothing of them
// is stored, and they go on when there is room again.
//
// # Copies
//
// [DB.Backup] copies the file of a store that is in use. The documents of one with a
// folder are copied after it, with [CopyDocuments], while [DB.HoldDeletions] keeps those
// that are deleted meanwhile.
package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

var (
	// ErrLocked: another process has the file open.
	ErrLocked = errors.New("bolt: the store is in use by another process")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("bolt: the store is closed")
	// ErrDamaged: the file is not a store, or its content contradicts itself.
	ErrDamaged = errors.New("bolt: not a store, or a damaged one")
	// ErrSchema: the file was written by a later version of this package.
	ErrSchema = errors.New("bolt: the store was written by a later version")
	// ErrFolder: the store keeps its documents in a folder and none was given, or it keeps
	// them in its file, or the folder is that of another store.
	ErrFolder = errors.New("bolt: not the store's folder of documents")
)

// Options of [Open]; the zero value is right for most.
type Options struct {
	// LockTimeout is how long to wait for another process to close the file; 0
	// is one second.
	LockTimeout time.Duration
	// DocumentFolder, unless empty, is the folder in which documents are files; all else
	// stays in the store's file. It is made, for its owner alone, with a new store, and
	// the store opens with no other. Empty: documents are in the store's file too.
	DocumentFolder string
}

// DB is an open store. Its methods may be called from several goroutines.
type DB struct {
	file *bbolt.DB
	// writing is held by the transaction that runs. bbolt has a lock of its own
	// for that, but waiting for this one ends with the context.
	writing chan struct{}
	// enqueued has a value when jobs were added; see storage.Jobs.
	enqueued chan struct{}
	contents contents
	// steps are buffers for documents that are coming in.
	steps sync.Pool
}

// Open opens the store in the file of that path and makes it, readable by its
// owner alone, when there is none. Errors: [ErrLocked], [ErrDamaged],
// [ErrSchema], [ErrFolder], [storage.ErrFull], and those of the file system.
func Open(path string, opts Options) (*DB, error) {
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = time.Second
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("bolt: the folder for the store does not exist: %w", err)
	}
	db := &DB{writing: make(chan struct{}, 1), enqueued: make(chan struct{}, 1)}
	db.steps.New = func() any { return new([createStep]byte) }
	if err := db.open(path, opts); err != nil {
		return nil, fmt.Errorf("bolt: opening %s: %w", path, err)
	}
	return db, nil
}

// Close waits for the transactions that run and closes the file. Closing twice
// is no error.
func (db *DB) Close() error {
	if err := errors.Join(db.file.Close(), db.contents.close()); err != nil {
		return fmt.Errorf("bolt: closing: %w", err)
	}
	return nil
}
