package bolt_test

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/google/uuid"
	"github.com/innsigli/innsigli/storage/bolt"
)

// A backup is of one moment, and a receiver that stands still holds up no writer, also when
// the file grows to many times its size.
func TestABackupOfAStoreThatIsWrittenTo(t *testing.T) {
	folder, copied := t.TempDir(), t.TempDir()
	db := openIn(t, folder)
	b := newBusy(t, db)
	ctx, stop := context.WithCancel(t.Context())
	var group errgroup.Group
	for i := range writers {
		group.Go(func() error { return b.write(ctx, i) })
	}
	b.until(t, 20)
	backUp(t, db, copied, func() {
		b.until(t, 200)
		if _, _, err := db.Compact(t.Context()); err != nil {
			t.Error(err)
		}
		b.until(t, 20)
	})
	b.until(t, 20)
	stop()
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	agrees(t, openIn(t, copied), b)
	agrees(t, db, b)
	if left, err := filepath.Glob(filepath.Join(folder, "*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// backUp makes a store in a folder of a backup, and calls still in the middle.
func backUp(t *testing.T, db *bolt.DB, folder string, still func()) {
	t.Helper()
	r, w := io.Pipe()
	var group errgroup.Group
	group.Go(func() error { return w.CloseWithError(db.Backup(t.Context(), &pausing{Writer: w, still: still})) })
	extract(t, r, folder)
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// extract does what tar does.
func extract(t *testing.T, archive io.Reader, folder string) {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err == nil && h.Typeflag == tar.TypeDir {
			err = root.Mkdir(filepath.Clean(h.Name), h.FileInfo().Mode().Perm())
		} else if err == nil {
			var file *os.File
			if file, err = root.OpenFile(h.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, h.FileInfo().Mode()); err == nil {
				_, err = io.Copy(file, r)
				err = errors.Join(err, file.Close())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
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

// A document that is deleted while a backup runs is in it, and gone afterwards.
func TestABackupHasWhatIsDeletedMeanwhile(t *testing.T) {
	folder, copied := t.TempDir(), t.TempDir()
	db := openIn(t, folder)
	ref, kept := stored(t, db, "a document"), stored(t, db, "another")
	backUp(t, db, copied, func() {
		deleteDocument(t, db, ref.ID)
		if n, err := db.Documents().Sweep(t.Context(), time.Now().Add(-time.Hour)); n != 0 || err != nil {
			t.Errorf("Sweep: %d, %v", n, err)
		}
	})
	if left := files(t, folder); len(left) != 1 || left[0] != kept.ID {
		t.Errorf("files afterwards: %v", left)
	}
	if got := string(readDocument(t, openIn(t, copied), ref.ID)); got != "a document" {
		t.Errorf("in the backup it is %q", got)
	}
}

// The memory for what is deleted while a backup runs is bounded, and free afterwards. All files are removed: those
// that were remembered at the end of the backup, the others by Sweep.
func TestManyDocumentsAreDeletedDuringABackup(t *testing.T) {
	const more = 10
	folder, copied := t.TempDir(), t.TempDir()
	db := openIn(t, folder)
	var ids []string
	for range bolt.MaxHeld + more {
		ids = append(ids, uuid.NewString())
	}
	if err := db.AddDocuments(ids...); err != nil {
		t.Fatal(err)
	}
	backUp(t, db, copied, func() {
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			for _, id := range ids {
				if err := db.Documents().Delete(ctx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if n, _ := db.Held(); n != bolt.MaxHeld {
			t.Errorf("%d documents are remembered", n)
		}
	})
	if n, memory := db.Held(); n != 0 || memory != 0 {
		t.Errorf("after the backup %d documents are remembered, and there is memory for %d", n, memory)
	}
	if left := files(t, folder); len(left) != more {
		t.Errorf("after the backup %d files are left, want %d", len(left), more)
	}
	if n, err := db.Documents().Sweep(t.Context(), time.Now().Add(-time.Hour)); n != more || err != nil {
		t.Errorf("Sweep: %d, %v", n, err)
	}
	if left := files(t, folder); len(left) != 0 {
		t.Errorf("after Sweep %d files are left", len(left))
	}
	if got, err := openIn(t, copied).DocumentIDs(); err != nil || len(got) != len(ids) {
		t.Errorf("the backup has %d documents, %v", len(got), err)
	}
}

// A backup that cannot be whole is an error, and no archive that ends as one.
func TestABackupThatBreaksOff(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder)
	ref := stored(t, db, "a document")
	full := errors.New("full")
	if err := db.Backup(t.Context(), failing{full}); !errors.Is(err, full) {
		t.Errorf("a writer that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := db.Backup(ctx, &pausing{Writer: io.Discard, still: cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that leaves: %v", err)
	}
	if err := os.Truncate(inDocuments(folder, ref.ID), 3); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), io.Discard); !errors.Is(err, bolt.ErrDamaged) {
		t.Errorf("a document that is cut off: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
