package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/internal/durable"
)

// Room returns the size of the store's file in bytes, and how many of them are free: the store
// uses them again, and Compact gives them back.
func (db *DB) Room() (size, free int64, err error) {
	err = db.view(func(tx *bbolt.Tx) error {
		stat, err := os.Stat(db.path)
		if err != nil {
			return err
		}
		stats := tx.DB().Stats()
		pages := int64(stats.FreePageN + stats.PendingPageN)
		size = stat.Size()
		free = size - tx.Size() + pages*int64(tx.DB().Info().PageSize)
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("bolt: looking for free room: %w", err)
	}
	return size, free, nil
}

const (
	// compactSuffix is what the file that Compact writes has behind the name of the store's.
	compactSuffix = ".compact"
	// compactStep is how many bytes of records one transaction copies.
	compactStep = 1 << 20
)

// Compact rewrites the store's file, so that it has nothing in it but the records that there
// are: no room of deleted ones, and no bytes of them. It returns the sizes of the file in bytes.
// Transactions wait meanwhile, and reads do not. The new file takes the old one's place when it
// is on the disk, so that a crash leaves one or the other.
func (db *DB) Compact(ctx context.Context) (before, after int64, err error) {
	if err := db.lock(ctx); err != nil {
		return 0, 0, err
	}
	defer db.unlock()
	if before, after, err = db.compact(); err != nil {
		return 0, 0, fmt.Errorf("bolt: compacting %s: %w", db.path, meaning(err))
	}
	return before, after, nil
}

func (db *DB) compact() (before, after int64, err error) {
	path := db.path + compactSuffix
	defer os.Remove(path) // unless it has the other name
	stat, err := os.Stat(db.path)
	if err != nil {
		return 0, 0, err
	}
	if after, err = db.writeCompact(path, stat); err != nil {
		return 0, 0, err
	}
	return stat.Size(), after, db.replace(path)
}

// writeCompact writes the records to a new file, which is on the disk on return, and belongs to
// the owner of the old one.
func (db *DB) writeCompact(path string, old fs.FileInfo) (size int64, err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	to, err := openBolt(path, copySettings)
	if err != nil {
		return 0, err
	}
	size, err = copyRecords(to, db.file.Load())
	if err := errors.Join(err, to.Close()); err != nil {
		return 0, err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	return size, errors.Join(file.Truncate(size), giveTo(file, old), file.Sync(), file.Close())
}

// copySettings are those of a file that is written at once, and flushed at the end.
var copySettings = bbolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType}

// copyRecords copies all that is in a file at one moment, and returns how many bytes of the new
// file that takes.
func copyRecords(to, from *bbolt.DB) (size int64, err error) {
	err = guarded(func() error {
		if err := bbolt.Compact(to, from, compactStep); err != nil {
			return err
		}
		return to.View(func(tx *bbolt.Tx) error {
			size = tx.Size()
			return nil
		})
	})
	return size, err
}

// replace puts a file in the place of the store's. It is open, and so locked, before.
func (db *DB) replace(path string) error {
	old := db.file.Load()
	if runtime.GOOS == "windows" { // where a file that is open is not renamed
		err := errors.Join(old.Close(), os.Rename(path, db.path))
		file, opened := openBolt(db.path, db.settings(db.path))
		if opened == nil {
			db.file.Store(file)
		}
		return errors.Join(err, opened)
	}
	file, err := openBolt(path, db.settings(path))
	if err != nil {
		return err
	}
	if err := os.Rename(path, db.path); err != nil {
		return errors.Join(err, file.Close())
	}
	db.file.Store(file)
	return errors.Join(durable.SyncName(db.path), old.Close())
}
