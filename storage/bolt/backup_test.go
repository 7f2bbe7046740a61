package bolt_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage/bolt"
)

// A backup is of one moment, and a receiver that stands still holds up no writer, also when
// the file grows to many times its size.
func TestABackupOfAStoreThatIsWrittenTo(t *testing.T) {
	for _, place := range places {
		t.Run(place, func(t *testing.T) {
			folder, copied := t.TempDir(), t.TempDir()
			db := openIn(t, folder, place)
			b := newBusy(t, db)
			ctx, stop := context.WithCancel(t.Context())
			var group errgroup.Group
			for i := range writers {
				group.Go(func() error { return b.write(ctx, i) })
			}
			b.until(t, 20)
			_, from := in(folder, place)
			to, opts := in(copied, place)
			release := db.HoldDeletions()
			backUp(t, db, to, func() { b.until(t, 200) })
			b.until(t, 20)
			n, err := bolt.CopyDocuments(t.Context(), to, from.DocumentFolder, opts.DocumentFolder)
			if err != nil || place == inFolder && n < writers || place != inFolder && n > 0 {
				t.Fatalf("CopyDocuments: %d, %v", n, err)
			}
			release()
			stop()
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			agrees(t, openIn(t, copied, place), b)
			agrees(t, db, b)
		})
	}
}

// backUp writes a backup to a file and calls still in the middle.
func backUp(t *testing.T, db *bolt.DB, path string, still func()) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	backup, err := db.Backup()
	if err != nil {
		t.Fatal(err)
	}
	defer backup.Close()
	n, err := backup.WriteTo(&pausing{Writer: file, still: still})
	if err != nil || n != backup.Size() {
		t.Fatalf("WriteTo: %d of %d bytes, %v", n, backup.Size(), err)
	}
	if stat, err := file.Stat(); err != nil || stat.Size() != n {
		t.Errorf("the file has %d bytes of %d, %v", stat.Size(), n, err)
	}
}

// pausing stands still after the first bytes.
type pausing struct {
	io.Writer
	still func()
}

func (p *pausing) Write(b []byte) (int, error) {
	if p.still != nil {
		p.still()
		p.still = nil
	}
	return p.Writer.Write(b)
}

// A copy of documents that is not whole does not open.
func TestABackupDoesNotOpenWithoutItsDocuments(t *testing.T) {
	folder, copied := t.TempDir(), t.TempDir()
	db := openIn(t, folder, inFolder)
	first, second := stored(t, db, "first"), stored(t, db, "second")
	from, path, to := filepath.Join(folder, "documents"), filepath.Join(copied, "store.db"), filepath.Join(copied, "documents")
	backUp(t, db, path, nil)
	later := max(first.ID, second.ID) // and the earlier one is copied before it
	aside := filepath.Join(folder, "aside")
	if err := os.Rename(filepath.Join(from, later), aside); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.CopyDocuments(t.Context(), path, from, to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("CopyDocuments: %v", err)
	}
	if db, err := bolt.Open(path, bolt.Options{DocumentFolder: to}); !errors.Is(err, bolt.ErrFolder) {
		t.Errorf("Open: %v", err)
		if err == nil {
			db.Close()
		}
	}
	if err := os.Rename(aside, filepath.Join(from, later)); err != nil {
		t.Fatal(err)
	}
	if n, err := bolt.CopyDocuments(t.Context(), path, from, to); n != 2 || err != nil {
		t.Errorf("CopyDocuments again: %d, %v", n, err)
	}
	if n, err := bolt.CopyDocuments(t.Context(), path, t.TempDir(), filepath.Join(copied, "more")); !errors.Is(err, bolt.ErrFolder) {
		t.Errorf("CopyDocuments from a strange folder: %d, %v", n, err)
	}
	again := openIn(t, copied, inFolder)
	for ref, want := range map[string]string{first.ID: "first", second.ID: "second"} {
		if got := string(whole(t, again, ref)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
