// Package bolt stores everything on this machine: records in one file, with
// go.etcd.io/bbolt, and documents as files in a folder beside it. It is the backend for one
// server: the process that has the file open locks it.
//
//	db, err := bolt.Open("innsigli.db", bolt.Options{})
//	defer db.Close()
//	accounts := account.New(db.Accounts(), db, account.Options{})
//	signals := busysignal.New(db.BusySignals(), db, busysignal.Options{})
//
// # Transactions
//
// A [DB] is a storage.Transactor. The function of one transaction runs at a time; the others wait for it, or for the end
// of their context. A transaction is on the disk when InTx has returned nil. Reads outside a transaction do not wait, and
// read what was committed.
//
// Transactions that wait for each other share a commit of the file. Each reads what those before it wrote, and one that
// fails undoes its own writes alone. If the commit fails, InTx returns its error to all of them. A transaction for which
// no other waits is committed at once.
//
// InTx may return only after the functions of later transactions have run, also if its own function failed. A caller
// therefore must not hold a lock while it calls InTx that the function of another transaction takes.
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
// Records are JSON; members that a record lacks read as zero, and members that this version does not know are ignored.
// Entries of the evidence log are binary; their first byte is the form. A document is a file, and a record that
// says how long it is. Bytes behind that length are of a transaction that was undone, and a
// file without a record is no document. The file of a deleted document is removed after the
// commit; should the process die in between, the first Sweep after the next start removes it.
//
// The file of records uses the space of deleted records again and does not become shorter:
// see [DB.FileSize] and [DB.Compact]. [Open] reads all pages in use, one to two seconds for each
// gigabyte of records: it checks them, and finds the free ones, of which no list is stored.
// Damage that the check finds is [ErrDamaged], and so is most of what bbolt finds later; values have no checksums.
//
// When the disk is full, transactions and Create return storage.ErrFull and store nothing. They
// succeed again when there is space.
//
// # Versions
//
// [Open] makes a store if the file does not exist, and returns [ErrSchema] for a store of another
// version. [Migrate] brings a store of an earlier version to this one.
//
// # Copies
//
// [DB.Backup] writes an archive of a store, which may be in use.
package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/innsigli/innsigli/internal/durable"
)

var (
	// ErrLocked: another process has the file open.
	ErrLocked = errors.New("bolt: the store is in use by another process")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("bolt: the store is closed")
	// ErrDamaged: the file is not a store, or its content contradicts itself.
	ErrDamaged = errors.New("bolt: not a store, or a damaged one")
	// ErrSchema: the store is of another version of this package.
	ErrSchema = errors.New("bolt: the store is not of this version")
	// ErrNotCompacted: the store can be used, but bytes of documents that were in its file, some of them deleted,
	// still are.
	ErrNotCompacted = errors.New("bolt: the store's file was not compacted after it was brought to this version")
	// ErrFolder: the folder is not the one in which the store keeps its documents.
	ErrFolder = errors.New("bolt: not the store's folder of documents")
)

// Options of [Open] and [Migrate]; the zero value is right for most programs.
type Options struct {
	// LockTimeout is how long to wait for another process to close the file; 0
	// is one second.
	LockTimeout time.Duration
	// DocumentFolder is the folder in which documents are files. It is made with a new store,
	// with access for its owner only, and the store opens with no other. If it is empty, the
	// folder has the name of the store's file with ".documents" appended.
	DocumentFolder string
	syncParent     func(path string) error // of package durable, except in tests
}

// documentsSuffix is appended to the name of the store's file for the default folder of documents.
const documentsSuffix = ".documents"

// DB is an open store. Its methods may be called from several goroutines.
type DB struct {
	path string
	opts Options
	file atomic.Pointer[boltFile] // Compact replaces it
	// turns are those of the functions of transactions, and of commits. bbolt has a lock of its own for that, but
	// waiting for a turn ends with the context.
	turns turns
	// group is that of the transaction before, to which the next belongs too; nil if that was committed. unflushed is
	// true from when Compact has renamed its file until the new name is flushed. Only the holder of the turn uses them.
	group     *group
	unflushed bool
	// enqueued has a value when jobs were added; see storage.Jobs.
	enqueued chan struct{}
	folder   *folder
	// steps are buffers for documents that are coming in.
	steps sync.Pool
}

// Open opens the store in the file of that path. If the file does not exist, Open makes it, with
// access for its owner only. It is [ErrDamaged] if a page is damaged. Errors: [ErrLocked], [ErrDamaged],
// [ErrSchema], [ErrFolder], [storage.ErrFull], and those of the file system.
func Open(path string, opts Options) (*DB, error) {
	db := newDB(path, opts)
	if err := db.open(); err != nil {
		return nil, db.abandon(err)
	}
	return db, nil
}

func newDB(path string, opts Options) *DB {
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = time.Second
	}
	if opts.DocumentFolder == "" {
		opts.DocumentFolder = path + documentsSuffix
	}
	if opts.syncParent == nil {
		opts.syncParent = durable.SyncParent
	}
	db := &DB{path: path, opts: opts, enqueued: make(chan struct{}, 1)}
	db.steps.New = func() any { return new([createStep]byte) }
	return db
}

// open opens the file and the folder, and makes a new store.
func (db *DB) open() error {
	version, err := db.inspect(func(_ *boltTx, version int) bool { return version == schemaVersion })
	if err == nil && version > 0 {
		err = checkVersion(version)
	}
	if err != nil {
		return err
	}
	if err := db.openFile(); err != nil {
		return err
	}
	if version, err = db.version(); err != nil {
		return err
	}
	if version == 0 {
		return db.create()
	}
	if err := checkVersion(version); err != nil { // another process may have changed it meanwhile
		return err
	}
	return db.openDocuments()
}

// abandon closes what was opened of a store, and returns the error to answer with.
func (db *DB) abandon(err error) error {
	_ = db.close() // nothing was written that its error could be about
	if _, missing := os.Stat(filepath.Dir(db.path)); errors.Is(missing, fs.ErrNotExist) {
		return fmt.Errorf("bolt: the folder for the store does not exist: %w", missing)
	}
	return fmt.Errorf("bolt: opening %s: %w", db.path, err)
}

// Close waits for the transactions that run and closes the file. Closing twice
// is no error.
func (db *DB) Close() error {
	if err := db.pause(context.Background()); err != nil { // and for Compact, which replaces the file
		return err
	}
	defer db.resume()
	return db.close()
}

func (db *DB) close() (err error) {
	if file := db.file.Load(); file != nil {
		err = file.Close()
	}
	if db.folder != nil {
		err = errors.Join(err, db.folder.close())
	}
	if err != nil {
		return fmt.Errorf("bolt: closing: %w", err)
	}
	return nil
}
