package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/innsigli/innsigli/internal/durable"
)

// guarded calls f, and returns a panic of it as an error: bbolt panics when pages contradict
// each other, and reading behind the end of a truncated file is a fault of memory.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, found)
		}
	}()
	return f()
}

// openBolt opens a file with bbolt, and takes its lock. A file that another one replaced
// while the lock was waited for is opened again: another process has compacted the store.
func openBolt(path string, options bbolt.Options) (*bbolt.DB, error) {
	var file *os.File
	options.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	var db *bbolt.DB
	err := guarded(func() (err error) {
		db, err = bbolt.Open(path, 0o600, &options)
		return err
	})
	if err != nil {
		file.Close() // nil is fine
		return nil, refusal(err)
	}
	opened, err := file.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Stat(path); err == nil && os.SameFile(opened, there) {
			return db, nil
		}
	}
	db.Close()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return openBolt(path, options)
}

// refusal says why bbolt did not open the file. Not all its reasons have names:
// what is neither the lock nor the system's is the file's.
func refusal(err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return ErrLocked
	case errors.As(err, &errno):
		return meaning(err)
	case errors.Is(err, ErrDamaged):
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// openFile opens the store's file for this process alone.
func (db *DB) openFile() error {
	file, err := openBolt(db.path, db.settings(db.path))
	if err != nil {
		return err
	}
	db.file.Store(file)
	if err := os.Remove(db.path + compactSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.SyncParent(db.path)
}

// settings are those of a file in which the store is used.
func (db *DB) settings(path string) bbolt.Options {
	return bbolt.Options{
		Timeout: db.opts.LockTimeout,
		// The list of free pages would be written whole with each commit: megabytes, once
		// gigabytes of records were deleted.
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
		// A file that outgrows its map is mapped anew, which waits for all who read, and a
		// backup reads for long. So the map is larger than the file soon becomes.
		InitialMmapSize: mapSize(path),
	}
}

// mapSize is 16 GiB more than the file has, which take addresses and neither memory nor
// disk. There are none to spare where addresses have 32 bits, and on Windows a file
// becomes as long as its map.
func mapSize(path string) int {
	const more = math.MaxInt >> 29
	stat, err := os.Stat(path)
	switch {
	case runtime.GOOS == "windows":
		return 0
	case err != nil: // it is new, or bbolt will say why
		return more
	}
	return int(stat.Size()) + more
}

// inspect returns the version of the store in the file, 0 if there is none. If opens reports
// that a store of that version is to be opened, inspect looks for pages that are missing or
// damaged first: bbolt reads all pages when it opens a file to write, in a goroutine of its own,
// in which a panic would end the process.
func (db *DB) inspect(opens func(version int) bool) (version int, err error) {
	stat, err := os.Stat(db.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && stat.Size() == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	settings := db.settings(db.path) // the same map, in which a key that is said to lie behind the file is a fault here too
	settings.ReadOnly = true
	file, err := openBolt(db.path, settings)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	err = guarded(func() error {
		return file.View(func(tx *bbolt.Tx) error {
			if stat, err = os.Stat(db.path); err != nil {
				return err
			}
			if stat.Size() < tx.Size() {
				return fmt.Errorf("%w: it has %d bytes of %d", ErrDamaged, stat.Size(), tx.Size())
			}
			if version, err = versionOf(tx); err != nil || !opens(version) {
				return err
			}
			return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return readPages(b) })
		})
	})
	return version, err
}

// readPages reads all keys of a bucket, and finds each of them again, which reads the keys of the pages above it too. It
// panics if a page is damaged, or returns an error if the keys are not in order.
func readPages(b *bbolt.Bucket) error {
	var before []byte
	found := b.Cursor()
	return b.ForEach(func(key, value []byte) error {
		if again, _ := found.Seek(key); before != nil && bytes.Compare(before, key) >= 0 || !bytes.Equal(again, key) {
			return fmt.Errorf("%w: keys are not in order", ErrDamaged)
		}
		before = key
		if value == nil {
			return readPages(b.Bucket(key))
		}
		return nil
	})
}

// version returns the version of the store in the open file; 0: it is new.
func (db *DB) version() (version int, err error) {
	err = guarded(func() error {
		return db.view(func(tx *bbolt.Tx) error {
			version, err = versionOf(tx)
			return err
		})
	})
	return version, err
}
