package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"go.etcd.io/bbolt"
)

// FileSize returns the size of the store's file in bytes, and how many of them are free. The store
// uses free bytes again; Compact returns them to the file system.
func (db *DB) FileSize() (size, free int64, err error) {
	err = db.view(func(tx *boltTx) error {
		stat, err := os.Stat(db.path)
		if err != nil {
			return err
		}
		stats := tx.DB().Stats()
		freePages := int64(stats.FreePageN + stats.PendingPageN)
		size = stat.Size()
		// free = bytes past the last page + bytes of free pages
		free = size - tx.Size() + freePages*int64(tx.DB().Info().PageSize)
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("bolt: reading the size of the store's file: %w", err)
	}
	return size, free, nil
}

const (
	// compactSuffix is appended to the name of the store's file for the file that Compact writes.
	compactSuffix = ".compact"
	// batchBytes is how many bytes of records one transaction copies.
	batchBytes = 1 << 20
)

// Compact writes a new file that has the records and nothing else: no free space, and no bytes of deleted records.
// The new file takes the old one's place, and gets its owner, group and permissions. If this process may not give it
// that owner or group, Compact returns an error before it copies anything. Compact returns the sizes of the file in
// bytes, before and after. Transactions wait meanwhile, and reads do not. If ctx ends before the records are copied, the
// store goes on with the old file.
//
// The new file takes the old one's place after it is flushed, so that a crash leaves one or the other. If its new
// name cannot be flushed then, Compact returns the sizes and an error, and the store uses the new file. Each
// transaction tries again to flush the name, and returns [storage.ErrUnavailable] if that fails: after a crash the
// old file could be in place again, without the transaction.
func (db *DB) Compact(ctx context.Context) (before, after int64, err error) {
	if err := db.pause(ctx); err != nil {
		return 0, 0, err
	}
	defer db.resume()
	if before, after, err = db.compact(ctx); err != nil {
		err = fmt.Errorf("bolt: compacting %s: %w", db.path, translate(err))
	}
	return before, after, err
}

// compact compacts the file in these steps, whose order gives the guarantees of Compact. The caller has the turn (pause).
//
//  1. Create the new file, which only its owner may use, and give it the old file's owner and group. If this process
//     may not do that, it finds out before it copies gigabytes.
//  2. Copy the records.
//  3. Give the new file the old one's permissions. It has the old owner by now, so at no time may more people read or
//     write the new file than the old one.
//  4. Flush the new file, before it has the store's name.
//  5. Open the new file, which locks it, rename it, and use it.
//  6. Flush the folder, and with it the new name. Until that succeeds, db.unflushed lets no transaction begin.
func (db *DB) compact(ctx context.Context) (before, after int64, err error) {
	path := db.path + compactSuffix
	defer os.Remove(path) // unless it was renamed
	old, err := os.Stat(db.path)
	if err != nil {
		return 0, 0, err
	}
	if after, err = db.writeCompact(ctx, path, old); err != nil {
		return 0, 0, err
	}
	if err := db.replace(path); err != nil {
		return 0, 0, err
	}
	return old.Size(), after, db.flushName()
}

// writeCompact does steps 1 to 4 of compact, and returns the size of the new file.
func (db *DB) writeCompact(ctx context.Context, path string, old fs.FileInfo) (size int64, err error) {
	permissions := old.Mode().Perm()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, permissions&0o600)
	if err != nil {
		return 0, err
	}
	defer file.Close() // for the error paths; on success it is already closed and this does nothing
	if err := setOwner(file, old, permissions); err != nil {
		return 0, err
	}
	to, err := openBolt(path, copySettings)
	if err != nil {
		return 0, err
	}
	size, err = copyRecords(ctx, to, db.file.Load())
	if err := errors.Join(err, to.Close()); err != nil {
		return 0, err
	}
	return size, errors.Join(file.Truncate(size), file.Chmod(permissions), file.Sync(), file.Close())
}

// copySettings are the settings for a file that is written at once, and flushed at the end.
var copySettings = bbolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType}

// copyRecords copies the records of a file at one moment, and returns how many bytes of the new file that takes.
// The new file is compacted. The error is that of ctx if it ends meanwhile.
func copyRecords(ctx context.Context, to, from *boltFile) (size int64, err error) {
	err = guarded(func() error {
		err := from.View(func(tx *bbolt.Tx) error {
			// A page may have been damaged since the file was opened.
			if err := checkPages(ctx, tx, from); err != nil {
				return err
			}
			return tx.ForEach(func(name []byte, b *bbolt.Bucket) error { return copyBucket(ctx, to, name, b) })
		})
		if err != nil {
			return err
		}
		if err := setCompacted(to); err != nil {
			return err
		}
		return to.View(func(tx *bbolt.Tx) error {
			size = tx.Size()
			return nil
		})
	})
	return size, err
}

// copyBucket copies a bucket. In this version of the format no bucket contains another. A transaction keeps what it
// writes in memory, so copyBucket copies in batches, with a transaction for each.
func copyBucket(ctx context.Context, to *boltFile, name []byte, from *bbolt.Bucket) error {
	c := from.Cursor()
	key, value := c.First()
	copyBatch := func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(name)
		if err != nil {
			return err
		}
		b.FillPercent = 1 // the keys are in order, so that no page gets more later
		for size := 0; key != nil && size < batchBytes; key, value = c.Next() {
			if value == nil {
				return fmt.Errorf("%w: there is a bucket in the table %s; restore a backup", ErrDamaged, name)
			}
			if err := b.Put(key, value); err != nil {
				return err
			}
			size += len(key) + len(value)
		}
		return b.SetSequence(from.Sequence())
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := to.Update(copyBatch); err != nil || key == nil {
			return err
		}
	}
}

// setCompacted notes in a file that it is compacted; see uncompactedKey.
func setCompacted(file *boltFile) error {
	uncompacted := false
	err := file.View(func(tx *bbolt.Tx) error {
		uncompacted = isUncompacted(&boltTx{Tx: tx})
		return nil
	})
	if err != nil || !uncompacted {
		return err
	}
	return file.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(metaBucket)).Delete([]byte(uncompactedKey)) })
}

// replace does step 5 of compact. The new file is opened before the rename, so that it is locked from the start. The
// caller has to call flushName.
func (db *DB) replace(path string) error {
	if runtime.GOOS == "windows" {
		return db.replaceClosed(path)
	}
	old := db.file.Load()
	file, err := openBolt(path, db.settings(path))
	if err != nil {
		return err
	}
	if err := os.Rename(path, db.path); err != nil {
		return errors.Join(err, file.Close())
	}
	db.file.Store(file)
	db.unflushed = true
	_ = old.Close() // it was only read, and has no name any more
	return nil
}

// replaceClosed is replace for Windows, which cannot rename an open file, so it closes the old one first. If the rename
// fails, it opens the old file again. If opening fails, the DB stays closed.
func (db *DB) replaceClosed(path string) error {
	renameErr := errors.Join(db.file.Load().Close(), os.Rename(path, db.path))
	file, err := openBolt(db.path, db.settings(db.path))
	if err != nil {
		return errors.Join(renameErr, err)
	}
	db.file.Store(file)
	return renameErr
}

// flushName does step 6 of compact if replace has renamed a file and its name is not flushed yet. Each transaction calls
// it first. The caller has the turn.
func (db *DB) flushName() error {
	if !db.unflushed {
		return nil
	}
	if err := db.opts.syncParent(db.path); err != nil {
		return fmt.Errorf("the compacted file is in use, but its name could not be flushed to the disk: %w", err)
	}
	db.unflushed = false
	return nil
}
