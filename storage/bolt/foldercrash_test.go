package bolt_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/storage/bolt"
)

// The store remembers its folder before the folder is marked. A first start that ended in
// between left nothing that a second one cannot go on from.
func TestACrashBeforeTheFolderIsMarked(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder, inFolder)
	db.Close()
	mark := filepath.Join(folder, "documents", "store-id")
	before, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	db = openIn(t, folder, inFolder)
	if after, err := os.ReadFile(mark); err != nil || string(after) != string(before) {
		t.Errorf("the mark is %q, %v, and was %q", after, err, before)
	}
	stored(t, db, "a document")
	db.Close()
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	_, err = bolt.Open(filepath.Join(folder, "store.db"), bolt.Options{DocumentFolder: filepath.Join(folder, "documents")})
	if !errors.Is(err, bolt.ErrFolder) {
		t.Errorf("a folder of documents without a mark: %v, want ErrFolder", err)
	}
}

// A store's own folder is not copied to, nor a copy that is finished.
func TestCopyDocumentsOverwritesNothing(t *testing.T) {
	folder := t.TempDir()
	db := openIn(t, folder, inFolder)
	ref := stored(t, db, "a document")
	backup, documents := filepath.Join(folder, "copy.db"), filepath.Join(folder, "documents")
	backUp(t, db, backup, func() {})
	if _, err := bolt.CopyDocuments(t.Context(), backup, documents, documents); !errors.Is(err, bolt.ErrFolder) {
		t.Errorf("onto itself: %v, want ErrFolder", err)
	}
	if content, err := os.ReadFile(filepath.Join(documents, ref.ID)); err != nil || string(content) != "a document" {
		t.Errorf("the source is %q, %v", content, err)
	}
}
