package pades_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// TestVRI extends with the option to list the validation data of each signature, under the digest of its Contents (ISO
// 32000-2 table 262). Entries stay when another signature is added.
func TestVRI(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	ca.SetBaseURL("http://sandbox.example")
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	x := pades.Extender{Sources: ca.Sources(nil), VRI: true}
	b := pdftest.Build(pdftest.Options{})
	for range 2 {
		b = signFor(t, b, newPerson(t, ca, p256(t)), ades.LTA)
		revisions, err := x.ExtendLast(t.Context(), document(b), ades.LTA)
		if err != nil {
			t.Fatal(err)
		}
		b = appendAll(t, b, revisions)
		if revisions, err = x.ExtendLast(t.Context(), document(b), ades.LTA); err != nil || len(revisions) > 0 {
			t.Errorf("again: %d revisions, %v", len(revisions), err)
		}
	}
	signatures := contentsOf.FindAllSubmatch(b, -1)
	if len(signatures) != 4 {
		t.Fatalf("%d signatures and timestamps", len(signatures))
	}
	for i, contents := range [][]byte{signatures[0][1], signatures[2][1]} {
		raw, err := hex.DecodeString(string(contents))
		if err != nil {
			t.Fatal(err)
		}
		key := strings.ToUpper(fmt.Sprintf("%x", sha1.Sum(raw)))
		entry := regexp.MustCompile("/" + key + ` (\d+ 0) R`).FindSubmatch(b)
		if entry == nil {
			t.Fatalf("signature %d: %s has no entry", i, key)
		}
		if body := regexp.MustCompile(`\n` + string(entry[1]) + ` obj\n<< /Type /VRI /Cert \[[^\]]+\] /OCSP \[[^\]]+\] /CRL \[[^\]]+\] >>`).Find(b); body == nil {
			t.Errorf("signature %d: the entry lacks certificates, responses or lists", i)
		}
	}
	judgeLevels(t, []levelFile{{name: "VRI", path: tempFile(t, "vri.pdf", b), levels: []ades.Level{ades.LTA, ades.LTA}, stamps: 2}}, ca)
}

// TestPrepareChecksTheStore signs documents with a DSS dictionary that cannot be extended. They are refused before the
// signer signs, unless the level needs no validation data.
func TestPrepareChecksTheStore(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for _, store := range []string{"1", "<< /Certs 1 >>"} {
		b := pdftest.Build(pdftest.Options{Catalog: "/DSS " + store})
		for level := ades.B; level <= ades.LTA; level++ {
			_, err := prepare(t, b, p.signer, pades.Options{Level: level})
			if (err == nil) != (level < ades.LT) {
				t.Errorf("%s, level %v: %v", store, level, err)
			}
			if err == nil {
				signLevel(t, b, p, level)
			}
		}
	}
}

// FuzzDSS appends an arbitrary document security store to signed documents. It changes the verdict on a signature only
// by valid revocation data. When the document is extended, the lint finds that the entries of the store stay.
func FuzzDSS(f *testing.F) {
	w := newStoreWorld(f)
	for _, store := range storeSeeds() {
		f.Add([]byte(store))
	}
	f.Fuzz(func(t *testing.T, store []byte) {
		if len(store) > 1<<16 {
			t.Skip("too long")
		}
		w.judge(t, w.attach(t, w.three, store))
		b := w.attach(t, w.one, store)
		for _, s := range []ades.Sources{{Roots: w.honest.ca.Roots()}, w.sources()} {
			w.extend(t, b, s)
		}
	})
}

// judge verifies a document with the signatures of all three signers.
func (w *storeWorld) judge(t *testing.T, b []byte) {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: w.honest.ca.Roots()})
	if err != nil {
		if !refused(err) {
			t.Errorf("unexpected kind of error: %v", err)
		}
		return
	}
	if len(report.Signatures) != 3 {
		t.Fatalf("%d signatures", len(report.Signatures))
	}
	proven := stored(b, "OCSPs", w.proofs["good"]) && stored(b, "CRLs", w.proofs["list"])
	if s := report.Signatures[0]; !proven && (s.Indication == ades.TotalPassed || s.Format != "PAdES-BASELINE-T" || !s.BestTime.IsZero()) {
		t.Errorf("without a proof: %s %s, of %v", s.Format, s.Indication, s.BestTime)
	}
	if s := report.Signatures[1]; s.Indication == ades.TotalPassed {
		t.Errorf("revoked before: %s %s", s.Format, s.Indication)
	}
	s := report.Signatures[2]
	if s.Passed() || s.Format != "PAdES-BASELINE-T" || s.Chain != nil || !s.BestTime.IsZero() || s.Timestamps[0].Trusted {
		t.Errorf("of another root: %s %s %s, of %v", s.Format, s.Indication, s.SubIndication, s.BestTime)
	}
}

// extend extends to LT, which keeps the store as it was, or returns an error that callers know.
func (w *storeWorld) extend(t *testing.T, b []byte, s ades.Sources) {
	t.Helper()
	revisions, err := pades.Extender{Sources: s}.Extend(t.Context(), document(b), ades.LT)
	if err != nil {
		if !refused(err, ades.ErrNoRevocation) {
			t.Errorf("unexpected kind of error: %v", err)
		}
		return
	}
	signature := verifyAny(t, appendAll(t, b, revisions), w.honest.ca)[0]
	if signature.Format != "PAdES-BASELINE-LT" || signature.Indication != ades.TotalPassed {
		t.Errorf("extended: %s %s %s %v", signature.Format, signature.Indication, signature.SubIndication, signature.Problems)
	}
}

