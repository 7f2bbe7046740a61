package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/storage/storagetest"
)

func TestBackend(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storagetest.Backend {
		return backend(t, filepath.Join(t.TempDir(), "store.db"))
	})
}

func backend(t *testing.T, path string) storagetest.Backend {
	db := open(t, path)
	return storagetest.Backend{
		Transactor:  db,
		Documents:   db.Documents(),
		Accounts:    db.Accounts(),
		BusySignals: db.BusySignals(),
		Requests:    db.Requests(),
		Sandbox:     db.Sandbox(),
		Reopen: func(t *testing.T) storagetest.Backend {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return backend(t, path)
		},
	}
}
