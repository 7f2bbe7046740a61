package bolt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/innsigli/innsigli/internal/durable"
)

// open opens the file, takes its lock and sees that everything is there.
//
// bbolt panics when pages contradict each other, and reading behind the end of a
// truncated file is a fault of memory; both become errors here.
func (db *DB) open(path string, opts Options) (err error) {
	var file *os.File
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if found := recover(); found != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, found)
		}
		if err != nil {
			db.abandon(file)
		}
	}()
	settings := settings(path, opts)
	settings.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	if db.file, err = bbolt.Open(path, 0o600, settings); err != nil {
		return refusal(err)
	}
	if err = db.view(whole); err != nil {
		return err
	}
	if err = db.openContents(opts.DocumentFolder); err != nil {
		return err
	}
	if err = db.InTx(context.Background(), db.prepare); err != nil {
		return err
	}
	return errors.Join(db.settlePlace(), durable.SyncParent(path))
}

// abandon lets go of a file that could not be opened to the end.
func (db *DB) abandon(file *os.File) {
	if db.contents != nil {
		db.contents.close()
	}
	if db.file != nil {
		db.file.Close()
	} else {
		file.Close() // nil is fine
	}
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
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

func settings(path string, opts Options) *bbolt.Options {
	return &bbolt.Options{
		Timeout: opts.LockTimeout,
		// Records that come and go leave free pages all over the file. The array has them in
		// order as they are written with each commit; the map would sort them each time, and
		// give them out as it has them, all over the file. Their list is written, since
		// rebuilding it from all the pages in use would make opening a big store slow and large.
		FreelistType: bbolt.FreelistArrayType,
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

// whole says whether all pages in use are in the file, so that a copy that broke
// off is found when it is opened and not some day later.
func whole(tx *bbolt.Tx) error {
	stat, err := os.Stat(tx.DB().Path())
	if err != nil {
		return err
	}
	if stat.Size() < tx.Size() {
		return fmt.Errorf("%w: it has %d bytes of %d", ErrDamaged, stat.Size(), tx.Size())
	}
	return nil
}
