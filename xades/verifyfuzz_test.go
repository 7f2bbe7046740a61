//go:build unix

package xades_test

import (
	"crypto/x509"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/xades"
)

// signedSeeds are documents that somebody signed.
type signedSeeds struct {
	Root      []byte // DER
	Documents [][]byte
}

// FuzzVerify verifies arbitrary bytes. Nothing takes more than five seconds, or 200 MB. No document passes that says
// something else than one that was signed, and a report is whole.
func FuzzVerify(f *testing.F) {
	seeds := testenv.FuzzShared(f, func() signedSeeds {
		p := newPerson(f, newAuthority(f), p256(f))
		return signedSeeds{p.ca.Root().Raw, verifySeeds(f, p)}
	})
	root, err := x509.ParseCertificate(seeds.Root)
	if err != nil {
		f.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	var signed []content
	for _, b := range seeds.Documents {
		f.Add(b)
		signed = append(signed, contentOf(f, b))
	}
	f.Add([]byte(contract))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			t.Skip("more than what the bounds are for")
		}
		var report *ades.Report
		var err error
		withinBounds(t, func() {
			report, err = xades.Verify(t.Context(), document(b), xades.VerifyOptions{Roots: roots})
		})
		if err != nil {
			return
		}
		for _, s := range report.Signatures {
			if s.Indication == "" || s.Format == "" || s.Coverage == "" || s.Intact && s.Certificate == nil {
				t.Errorf("%+v", s)
			}
		}
		if !report.Passed() {
			return
		}
		if c := contentOf(t, b); !slices.ContainsFunc(signed, c.isPartOf) {
			t.Errorf("nobody has signed this:\n%s", b)
		}
	})
}

// verifySeeds are signed documents of each kind.
func verifySeeds(f *testing.F, p person) (seeds [][]byte) {
	for _, k := range packings {
		for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
			seeds = append(seeds, signLevel(f, []byte(contract), p, level, k.options()))
		}
		seeds = append(seeds, sign(f, sign(f, []byte(contract), p, k.options()), p, k.options()))
	}
	return seeds
}

// withinBounds makes sure that nothing takes more time or room than it may. Whatever else the machine does may
// make it seem so: then it is measured alone, three times.
func withinBounds(t *testing.T, do func()) {
	t.Helper()
	most := testenv.Patience(5 * time.Second)
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(allocated)
	before, began := allocated[0].Value.Uint64(), time.Now()
	do()
	metrics.Read(allocated)
	if time.Since(began) <= most && allocated[0].Value.Uint64()-before <= bombHeap {
		return
	}
	took, heap := time.Duration(0), uint64(0)
	for try := range 3 {
		began := testenv.ProcessorTime(t)
		h, d := testenv.PeakHeap(do), testenv.ProcessorTime(t)-began
		if took, heap = min(took, d), min(heap, h); try == 0 {
			took, heap = d, h
		}
	}
	if took > most || heap > bombHeap {
		t.Errorf("it takes %v and %d MB", took, heap>>20)
	}
}

// isPartOf says whether the document is the same, with some of the signatures.
func (c content) isPartOf(signed content) bool {
	for _, p := range c.properties {
		if !slices.Contains(signed.properties, p) {
			return false
		}
	}
	return c.document == signed.document
}