// stored reports whether an array of the store has a stream with the proof in it.
func stored(b []byte, key pdf.Name, proof []byte) bool {
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return false
	}
	_, catalog, _ := file.Catalog()
	store, _ := file.Dict(catalog["DSS"])
	array, _ := file.Array(store[key])
	for _, entry := range array {
		stream, err := file.StreamObject(entry)
		if err != nil || stream == nil {
			continue
		}
		if der, err := file.Stream(stream, 1<<20); err == nil && bytes.Contains(der, proof) {
			return true
		}
	}
	return false
}

// storeSeeds returns stores that are well-formed and malformed, for storeWorld.attach.
func storeSeeds() []string {
	const whole = "<< /Type /DSS /Certs [900 0 R] /OCSPs [901 0 R] /CRLs [902 0 R] >>"
	const streams = "\n~\n$issuing\n~\n$good\n~\n$list /Filter /FlateDecode"
	return []string{
		"11 0 R", // the first signature
		"<< /VRI 11 0 R >>",
		"<< / 1 0 R >>", // the catalog
		whole + streams,
		strings.ReplaceAll(whole, "Type", "Typ") + streams,
		"900 0 R\n~\n<< /Certs 901 0 R /OCSPs 902 0 R /CRLs 903 0 R >>\n~\n[]\n~\n[904 0 R]\n~\n[905 0 R]\n~\n$good\n~\n$list",
		// Validation data about something else.
		"<< /OCSPs [900 0 R 901 0 R 902 0 R] /CRLs [903 0 R 904 0 R] >>\n~\n$stale\n~\n$revoked\n~\n$strangers\n~\n$strangerslist\n~\n$list",
		"<< /OCSPs [900 0 R] /CRLs [901 0 R] >>\n~\n$stale\n~\n$list",
		"<< /Certs [900 0 R 901 0 R 901 0 R] /OCSPs [902 0 R] /CRLs [901 0 R] >>\n~\n$other\n~\n$strangerslist\n~\n$strangers",
		"<< /Certs [900 0 R] /OCSPs [901 0 R] /CRLs [901 0 R] >>\n~\n$good\n~\n$issuing",
		"<< /Certs [900 0 R] /OCSPs [900 0 R] >>\n~\n$list",
		"<< /OCSPs [900 0 R] >>\n~\n$good",
		"<< /CRLs [900 0 R] >>\n~\n$list",
		// One array for all entries, arrays that contain themselves, and values that are not arrays.
		"<< /Certs 900 0 R /OCSPs 900 0 R /CRLs 900 0 R >>\n~\n[901 0 R 902 0 R 903 0 R]\n~\n$issuing\n~\n$good\n~\n$list",
		"<< /Certs 900 0 R /OCSPs 901 0 R /CRLs 902 0 R >>\n~\n[900 0 R [900 0 R]]\n~\n902 0 R\n~\n901 0 R",
		"<< /Certs << >> /OCSPs (x) /CRLs 900 0 R >>\n~\n$list",
		// References to null, to a missing object, and to a reference.
		"<< /OCSPs 900 0 R >>\n~\nnull", "<< /OCSPs 900 0 R >>\n~\n901 0 R\n~\nnull", "<< /OCSPs 900 0 R >>\n~\n999 0 R",
		"<< /VRI 900 0 R >>\n~\n901 0 R\n~\nnull",
		"<< /OCSPs [null 5 (x) /N [] << >> 900 0 R] /CRLs [999 0 R 1 0 R 0 0 R] >>\n~\n$good",
		"900 0 R\n~\n900 0 R",
		"900 0 R\n~\n$good /OCSPs [900 0 R]",
		"null", "[]", "5", "(x)", "1 0 R",
		// Streams that cannot be read, or only by some readers.
		"<< /OCSPs [900 0 R 901 0 R 902 0 R 903 0 R 904 0 R] /CRLs [905 0 R 906 0 R] >>\n~\n$good /Filter /ASCIIHexDecode\n~\n" +
			"$good /Filter [/FlateDecode /FlateDecode]\n~\n$good /Filter /Crypt\n~\n$good /F (elsewhere)\n~\n$good /Length 99999\n~\n" +
			"$list /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 4 >>\n~\n<< /Length 905 0 R >>\nstream\n$list\nendstream",
		// VRI dictionaries, which are not evidence.
		"<< /VRI << /0123 << /Cert [900 0 R] /OCSP 5 /TU (x) /TS 900 0 R >> /#00 900 0 R / 901 0 R /VRI 902 0 R >> /OCSPs [900 0 R] /CRLs [903 0 R] >>" +
			"\n~\n$good\n~\n<< /CRL 901 0 R >>\n~\n[902 0 R]\n~\n$list",
		"<< /VRI 900 0 R /Certs [] >>\n~\n<< /VRI 900 0 R >>",
		"<< /VRI [900 0 R] >>\n~\n$good",
		// Many entries.
		"<< /Certs [" + strings.Repeat("900 0 R ", 5000) + "] /OCSPs [" + strings.Repeat("999 0 R ", 1000) + "] >>\n~\n$issuing",
		"<< /CRLs [" + strings.Repeat("5 ", 5000) + "900 0 R] >>\n~\n$list",
	}
}
