package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/storagetest"
)

// The documents over records of bbolt.
func TestDocuments(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storagetest.Backend {
		db, err := bolt.Open(filepath.Join(t.TempDir(), "records.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		folder := t.TempDir()
		return storagetest.Backend{
			Transactor: db, Documents: files{folder, db, db.Pages()}, Accounts: db.Accounts(), BusySignals: db.BusySignals(), Requests: db.Requests(),
			Sandbox: db.Sandbox(), Jobs: db.Jobs(), EvidenceLog: db.EvidenceLog(), Webhooks: db.Webhooks(), Processes: db.Processes(), Pages: db.Pages(),
			Bytes: func(t testing.TB) int64 { return sizeOf(t, folder) },
		}
	}, "Create", "Read", "Append", "Sweep", "Memory")
}

// sizeOf is how many bytes the files of a folder have.
func sizeOf(t testing.TB, folder string) (n int64) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}
