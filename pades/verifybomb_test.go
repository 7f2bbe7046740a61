//go:build unix

package pades_test

import (
	"runtime/debug"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/pades"
)

// What may be taken for a bomb. The time is that of the processor, the garbage collector's included: what
// else the machine is busy with counts for nothing.
const (
	bombTime = 5 * time.Second
	bombHeap = 200 << 20
)

// No document of 1 MB takes longer than five seconds to verify, or more than 200 MB, and no bomb passes.
func TestBombs(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // for garbage may grow with what is in use, and that is all bombs
	p := newPerson(t, newAuthority(t), p256(t))
	for _, b := range bombs(t, p) {
		if len(b.bytes) > mostOfABomb {
			t.Errorf("%s has %d bytes", b.name, len(b.bytes))
		}
		var took time.Duration
		var heap uint64
		var err error
		for try := 0; try < 3 && (try == 0 || took > testenv.Patience(bombTime) || heap > bombHeap); try++ {
			began := testenv.ProcessorTime(t)
			heap = testenv.PeakHeap(func() {
				report, failed := pades.Verify(t.Context(), document(b.bytes), pades.VerifyOptions{Roots: p.ca.Roots()})
				if err = failed; err == nil && report.Passed() {
					t.Errorf("%s passes", b.name)
				}
			})
			took = testenv.ProcessorTime(t) - began
		}
		t.Logf("figure: %s, %d KB: %v, %d MB, %v", b.name, len(b.bytes)>>10, took.Round(time.Millisecond), heap>>20, err)
		if took > testenv.Patience(bombTime) || heap > bombHeap {
			t.Errorf("%s takes %v and %d MB", b.name, took, heap>>20)
		}
	}
}
