package pades_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/pades"
)

// No bomb passes, and what is read of it and allocated for it has a bound. How long it may take, and how much room,
// BenchmarkBombs judges.
func TestBombs(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for _, b := range bombs(t, p, 5) {
		source := &counted{ReaderAt: bytes.NewReader(b.bytes)}
		allocated := testenv.Allocated(func() {
			report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: source, Size: int64(len(b.bytes))}, ades.VerifyOptions{Roots: p.ca.Roots()})
			if err == nil && report.Passed() {
				t.Errorf("%s passes", b.name)
			}
		})
		read := source.bytes.Load()
		t.Logf("%s: %d KB read of %d KB, %d MB allocated", b.name, read>>10, len(b.bytes)>>10, allocated>>20)
		if read > 60*int64(len(b.bytes)) || allocated > 350<<20 {
			t.Errorf("%s: %d KB are read of %d KB, and %d MB allocated", b.name, read>>10, len(b.bytes)>>10, allocated>>20)
		}
	}
}

// BenchmarkBombs verifies whole bombs. No document of 1 MB takes longer than five seconds to verify, or more than 200 MB.
func BenchmarkBombs(b *testing.B) {
	p := newPerson(b, newAuthority(b), p256(b))
	for _, bomb := range bombs(b, p, 1) {
		b.Run(bomb.name, func(b *testing.B) {
			if len(bomb.bytes) > mostOfABomb {
				b.Errorf("it has %d bytes", len(bomb.bytes))
			}
			testenv.Bounded(b, 5*time.Second, 200<<20, func() {
				_, _ = pades.Verify(b.Context(), document(bomb.bytes), ades.VerifyOptions{Roots: p.ca.Roots()})
			})
		})
	}
}
