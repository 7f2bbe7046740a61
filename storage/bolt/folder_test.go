package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

func TestFilesAreTheirOwnersAlone(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder)
	ref := stored(t, db, "a document")
	for path, want := range map[string]fs.FileMode{
		filepath.Join(folder, "store.db"): 0o600,
		inDocuments(folder):               0o700,
		inDocuments(folder, ref.ID):       0o600,
		inDocuments(folder, "store-id"):   0o600,
	} {
		if stat, err := os.Stat(path); err != nil || stat.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, stat.Mode(), err, want)
		}
	}
}

func TestAStoreOpensWithItsOwnFolderAlone(t *testing.T) {
	one, other, unmarked := t.TempDir(), t.TempDir(), t.TempDir()
	db := openIn(t, one)
	ref := stored(t, db, "a document")
	db.Close()
	openIn(t, other).Close()
	if err := os.WriteFile(filepath.Join(unmarked, ref.ID), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ store, documents string }{
		"one that is not there":                {one, filepath.Join(one, "none")},
		"another's":                            {one, inDocuments(other)},
		"one without a mark":                   {one, t.TempDir()},
		"another's, of a new store":            {t.TempDir(), inDocuments(one)},
		"one with documents, of a new store":   {t.TempDir(), unmarked},
		"the default, of a store with its own": {one, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "the default, of a store with its own" {
				moved := inDocuments(one) + ".moved"
				if err := os.Rename(inDocuments(one), moved); err != nil {
					t.Fatal(err)
				}
				defer os.Rename(moved, inDocuments(one))
			}
			db, err := bolt.Open(filepath.Join(test.store, "store.db"), bolt.Options{DocumentFolder: test.documents})
			if err == nil {
				db.Close()
			}
			if !errors.Is(err, bolt.ErrFolder) {
				t.Errorf("Open: %v", err)
			}
		})
	}
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(inDocuments(one), moved); err != nil {
		t.Fatal(err)
	}
	readDocument(t, openWith(t, filepath.Join(one, "store.db"), bolt.Options{DocumentFolder: moved}), ref.ID)
}

// The bytes of a transaction that was undone are in the file, and no reader sees them; the
// next ones take their place.
func TestARevisionUndoneIsCutOff(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder)
	ref := stored(t, db, "head")
	undone := errors.New("undone")
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		err := db.Documents().Append(ctx, ref.ID, storage.Revision{Base: 4, Bytes: bytes.Repeat([]byte("x"), 1000)})
		return errors.Join(undone, err)
	})
	if !errors.Is(err, undone) {
		t.Fatal(err)
	}
	if got := string(readDocument(t, db, ref.ID)); got != "head" {
		t.Errorf("read: %.20q", got)
	}
	appendTo(t, db, ref.ID, storage.Revision{Base: 4, Bytes: []byte(", more")})
	if got := string(read(t, inDocuments(folder, ref.ID))); got != "head, more" {
		t.Errorf("the file is %.20q", got)
	}
}

// An id comes from outside and is no path.
func TestAnIDLeadsNowhereElse(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder)
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
	db := openIn(t, folder)
	short, missing := stored(t, db, "a document"), stored(t, db, "a document")
	if err := os.Truncate(inDocuments(folder, short.ID), 3); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(inDocuments(folder, missing.ID)); err != nil {
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

// The store remembers its folder before the folder is marked. A first start that ended in
// between left nothing that a second one cannot go on from.
func TestACrashBeforeTheFolderIsMarked(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder)
	db.Close()
	mark := inDocuments(folder, "store-id")
	before, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	db = openIn(t, folder)
	if after, err := os.ReadFile(mark); err != nil || string(after) != string(before) {
		t.Errorf("the mark is %q, %v, and was %q", after, err, before)
	}
	stored(t, db, "a document")
	db.Close()
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	_, err = bolt.Open(filepath.Join(folder, "store.db"), bolt.Options{})
	if !errors.Is(err, bolt.ErrFolder) {
		t.Errorf("a folder of documents without a mark: %v, want ErrFolder", err)
	}
}

// Files without a record are swept, whatever their age, but for those of documents that are
// coming in. What is not the store's stays.
func TestFilesWithoutARecordAreSwept(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder)
	ref := stored(t, db, "a document")
	stray, strange := "0b1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11", "notes.txt"
	for _, name := range []string{stray, strange} {
		if err := os.WriteFile(inDocuments(folder, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-time.Hour)
	sweep := func(want int) {
		t.Helper()
		if n, err := db.Documents().Sweep(t.Context(), long); n != want || err != nil {
			t.Errorf("Sweep: %d, %v, want %d", n, err, want)
		}
	}
	half := &until{Reader: bytes.NewReader([]byte("x")), look: func() {
		sweep(1)
		for _, name := range files(t, folder) { // also that of the document that is coming in
			if _, err := db.Documents().Open(t.Context(), name); name != ref.ID && !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("Open %s: %v", name, err)
			}
		}
	}}
	later, err := db.Documents().Create(t.Context(), half, 10)
	if err != nil {
		t.Fatal(err)
	}
	sweep(0)
	if diff := cmp.Diff(slices.Sorted(slices.Values([]string{ref.ID, later.ID, strange})), files(t, folder)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// until calls look at the end of what it delivers.
type until struct {
	io.Reader
	look func()
}

func (u *until) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err == io.EOF {
		u.look()
	}
	return n, err
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

func deleteDocument(t testing.TB, db *bolt.DB, id string) {
	t.Helper()
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.Documents().Delete(ctx, id) }); err != nil {
		t.Fatal(err)
	}
}

// files are the names of the files in the folder of documents, its mark aside.
func files(t testing.TB, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(inDocuments(folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() != "store-id" {
			names = append(names, entry.Name())
		}
	}
	return names
}
