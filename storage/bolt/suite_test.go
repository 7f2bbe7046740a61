package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/storagetest"
)

func TestBackend(t *testing.T) {
	for _, place := range places {
		t.Run(place, func(t *testing.T) {
			storagetest.Run(t, func(t *testing.T) storagetest.Backend { return backend(t, t.TempDir(), place) })
		})
	}
}

// places are where documents can be.
var places = []string{"documents in the file", inFolder}

const inFolder = "documents in a folder"

// in names the store of a folder that keeps its documents in that place.
func in(folder, place string) (path string, opts bolt.Options) {
	if place == inFolder {
		opts.DocumentFolder = filepath.Join(folder, "documents")
	}
	return filepath.Join(folder, "store.db"), opts
}

func openIn(t testing.TB, folder, place string) *bolt.DB {
	t.Helper()
	path, opts := in(folder, place)
	return openWith(t, path, opts)
}

func backend(t *testing.T, folder, place string) storagetest.Backend {
	db := openIn(t, folder, place)
	return storagetest.Backend{
		Transactor:  db,
		Documents:   db.Documents(),
		Accounts:    db.Accounts(),
		BusySignals: db.BusySignals(),
		Requests:    db.Requests(),
		Sandbox:     db.Sandbox(),
		Jobs:        db.Jobs(),
		EvidenceLog: db.EvidenceLog(),
		Webhooks:    db.Webhooks(),
		Processes:   db.Processes(),
		Pages:       db.Pages(),
		Bytes:       func(t testing.TB) int64 { return documentBytes(t, db) },
		Reopen: func(t *testing.T) storagetest.Backend {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return backend(t, folder, place)
		},
	}
}
