package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// errPanic is wrapped by the errors of guarded that stand for a panic.
var errPanic = errors.New("reading or writing a page panicked")

// guarded calls f, and returns a panic of it as an error: bbolt panics when pages contradict
// each other, and reading behind the end of a truncated file is a fault of memory.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("%w: %w: %v", ErrDamaged, errPanic, found)
		}
	}()
	return f()
}

// boltFile is a file that is open with bbolt. raw is the same file, to read its pages; bbolt closes it.
type boltFile struct {
	*bbolt.DB
	raw *os.File
}

// openTries is how often openBolt opens a file that was replaced before it had the lock.
const openTries = 3

// openBolt opens a file with bbolt, and takes its lock. If another process replaced the file, because it compacted
// the store while openBolt waited for the lock, openBolt opens the new file.
func openBolt(path string, options bbolt.Options) (*boltFile, error) {
	for range openTries {
		file, err := openOnce(path, options)
		if err != nil {
			return nil, err
		}
		opened, err := file.raw.Stat()
		if err == nil {
			var current fs.FileInfo
			if current, err = os.Stat(path); err == nil && os.SameFile(opened, current) {
				return file, nil
			}
		}
		file.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s was another file each time after it was opened: "+
		"another process replaces it, or its file system does not keep the number of a file", path)
}

// openOnce opens the file that has that name now.
func openOnce(path string, options bbolt.Options) (*boltFile, error) {
	file, open := &boltFile{}, options.OpenFile
	if open == nil {
		open = os.OpenFile
	}
	options.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		file.raw, err = open(name, flag, mode)
		return file.raw, err
	}
	err := guarded(func() (err error) {
		file.DB, err = bbolt.Open(path, 0o600, &options)
		return err
	})
	if err != nil {
		file.raw.Close() // nil is fine
		return nil, openError(err)
	}
	return file, nil
}

// openError returns the error for one with which bbolt did not open a file. An error that is neither about the
// lock nor of the file system is about the file's content.
func openError(err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return ErrLocked
	case errors.As(err, &errno):
		return translate(err)
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
	if err := db.removeLeftovers(); err != nil {
		return err
	}
	return db.opts.syncParent(db.path)
}

// removeLeftovers removes the temporary files of a compaction and of backups that a crash ended. The store is locked, so
// that no process uses them.
func (db *DB) removeLeftovers() error {
	folder, name := filepath.Split(db.path)
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if suffix, ours := strings.CutPrefix(entry.Name(), name); ours && (suffix == compactSuffix || isBackupSuffix(suffix)) {
			if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// settings are those of a file in which the store is used.
func (db *DB) settings(path string) bbolt.Options {
	return bbolt.Options{
		Timeout: db.opts.LockTimeout,
		// Each commit would write the whole list of free pages: megabytes, once gigabytes of
		// records were deleted.
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
		// A file that outgrows its map is mapped again, which waits for all reads, and a backup
		// reads for a long time. So the map is larger than the file soon becomes.
		InitialMmapSize: mapSize(path),
	}
}

// mapSize is 16 GiB more than the file has. A map takes addresses, and neither memory nor disk. It is not larger
// than the file where addresses have 32 bits, nor on Windows, where a file becomes as long as its map.
func mapSize(path string) int {
	const more = math.MaxInt >> 29
	stat, err := os.Stat(path)
	switch {
	case runtime.GOOS == "windows":
		return 0
	case err != nil: // it is new, or bbolt returns the error
		return more
	}
	return int(stat.Size()) + more
}

// inspect returns the version of the store in the file, 0 if there is none, and changes nothing. If opens reports
// that the caller is going to open a store of that version, inspect checks all pages and that no table is missing.
// Before it reads the version, it checks the few pages that lead to it.
func (db *DB) inspect(opens func(tx *boltTx, version int) bool) (version int, err error) {
	stat, err := os.Stat(db.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && stat.Size() == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	file, err := openBolt(db.path, bbolt.Options{Timeout: db.opts.LockTimeout, ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer file.Close()
	err = guarded(func() error {
		return file.View(func(tx *bbolt.Tx) error {
			c, err := newPageCheck(context.Background(), tx, file)
			if err != nil {
				return err
			}
			c.enters = func(name []byte) bool { return string(name) == string(metaBucket) }
			if err := c.root(tx); err != nil {
				return err
			}
			if version, err = versionOf(&boltTx{Tx: tx}); err != nil || !opens(&boltTx{Tx: tx}, version) {
				return err
			}
			if c, err = newPageCheck(context.Background(), tx, file); err != nil {
				return err
			}
			if err := c.root(tx); err != nil {
				return err
			}
			if err := c.freelist(tx); err != nil {
				return err
			}
			return hasTables(&boltTx{Tx: tx}, version)
		})
	})
	return version, err
}

// version returns the version of the store in the open file; 0: it is new.
func (db *DB) version() (version int, err error) {
	err = db.view(func(tx *boltTx) error {
		version, err = versionOf(tx)
		return err
	})
	return version, err
}
