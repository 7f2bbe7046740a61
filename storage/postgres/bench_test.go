package postgres_test

import (
	"bytes"
	"crypto"
	"io"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/storagetest"
)

func BenchmarkSigners(b *testing.B) {
	db, _ := migrated(b)
	storagetest.BenchmarkSigners(b, db, db.Documents())
}

func BenchmarkClaims(b *testing.B) {
	db, _ := migrated(b)
	storagetest.BenchmarkClaims(b, db, db.Jobs())
}

// BenchmarkProcessPages prepares a million processes, which takes minutes.
func BenchmarkProcessPages(b *testing.B) {
	storagetest.BenchmarkProcessPages(b, func() (storage.Transactor, portal.Store) {
		db, _ := migrated(b)
		return db, db.Processes()
	}, 1_000_000)
}

func BenchmarkProcesses(b *testing.B) {
	storagetest.BenchmarkProcesses(b, func() (storage.Transactor, portal.Store) {
		db, _ := migrated(b)
		return db, db.Processes()
	})
}

func BenchmarkRecord(b *testing.B) {
	for name, interval := range map[string]time.Duration{"alone": 0, "chained every 5 s": 5 * time.Second, "chained every 100 ms": 100 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			db, _ := migrated(b)
			storagetest.BenchmarkRecord(b, db, db.EvidenceLog(), interval)
		})
	}
}

const benchSize = 22 << 20

func BenchmarkCreate(b *testing.B) {
	db, _ := migrated(b)
	p := make([]byte, benchSize)
	b.SetBytes(benchSize)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := db.Documents().Create(b.Context(), bytes.NewReader(p), benchSize, crypto.SHA256); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	db, _ := migrated(b)
	blob, err := db.Documents().Open(b.Context(), create(b, db, make([]byte, benchSize)).ID)
	if err != nil {
		b.Fatal(err)
	}
	defer blob.Close()
	b.SetBytes(benchSize)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.Copy(io.Discard, io.NewSectionReader(blob, 0, blob.Size())); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDelete measures the deletion without the creation.
func BenchmarkDelete(b *testing.B) {
	db, _ := migrated(b)
	p := make([]byte, benchSize)
	for b.Loop() {
		b.StopTimer()
		ref := create(b, db, p)
		b.StartTimer()
		remove(b, db, ref.ID)
	}
}
