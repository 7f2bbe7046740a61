package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/internal/durable"
)

// placeKey, in metaBucket, has the mark of the place where documents are; none for the
// store's own file.
const placeKey = "documents"

// openContents opens the place where the documents are. A folder is made with a new
// store; that of an older one has to be there.
func (db *DB) openContents(folder string) error {
	if folder == "" {
		db.contents = chunks{db}
		return nil
	}
	return db.view(func(tx *bbolt.Tx) error {
		if tx.Bucket([]byte(metaBucket)) == nil {
			if err := makeFolder(folder); err != nil {
				return err
			}
		}
		f, err := openFolder(db, folder)
		if err == nil {
			db.contents = f
		}
		return err
	})
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

// placeOf is the mark of the place where the store has its documents. What has none of
// this package's buckets is no store.
func placeOf(tx *bbolt.Tx) (string, error) {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return "", ErrDamaged
	}
	return string(meta.Get([]byte(placeKey))), nil
}

// checkPlace says whether the documents are where the store left them.
func (db *DB) checkPlace(tx *bbolt.Tx) error {
	if tx.Bucket([]byte(metaBucket)) == nil {
		return nil // it is new
	}
	remembered, err := placeOf(tx)
	if err != nil {
		return err
	}
	expected := remembered
	if id, _ := tx.Bucket([]byte(documentTable.bucket)).Cursor().First(); id != nil {
		expected = "" // its documents are to be somewhere
	}
	mark, err := db.contents.mark(expected)
	switch {
	case err != nil:
		return err
	case mark == remembered:
		return nil
	case mark == "":
		return fmt.Errorf("%w: its documents are in a folder, and none was given", ErrFolder)
	case remembered == "":
		return fmt.Errorf("%w: its documents are in its file", ErrFolder)
	}
	return fmt.Errorf("%w: it belongs to another one", ErrFolder)
}

// settlePlace leaves the store's mark where its documents are, after the store has it.
func (db *DB) settlePlace() error {
	return db.view(func(tx *bbolt.Tx) error {
		mark, err := placeOf(tx)
		if err != nil || mark == "" {
			return err
		}
		return db.contents.settle(mark)
	})
}

// claimPlace has a new store remember where its documents are.
func (db *DB) claimPlace(tx *bbolt.Tx) error {
	mark, err := db.contents.claim()
	if err != nil || mark == "" {
		return err
	}
	return tx.Bucket([]byte(metaBucket)).Put([]byte(placeKey), []byte(mark))
}
