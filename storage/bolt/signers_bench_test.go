package bolt_test

import (
	"testing"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/storagetest"
)

func BenchmarkSigners(b *testing.B) {
	db := openIn(b, b.TempDir())
	storagetest.BenchmarkSigners(b, db, db.Documents())
}

func BenchmarkClaims(b *testing.B) {
	db := openIn(b, b.TempDir())
	storagetest.BenchmarkClaims(b, db, db.Jobs())
}

func BenchmarkProcesses(b *testing.B) {
	storagetest.BenchmarkProcesses(b, func() (storage.Transactor, portal.Store) {
		db := openIn(b, b.TempDir())
		return db, db.Processes()
	})
}

// BenchmarkProcessPages prepares a million processes, which takes minutes.
func BenchmarkProcessPages(b *testing.B) {
	storagetest.BenchmarkProcessPages(b, func() (storage.Transactor, portal.Store) {
		db := openIn(b, b.TempDir())
		return db, db.Processes()
	}, 1_000_000)
}
