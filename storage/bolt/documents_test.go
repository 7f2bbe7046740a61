package bolt

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage"
)

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

// A document that is coming in does not exist for anybody who knows its id.
func TestADocumentIsNotThereBeforeItIsComplete(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	looked := false
	r := &until{strings.NewReader(strings.Repeat("x", 2*createStep+1)), func() {
		looked = true
		for _, id := range unkeptIDs(t, db) {
			if _, err := db.Documents().Open(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("Open: %v", err)
			}
		}
		if n := len(unkeptIDs(t, db)); n != 1 {
			t.Errorf("%d documents are coming in", n)
		}
	}}
	ref, err := db.Documents().Create(t.Context(), r, 1<<30)
	if err != nil || !looked {
		t.Fatalf("Create: %v", err)
	}
	if _, err := db.Documents().Open(t.Context(), ref.ID); err != nil {
		t.Errorf("Open: %v", err)
	}
}

func unkeptIDs(t *testing.T, db *DB) (ids []string) {
	t.Helper()
	err := db.view(func(tx *bbolt.Tx) error {
		ids = unkept.ids(tx, every(), noLimit)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
