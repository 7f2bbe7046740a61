package storagetest

import (
	"bytes"
	"context"
	"crypto"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// BenchmarkSigners measures the first signature on a document of 100 KB, and the tenth on
// one of 22 MB, from opening the document until the signature is stored. It reports the
// medians, and how many times the first the tenth takes (x-first).
func BenchmarkSigners(b *testing.B, tx storage.Transactor, documents storage.Documents) {
	s := newSigner(b)
	small, large := contract(100_000), contract(largeDocument)
	var first, tenth []time.Duration
	for b.Loop() {
		first = append(first, s.last(b, tx, documents, small, 1))
		tenth = append(tenth, s.last(b, tx, documents, large, manySigners))
	}
	one, ten := median(first), median(tenth)
	b.ReportMetric(0, "ns/op") // which has the preparations in it
	b.ReportMetric(one.Seconds()*1000, "ms-first-100KB")
	b.ReportMetric(ten.Seconds()*1000, "ms-tenth-22MB")
	b.ReportMetric(ten.Seconds()/one.Seconds(), "x-first")
}

// last stores a document, signs it so many times and says how long the last one took.
func (s signer) last(b *testing.B, tx storage.Transactor, documents storage.Documents, p []byte, times int) (took time.Duration) {
	b.Helper()
	ctx := b.Context()
	ref, err := documents.Create(ctx, bytes.NewReader(p), int64(len(p)), crypto.SHA256)
	if err != nil {
		b.Fatal(err)
	}
	for range times {
		start := time.Now()
		if err := s.sign(ctx, tx, documents, ref.ID); err != nil {
			b.Fatal(err)
		}
		took = time.Since(start)
	}
	if err := tx.InTx(ctx, func(ctx context.Context) error { return documents.Delete(ctx, ref.ID) }); err != nil {
		b.Fatal(err)
	}
	return took
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
