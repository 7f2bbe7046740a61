package pades_test

import (
	"bytes"
	"crypto/x509"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// signedSeeds are documents that somebody signed.
type signedSeeds struct {
	Roots     [][]byte // DER, and so are the signers
	Signers   [][]byte
	Documents [][]byte
	Golden    time.Time // when the golden document was signed
}

// FuzzVerify verifies arbitrary bytes. Nothing allocates several times what a bomb does; a report is whole;
// what is said to be intact, and a whole revision, are bytes that somebody has signed; what passes as a whole has
// nothing behind these but proof; and what is shown behind a signature that passes is what was signed, but for
// annotations and fields.
func FuzzVerify(f *testing.F) {
	seeds := testenv.FuzzShared(f, func() signedSeeds {
		p := newPerson(f, newAuthority(f), p256(f))
		golden := goldenSigned(f)
		signers := [][]byte{p.signer.Certificate.Raw, verify(f, golden, p.ca)[0].Certificate.Raw}
		root, at := goldenRoot(f)
		return signedSeeds{[][]byte{p.ca.Root().Raw, root}, signers, append(verifySeeds(f, p), golden), at}
	})
	roots := x509.NewCertPool()
	for _, der := range seeds.Roots {
		root, err := x509.ParseCertificate(der)
		if err != nil {
			f.Fatal(err)
		}
		roots.AddCert(root)
	}
	for _, b := range seeds.Documents {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > mostOfABomb {
			t.Skip("more than what the bounds are for")
		}
		var report *ades.Report
		var err error
		allocated := testenv.Allocated(func() {
			report, err = pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: roots})
		})
		if allocated > 1<<30 {
			t.Errorf("%d MB allocated", allocated>>20)
		}
		if err != nil {
			if !refused(err) {
				t.Errorf("error of no kind: %v", err)
			}
			return
		}
		seeds.check(t, b, report)
		if slices.ContainsFunc(report.Signatures, func(s ades.SignatureReport) bool { return seeds.isBy(s, 1) }) {
			report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: roots, Time: seeds.Golden})
			if err != nil {
				t.Error(err)
				return
			}
			seeds.check(t, b, report)
		}
	})
}

// isBy says whether a signature is that of a signer, by its certificate.
func (s signedSeeds) isBy(r ades.SignatureReport, signer int) bool {
	return r.Intact && r.Certificate != nil && bytes.Equal(s.Signers[signer], r.Certificate.Raw)
}

// check compares what a report says with what was signed.
func (s signedSeeds) check(t *testing.T, b []byte, report *ades.Report) {
	t.Helper()
	whole := !report.Passed()
	for _, r := range report.Signatures {
		if r.Indication == "" || r.Format == "" || r.Coverage == "" || r.Intact && r.Certificate == nil {
			t.Errorf("%+v", r)
		}
		if r.Coverage == ades.Partial || !s.isBy(r, 0) && !s.isBy(r, 1) {
			continue
		}
		if !signedIn(s.Documents, b[:r.CoveredBytes]) {
			t.Errorf("nobody has signed this:\n%q", b)
		}
		nothing := len(bytes.TrimSpace(b[r.CoveredBytes:])) == 0
		whole = whole || r.Passed() && (nothing || r.Extended)
		if r.Passed() {
			sameShown(t, b, r.CoveredBytes)
		}
	}
	if !whole {
		t.Errorf("a document that was not signed passes:\n%q", b)
	}
}

// verifySeeds are signed documents of each kind.
func verifySeeds(f *testing.F, p person) (seeds [][]byte) {
	plain := map[pdftest.Kind][]byte{}
	for _, kind := range []pdftest.Kind{pdftest.Table, pdftest.Stream, pdftest.Hybrid} {
		plain[kind] = pdftest.Build(pdftest.Options{
			Kind: kind, Catalog: "/AcroForm << /Fields [100 0 R] >>", Page: "/Annots [100 0 R 101 0 R]",
			Objects: []string{
				"<< /FT /Tx /T (a) /V (b) /Type /Annot /Subtype /Widget /Rect [9 9 90 20] /P 10 0 R >>",
				"<< /Type /Annot /Subtype /Text /Rect [20 20 30 30] /Contents (c) >>",
			},
		})
		for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
			seeds = append(seeds, signLevel(f, plain[kind], p, level))
		}
		once := signFor(f, plain[kind], p, ades.B)
		seeds = append(seeds, signFor(f, filled(f, once, 100, "(d)"), p, ades.B), filled(f, once, 101, "(e)"))
	}
	table := plain[pdftest.Table]
	for _, permission := range []pades.Permission{0, pades.NoChanges, pades.FormFilling, pades.Annotations} {
		certified := sign(f, table, p, pades.Options{Certify: permission})
		seeds = append(seeds, filled(f, certified, 100, "(d)"), filled(f, certified, 101, "(e)"))
		seeds = append(seeds, tamperedSeeds(f, certified)...)
	}
	for _, archival := range slices.Concat(conforming()[:1], conforming()[len(conforming())-2:]) {
		seeds = append(seeds, sign(f, pdftest.Archival(archival), p, pades.Options{}))
	}
	return append(seeds, sign(f, encrypt(f, table, "", "256"), p, pades.Options{}))
}

var someRange = regexp.MustCompile(`/ByteRange ?\[ ?0 +(\d+) +(\d+) +(\d+) *\]`)

// signedIn says whether the beginning of a document is what one of the signatures in the seeds covers.
func signedIn(seeds [][]byte, b []byte) bool {
	for _, seed := range seeds {
		for _, found := range someRange.FindAllSubmatch(seed, -1) {
			gap, _ := strconv.Atoi(string(found[1]))
			gapEnd, _ := strconv.Atoi(string(found[2]))
			rest, _ := strconv.Atoi(string(found[3]))
			if gapEnd+rest == len(b) && bytes.Equal(b[:gap], seed[:gap]) && bytes.Equal(b[gapEnd:], seed[gapEnd:len(b)]) {
				return true
			}
		}
	}
	return false
}
