package bolt_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

func TestDeletionsAreHeld(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder, inFolder)
	ref := stored(t, db, "a document")
	first, second := db.HoldDeletions(), db.HoldDeletions()
	blob, err := db.Documents().Open(t.Context(), ref.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	deleteDocument(t, db, ref.ID)
	if _, err := blob.ReadAt(make([]byte, 1), 0); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a deleted document is read: %v", err)
	}
	first()
	first() // is nothing
	if n, err := db.Documents().Sweep(t.Context(), time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("Sweep: %d, %v", n, err)
	}
	if diff := cmp.Diff([]string{ref.ID}, files(t, folder)); diff != "" {
		t.Errorf("files while they are held (-want +got):\n%s", diff)
	}
	second()
	if left := files(t, folder); len(left) > 0 {
		t.Errorf("files after that: %v", left)
	}
}

// A process may die between a deletion and the removal of the file. What is not the
// store's stays.
func TestFilesWithoutARecordAreSwept(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder, inFolder)
	ref := stored(t, db, "a document")
	stray, strange := "0b1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11", "notes.txt"
	for _, name := range []string{stray, strange} {
		if err := os.WriteFile(filepath.Join(folder, "documents", name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		before time.Time
		want   int
	}{{time.Now().Add(-time.Hour), 0}, {time.Now().Add(time.Hour), 1}, {time.Now().Add(time.Hour), 0}} {
		if n, err := db.Documents().Sweep(t.Context(), step.before); n != step.want || err != nil {
			t.Errorf("Sweep: %d, %v, want %d", n, err, step.want)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values([]string{ref.ID, strange})), files(t, folder)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
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
	entries, err := os.ReadDir(filepath.Join(folder, "documents"))
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
