//go:build unix

package xades_test

import (
	"context"
	"errors"
	"runtime/debug"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/xades"
)

// What may be taken for a bomb. The time is that of the processor, the garbage collector's included: what
// else the machine is busy with counts for nothing.
const (
	bombTime = 2 * time.Second
	bombHeap = 200 << 20
)

// Nothing takes longer than two seconds, or more than 200 MB beside the document. No bomb passes, none is
// extended, and what cannot be read is not signed either.
func TestBombs(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // for garbage may grow with what is in use, and that is all bombs
	p := newPerson(t, newAuthority(t), p256(t))
	for _, b := range bombs(t, p) {
		b.mustEnd(t, "verified", func() {
			report, err := xades.Verify(t.Context(), document(b.bytes), xades.VerifyOptions{Roots: p.ca.Roots()})
			if errors.Is(err, xades.ErrUnreadable) != b.refused || err == nil && report.Passed() {
				t.Errorf("%s: %v, %+v", b.name, err, report)
			}
		})
		b.mustEnd(t, "extended", func() {
			if _, err := xades.Extend(t.Context(), document(b.bytes), ades.LTA, p.ca.Sources(nil)); err == nil {
				t.Errorf("%s is extended", b.name)
			}
		})
		b.mustEnd(t, "signed", func() {
			_, err := xades.Prepare(t.Context(), document(b.bytes), p.signer, xades.Options{})
			if b.refused && !errors.Is(err, xades.ErrUnreadable) {
				t.Errorf("%s to be signed: %v", b.name, err)
			}
		})
		for _, k := range packings {
			if !testenv.Full() {
				break
			}
			b.mustEnd(t, "checked for "+k.name, func() { _ = xades.Check(t.Context(), document(b.bytes), k.options()) })
		}
	}
}

// mustEnd measures what is done with a bomb: the best of three times, when the first ones are too long.
func (b bomb) mustEnd(t *testing.T, name string, do func()) {
	t.Helper()
	var took time.Duration
	var heap uint64
	for try := 0; try < 3 && (try == 0 || took > testenv.Patience(bombTime) || heap > bombHeap); try++ {
		began := testenv.ProcessorTime(t)
		heap = testenv.PeakHeap(do)
		took = testenv.ProcessorTime(t) - began
	}
	t.Logf("figure: %s, %d KB, %s: %v, %d MB", b.name, len(b.bytes)>>10, name, took.Round(time.Millisecond), heap>>20)
	if took > testenv.Patience(bombTime) || heap > bombHeap {
		t.Errorf("%s takes %v and %d MB to be %s", b.name, took, heap>>20, name)
	}
}

// Verification ends with its context.
func TestVerifyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := xades.Verify(ctx, document([]byte(contract)), xades.VerifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
