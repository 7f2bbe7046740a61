package xades_test

import (
	"crypto/sha256"
	"os"
	"slices"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// measure reports how one of ours compares, that reads a file. Theirs may be nil.
func (s benchScene) measure(b *testing.B, name string, ours func(*testing.B), theirs func(b *testing.B, repeat int)) {
	heap := testenv.PeakHeap(func() { ours(b) })
	content, err := os.ReadFile(s.path(name))
	if err != nil {
		b.Fatal(err)
	}
	var took, pass []time.Duration
	b.ResetTimer()
	for b.Loop() {
		took = append(took, since(func() { ours(b) }))
		b.StopTimer()
		pass = append(pass, since(func() { sha256.Sum256(content) }))
		b.StartTimer()
	}
	b.StopTimer()
	mine := median(took)
	b.ReportMetric(float64(mine)/float64(median(pass)), "SHA-256")
	b.ReportMetric(float64(heap)/float64(len(content)), "heap")
	if testenv.Full() && heap > 4*uint64(len(content)) {
		b.Errorf("a heap of %d bytes for %d", heap, len(content))
	}
	if theirs != nil && s.hasForeign() {
		s.besideForeign(b, mine, len(took), theirs)
	}
}

// besideForeign reports how one of ours compares with theirs, which are done one after another by one process, of
// which the start counts once.
func (s benchScene) besideForeign(b *testing.B, mine time.Duration, repeat int, theirs func(b *testing.B, repeat int)) {
	b.Helper()
	foreign := since(func() { theirs(b, repeat) }) / time.Duration(repeat)
	b.ReportMetric(float64(mine)/float64(foreign), "xmlsec1")
	if testenv.Full() && mine > foreign {
		b.Errorf("%v, and xmlsec1 %v", mine, foreign)
	}
}

func since(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
