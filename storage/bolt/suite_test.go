package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/storagetest"
)

func TestBackend(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storagetest.Backend { return backend(t, t.TempDir()) })
}

// openIn opens the store of a folder.
func openIn(t testing.TB, folder string) *bolt.DB {
	t.Helper()
	return open(t, filepath.Join(folder, "store.db"))
}

// inDocuments names a file in the documents of a folder's store.
func inDocuments(folder string, name ...string) string {
	return filepath.Join(append([]string{folder, "store.db.documents"}, name...)...)
}

func backend(t *testing.T, folder string) storagetest.Backend {
	db := openIn(t, folder)
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
			return backend(t, folder)
		},
	}
}
