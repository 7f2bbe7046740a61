package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

func TestTheFolderIsItsOwnersAlone(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder, inFolder)
	ref := stored(t, db, "a document")
	for path, want := range map[string]fs.FileMode{
		filepath.Join(folder, "documents"):             0o700,
		filepath.Join(folder, "documents", ref.ID):     0o600,
		filepath.Join(folder, "documents", "store-id"): 0o600,
	} {
		if stat, err := os.Stat(path); err != nil || stat.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, stat.Mode(), err, want)
		}
	}
}

func TestAStoreOpensWithItsOwnFolderAlone(t *testing.T) {
	one, other, plain := t.TempDir(), t.TempDir(), t.TempDir()
	db := openIn(t, one, inFolder)
	stored(t, db, "a document")
	db.Close()
	openIn(t, other, inFolder).Close()
	open(t, filepath.Join(plain, "store.db")).Close()
	for name, test := range map[string]struct{ store, documents string }{
		"none":                           {one, ""},
		"one that is not there":          {one, filepath.Join(one, "none")},
		"another's":                      {one, filepath.Join(other, "documents")},
		"one without a mark":             {one, t.TempDir()},
		"another's, of a new store":      {t.TempDir(), filepath.Join(one, "documents")},
		"one, of a store that has none":  {plain, t.TempDir()},
		"another's, of one without":      {plain, filepath.Join(one, "documents")},
		"none yet, of one that has none": {plain, filepath.Join(plain, "documents")},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := bolt.Open(filepath.Join(test.store, "store.db"), bolt.Options{DocumentFolder: test.documents})
			if err == nil {
				db.Close()
			}
			if !errors.Is(err, bolt.ErrFolder) && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Open: %v", err)
			}
			if _, err := os.Stat(filepath.Join(plain, "documents")); err == nil {
				t.Error("a folder was made")
			}
		})
	}
	openIn(t, one, inFolder)
}

// The bytes of a transaction that was undone are in the file, and nobody sees them; the
// next ones take their place.
func TestARevisionUndoneIsCutOff(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder, inFolder)
	ref := stored(t, db, "head")
	undone := errors.New("undone")
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		err := db.Documents().Append(ctx, ref.ID, storage.Revision{Base: 4, Bytes: bytes.Repeat([]byte("x"), 1000)})
		return errors.Join(undone, err)
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	if got := string(whole(t, db, ref.ID)); got != "head" {
		t.Errorf("read: %.20q", got)
	}
	appendTo(t, db, ref.ID, storage.Revision{Base: 4, Bytes: []byte(", more")})
	if got := string(read(t, filepath.Join(folder, "documents", ref.ID))); got != "head, more" {
		t.Errorf("the file is %.20q", got)
	}
}

func TestAFileGoesWithTheTransactionThatDeletesItsDocument(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder, inFolder)
	kept, gone := stored(t, db, "kept"), stored(t, db, "gone")
	undone := errors.New("undone")
	for _, end := range []error{undone, nil} {
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			if err := db.Documents().Delete(ctx, gone.ID); err != nil {
				return err
			}
			return end
		})
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
		if end != nil {
			whole(t, db, gone.ID)
		}
	}
	if diff := cmp.Diff([]string{kept.ID}, files(t, folder)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// An id comes from outside and is no path.
func TestAnIDLeadsNowhereElse(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder, inFolder)
	outside := filepath.Join(folder, "outside")
	if err := os.WriteFile(outside, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", ".", "..", "../outside", "store-id", outside, "./store-id", "\x00"} {
		if _, err := db.Documents().Open(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Open %q: %v", id, err)
		}
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			if err := db.Documents().Append(ctx, id, storage.Revision{Bytes: []byte("x")}); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("Append to %q: %v", id, err)
			}
			return db.Documents().Delete(ctx, id)
		})
		if err != nil {
			t.Errorf("Delete %q: %v", id, err)
		}
	}
	if got := string(read(t, outside)); got != "outside" {
		t.Errorf("the file outside is %q", got)
	}
}

// Files that were tampered with are an error and no panic.
func TestAFileThatIsMissingOrShort(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder, inFolder)
	short, missing := stored(t, db, "a document"), stored(t, db, "a document")
	if err := os.Truncate(filepath.Join(folder, "documents", short.ID), 3); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(folder, "documents", missing.ID)); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"short": short.ID, "missing": missing.ID} {
		blob, err := db.Documents().Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := blob.ReadAt(make([]byte, 10), 0); !errors.Is(err, bolt.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		blob.Close()
	}
}

// stored is a document that is kept.
func stored(t testing.TB, db *bolt.DB, content string) storage.Ref {
	t.Helper()
	ref, err := db.Documents().Create(t.Context(), bytes.NewReader([]byte(content)), int64(len(content)))
	if err == nil {
		err = db.InTx(t.Context(), func(ctx context.Context) error { return db.Documents().Keep(ctx, ref.ID) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func appendTo(t testing.TB, db *bolt.DB, id string, r storage.Revision) {
	t.Helper()
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.Documents().Append(ctx, id, r) }); err != nil {
		t.Fatal(err)
	}
}
