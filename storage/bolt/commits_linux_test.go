package bolt

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// BenchmarkCommits measures transactions of several writers at once. Each changes a signing request and records
// evidence. x-floor is the time of a transaction as a multiple of the floor, one write of 4 KiB
// with one flush (fdatasync), which is measured in the same run and in turns; the others are counts for each transaction.
func BenchmarkCommits(b *testing.B) {
	for _, writers := range []int{1, 8, 16} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) { benchmarkCommits(b, writers) })
	}
}

// commitRounds is how many times transactions and the floor take turns.
const commitRounds = 10

func benchmarkCommits(b *testing.B, writers int) {
	db := opened(b)
	requests := make([]signing.Request, writers)
	for i := range requests {
		requests[i] = signing.Request{ID: fmt.Sprint("request ", i), Pending: bytes.Repeat([]byte{1}, 1000)}
		err := db.InTx(b.Context(), func(ctx context.Context) error { return db.Requests().CreateRequest(ctx, requests[i]) })
		if err != nil {
			b.Fatal(err)
		}
	}
	floor := newFloor(b)
	statsBefore, commitsBefore := db.file.Load().Stats().TxStats, commits(db)
	n := max(b.N, commitRounds)
	var took, least time.Duration
	for range commitRounds {
		began := time.Now()
		var left atomic.Int64
		left.Store(int64(n / commitRounds))
		var group errgroup.Group
		for i := range requests {
			group.Go(func() error {
				for left.Add(-1) >= 0 {
					if err := benchmarkTransaction(b.Context(), db, &requests[i]); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			b.Fatal(err)
		}
		took += time.Since(began)
		least += floor(n / commitRounds)
	}
	b.ReportMetric(0, "ns/op") // it would include the floor
	transactions := float64(n / commitRounds * commitRounds)
	committed, stats := float64(commits(db)-commitsBefore), db.file.Load().Stats().TxStats
	b.ReportMetric(float64(took)/float64(least), "x-floor")
	b.ReportMetric(committed/transactions, "commits")
	b.ReportMetric(2*committed/transactions, "flushes") // bbolt's, of pages and of the page that refers to them
	pages := float64(stats.GetPageAlloc()-statsBefore.GetPageAlloc()) + committed*float64(os.Getpagesize())
	b.ReportMetric(pages/1024/transactions, "KiB")
}

func benchmarkTransaction(ctx context.Context, db *DB, r *signing.Request) error {
	r.Revision++
	return db.InTx(ctx, func(ctx context.Context) error {
		if err := db.Requests().UpdateRequest(ctx, *r); err != nil {
			return err
		}
		facts := fmt.Appendf(nil, `{"digest":"%0300d"}`, r.Revision)
		return db.EvidenceLog().Record(ctx, storage.Entry{Subject: r.ID, Account: "a", Kind: "k", Facts: facts})
	})
}

// newFloor returns a function that writes and flushes a page so many times, and returns how long that took.
func newFloor(b *testing.B) func(n int) time.Duration {
	b.Helper()
	const pages = 256
	page := bytes.Repeat([]byte{1}, 4096)
	file, err := os.Create(filepath.Join(b.TempDir(), "floor"))
	if err == nil {
		_, err = file.Write(bytes.Repeat(page, pages))
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	return func(n int) time.Duration {
		began := time.Now()
		for i := range n {
			if _, err := file.WriteAt(page, int64(i%pages)*4096); err != nil {
				b.Fatal(err)
			}
			if err := syscall.Fdatasync(int(file.Fd())); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(began)
	}
}
