package bolt

import (
	"context"
	"errors"
	"fmt"

	bolterrors "go.etcd.io/bbolt/errors"
)

// DocumentBytes is how many bytes the files of documents have.
func (db *DB) DocumentBytes() (total int64, err error) {
	list, err := db.folder.root.Open(".")
	if err != nil {
		return 0, err
	}
	defer list.Close()
	entries, err := list.ReadDir(-1)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && isID(entry.Name()) {
			total += info.Size()
		}
	}
	return total, err
}

// DocumentIDs are the ids of all documents.
func (db *DB) DocumentIDs() (ids []string, err error) {
	err = db.view(func(tx *boltTx) error {
		return tx.Bucket([]byte(documentTable.bucket)).ForEach(func(id, _ []byte) error {
			ids = append(ids, string(id))
			return nil
		})
	})
	return ids, err
}

// UsedBytes is how far into its file the store has pages.
func (db *DB) UsedBytes() (size int64) {
	_ = db.view(func(tx *boltTx) error {
		size = tx.Size()
		return nil
	})
	return size
}

// Check is bbolt's own check of all pages of the file, in which free pages are listed nowhere.
func (db *DB) Check() (faults []error) {
	_ = db.view(func(tx *boltTx) error {
		for fault := range tx.Check() {
			faults = append(faults, fault)
		}
		return nil
	})
	return faults
}

// CopyDocuments does the first half of a migration of a store that has documents in its file.
func CopyDocuments(path string) error {
	db := newDB(path, Options{})
	if err := db.openFile(); err != nil {
		return err
	}
	_, err := db.copyDocuments()
	if err != nil {
		return err
	}
	return db.close()
}

// Upgrade does all of a migration but compacting the file.
func Upgrade(path string) error {
	db := newDB(path, Options{})
	if err := db.openFile(); err != nil {
		return err
	}
	if err := db.upgrade(3); err != nil {
		return err
	}
	return db.close()
}

// WithSyncParent returns options of a store that flushes the names of its files with another function.
func (o Options) WithSyncParent(syncParent func(path string) error) Options {
	o.syncParent = syncParent
	return o
}

// MaxHeld is how many deleted documents are remembered while a backup runs.
const MaxHeld = maxHeld

// Held returns how many deleted documents are remembered, and for how many there is memory.
func (db *DB) Held() (n, memory int) {
	db.folder.mu.Lock()
	defer db.folder.mu.Unlock()
	return len(db.folder.held), cap(db.folder.held)
}

// AddDocuments makes documents without flushing each of them.
func (db *DB) AddDocuments(ids ...string) error {
	for _, id := range ids {
		if err := db.folder.root.WriteFile(id, nil, 0o600); err != nil {
			return err
		}
	}
	return db.update(func(tx *boltTx) error {
		for _, id := range ids {
			if err := documentTable.insert(tx, id, documentRecord{Kept: true}); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteToAllTables adds records to each table and each index, and deletes their first and their last record, in one
// transaction.
func (db *DB) WriteToAllTables(ctx context.Context) error {
	return db.InTx(ctx, func(ctx context.Context) error {
		for _, table := range schema {
			for _, name := range table.buckets() {
				if err := db.write(ctx, func(tx *boltTx) error { return changeBucket(tx, name) }); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		return nil
	})
}

func changeBucket(tx *boltTx, name string) error {
	b := tx.Bucket([]byte(name))
	if b == nil {
		return fmt.Errorf("%w: there is no such table", ErrDamaged)
	}
	first, _ := b.Cursor().First()
	last, _ := b.Cursor().Last()
	for _, key := range [][]byte{first, last} {
		if err := b.Delete(key); err != nil && !errors.Is(err, bolterrors.ErrIncompatibleValue) { // one of a bucket
			return err
		}
	}
	for key := range 20 {
		if err := b.Put(fmt.Append(nil, key), make([]byte, 300)); err != nil && !errors.Is(err, bolterrors.ErrIncompatibleValue) {
			return err
		}
	}
	_, err := b.NextSequence()
	return err
}

// DeleteSome deletes accounts in a transaction, and calls beforeCommit at its end. The page of the accounts becomes so
// small that bbolt reads the one after it for the first time in the commit.
func (db *DB) DeleteSome(ctx context.Context, beforeCommit func()) error {
	return db.InTx(ctx, func(ctx context.Context) error {
		err := db.write(ctx, func(tx *boltTx) error {
			accounts := tx.Bucket([]byte(accountTable.bucket))
			for range 10 {
				first, _ := accounts.Cursor().First()
				if err := accounts.Delete(first); err != nil {
					return err
				}
			}
			return nil
		})
		beforeCommit()
		return err
	})
}
