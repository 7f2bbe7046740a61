package xades_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/xades"
)

// No bomb passes, none is extended, and what cannot be read is not signed either.
func TestBombs(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for _, b := range bombs(t, p, 20) {
		b.mustBeCheap(t, "verified", func() {
			report, err := xades.Verify(t.Context(), document(b.bytes), ades.VerifyOptions{Roots: p.ca.Roots()})
			if errors.Is(err, ades.ErrUnreadable) != b.refused || err == nil && report.Passed() {
				t.Errorf("%s: %v, %+v", b.name, err, report)
			}
		})
		b.mustBeCheap(t, "extended", func() {
			if _, err := (xades.Extender{Sources: p.ca.Sources(nil)}).Extend(t.Context(), document(b.bytes), ades.LTA); err == nil {
				t.Errorf("%s is extended", b.name)
			}
		})
		b.mustBeCheap(t, "signed", func() {
			_, err := xades.Prepare(t.Context(), document(b.bytes), p.signer, xades.Options{})
			if b.refused && !errors.Is(err, ades.ErrUnreadable) {
				t.Errorf("%s to be signed: %v", b.name, err)
			}
		})
	}
}

// mustBeCheap bounds what is allocated, by the length of the document. How long something may take, and how much room
// at once, BenchmarkBombs judges.
func (b bomb) mustBeCheap(t *testing.T, name string, do func()) {
	t.Helper()
	most := uint64(cmp.Or(b.allocated, 60)*len(b.bytes) + 64<<10)
	if allocated := testenv.Allocated(do); allocated > most {
		t.Errorf("%s: %d KB are allocated for %d KB to be %s", b.name, allocated>>10, len(b.bytes)>>10, name)
	}
}

// BenchmarkBombs does with whole bombs what may be done with a document. Nothing takes more than two seconds, or
// more than 200 MB beside the document.
func BenchmarkBombs(b *testing.B) {
	const most, room = 2 * time.Second, 200 << 20
	p := newPerson(b, newAuthority(b), p256(b))
	bounded := func(bomb bomb, name string, do func()) {
		b.Run(name+"/"+bomb.name, func(b *testing.B) { testenv.Bounded(b, most, room, do) })
	}
	for _, bomb := range append(bombs(b, p, 1), bombsOfCoverage(1)...) {
		bounded(bomb, "verified", func() {
			_, _ = xades.Verify(b.Context(), document(bomb.bytes), ades.VerifyOptions{Roots: p.ca.Roots()})
		})
		bounded(bomb, "extended", func() {
			_, _ = xades.Extender{Sources: p.ca.Sources(nil)}.Extend(b.Context(), document(bomb.bytes), ades.LTA)
		})
		bounded(bomb, "signed", func() {
			_, _ = xades.Prepare(b.Context(), document(bomb.bytes), p.signer, xades.Options{})
		})
		for _, k := range packings {
			bounded(bomb, "checked for "+k.name, func() { _ = xades.Check(b.Context(), document(bomb.bytes), k.options()) })
		}
	}
}

// Verification ends with its context.
func TestVerifyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := xades.Verify(ctx, document([]byte(contract)), ades.VerifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
