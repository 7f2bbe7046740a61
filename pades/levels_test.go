package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/adestest"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// TestAdES runs the suite that pades and xades have in common.
func TestAdES(t *testing.T) {
	t.Parallel()
	adestest.Run(t, pdfFormat())
}

func pdfFormat() adestest.Format {
	return adestest.Format{
		Name: "PAdES", Extension: ".pdf", DocumentTimestamps: true,
		Variants: []adestest.Variant{
			{Name: "table", Document: pdftest.Build(pdftest.Options{})},
			{Name: "stream", Document: pdftest.Build(pdftest.Options{Kind: pdftest.Stream})},
		},
		NewPending:  func() adestest.Pending { return pendingPDF{new(pades.Pending)} },
		Prepare:     preparePDF,
		Sign:        signPDF,
		Extend:      extendPDF(pades.Extender.Extend),
		ExtendLast:  extendPDF(pades.Extender.ExtendLast),
		Renew:       extendPDF(renewer),
		Verify:      verifyPDF,
		ChangeValue: brokenValue,
		Broken: func(_ testing.TB, signed []byte) map[string][]byte {
			return map[string][]byte{
				"page changed":                      bytes.Replace(signed, []byte("0 0 m 10 10 l S"), []byte("0 0 m 90 10 l S"), 1),
				"ByteRange begins behind the start": bytes.Replace(signed, []byte("/ByteRange [0 "), []byte("/ByteRange [1 "), 1),
			}
		},
		Stored:     []string{goldenFile},
		Signers:    foreignSigners,
		Packagings: []string{""},
		Judge:      judgePDF,
	}
}

// pendingPDF is a pending signature that completes a whole document.
type pendingPDF struct{ *pades.Pending }

func (p pendingPDF) Complete(t testing.TB, b, value []byte, timestamps ades.Timestamper) ([]byte, error) {
	r, err := p.Pending.Complete(t.Context(), value, timestamps)
	if err != nil {
		return nil, err
	}
	if r.Base != int64(len(b)) {
		t.Errorf("revision at %d of a document of %d bytes", r.Base, len(b))
	}
	return slices.Concat(b, r.Bytes), nil
}

func optionsOf(o adestest.Options) pades.Options {
	return pades.Options{Name: "A signer", Reason: "Undirritun", Location: "Reykjavík", Level: o.Level, Time: o.Time}
}

func preparePDF(t testing.TB, b []byte, s ades.SignerIdentity, o adestest.Options) (adestest.Pending, error) {
	p, err := pades.Prepare(t.Context(), document(b), s, optionsOf(o))
	return pendingPDF{p}, err
}

func signPDF(t testing.TB, b []byte, key crypto.Signer, s ades.SignerIdentity, o adestest.Options, sources ades.Sources) ([]byte, error) {
	r, err := pades.Sign(t.Context(), document(b), key, s, optionsOf(o), sources)
	return slices.Concat(b, r.Bytes), err
}

// extender is a method of pades.Extender.
type extender func(pades.Extender, context.Context, pades.Document, ades.Level) ([]pades.Revision, error)

func extendPDF(run extender) adestest.ExtendFunc {
	return func(t testing.TB, b []byte, level ades.Level, s ades.Sources) ([]byte, int, error) {
		revisions, err := run(pades.Extender{Sources: s}, t.Context(), document(b), level)
		return appendAll(t, b, revisions), len(revisions), err
	}
}

func renewer(x pades.Extender, ctx context.Context, doc pades.Document, _ ades.Level) ([]pades.Revision, error) {
	return x.Renew(ctx, doc)
}

func verifyPDF(t testing.TB, b []byte, o ades.VerifyOptions) *ades.Report {
	report, err := pades.Verify(t.Context(), document(b), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

const goldenFile = "testdata/pending-1.json"

// goldenSigned returns the signed document of the golden file.
func goldenSigned(t testing.TB) []byte { return adestest.ReadStored(t, goldenFile).SignedDocument() }

// goldenRoot returns the root of the golden file's signer, in DER, and the time of the signature.
func goldenRoot(t testing.TB) ([]byte, time.Time) {
	s := adestest.ReadStored(t, goldenFile)
	return s.Root, s.Time
}

// The validation data of an encrypted document is encrypted like its other streams, and the value
// of a document timestamp is not (ISO 32000-2 7.6.2). qpdf decrypts it.
func TestLevelsOfEncryptedDocuments(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "others validate documents of each encryption")
	f := pdfFormat()
	f.Variants = nil
	kinds := pdftest.Kinds
	if !testenv.Full() {
		kinds = kinds[1:]
	}
	const id = "<00112233445566778899aabbccddeeff>"
	for name, arguments := range encryptions {
		for _, kind := range kinds {
			blank := pdftest.Build(pdftest.Options{Kind: kind, Trailer: "/ID [" + id + " " + id + "]"})
			v := adestest.Variant{Name: name + ", " + string(kind), Document: encrypt(t, blank, "", arguments...)}
			f.Variants = append(f.Variants, v)
		}
	}
	f.Judge = func(t *testing.T, files []adestest.File) {
		decryptByQPDF(t, files)
		ofRevision5 := func(f adestest.File) bool { return strings.HasPrefix(f.Name, "AES-256 of revision 5") } // pyHanko has no such
		known := slices.DeleteFunc(slices.Clone(files), ofRevision5)
		t.Run("pyHanko", func(t *testing.T) { levelsByPyHanko(t, known) })
		t.Run("pdfsig", func(t *testing.T) { levelsByPDFSig(t, files) })
	}
	adestest.RunRenewed(t, f)
}

// decryptByQPDF looks for the name of the root, which certificates and CRLs contain, in what qpdf
// decrypts: it would be garbage there if no stream with it were encrypted rightly.
func decryptByQPDF(t *testing.T, files []adestest.File) {
	t.Helper()
	for _, f := range files {
		plain, err := exec.Command(testenv.Program(t, "qpdf"), "--decrypt", "--qdf", f.Path, "-").Output()
		if named := bytes.Contains(plain, f.Root.RawSubject); err != nil || !named {
			t.Errorf("%s: validation data decrypted: %v, %v", f.Name, named, err)
		}
	}
}

// A signature of level B that is extended to LTA has only document timestamps. That is level LTA:
// the trusted time of level T is a signature timestamp or a document timestamp (EN 319 142-1 6.3),
// and the latter proves that the signature existed (EN 319 102-1 5.6.2.3). A certification that
// permits no changes permits them (ISO 32000-2 table 257). EU DSS agrees. pyHanko's validation for
// the long term fails for each signature without a timestamp of its own.
func TestDocumentTimestampsAlone(t *testing.T) {
	ca := newAddressedAuthority(t)
	p, blank, sources := newPerson(t, ca, p256(t)), pdftest.Build(pdftest.Options{}), ca.Sources(nil)
	const fails = "INDETERMINATE SIG_CONSTRAINTS_FAILURE"
	tests := []struct {
		name     string
		document []byte
		pyHanko  string
	}{
		{"signed at B, extended to LTA", extend(t, signFor(t, blank, p, ades.B), ades.LTA, sources), fails},
		{"certified against changes at B, extended to LTA", extend(t, sign(t, blank, p, pades.Options{Certify: pades.NoChanges}), ades.LTA, sources), fails},
		{"signed at LTA", signLevel(t, blank, p, ades.LTA), "PASSED"},
	}
	folder, roots := t.TempDir(), []*x509.Certificate{ca.Root()}
	var paths []string
	for _, test := range tests {
		paths = append(paths, filepath.Join(folder, test.name+".pdf"))
		writeFile(t, paths[len(paths)-1], test.document)
		if s := verify(t, test.document, ca)[0]; s.Format != "PAdES-BASELINE-LTA" || s.Indication != ades.TotalPassed || s.BestTime.IsZero() {
			t.Errorf("%s: %s %s %s, best signature time %v", test.name, s.Format, s.Indication, s.SubIndication, s.BestTime)
		}
	}
	t.Run("EU DSS", func(t *testing.T) {
		for i, r := range validators.DSS(t, validators.DSSOptions{Roots: roots}, paths...) {
			if len(r.Signatures) != 1 || r.Signatures[0].Format != "PAdES-BASELINE-LTA" || r.Signatures[0].Indication != "TOTAL_PASSED" {
				t.Errorf("%s: %s %+v", tests[i].name, r.Error, r.Signatures)
			}
		}
	})
	t.Run("pyHanko", func(t *testing.T) {
		for i, r := range validators.PyHankoLongTerm(t, roots, paths...) {
			if len(r.Signatures) != 1 || r.Signatures[0].Now != tests[i].pyHanko || !r.Signatures[0].Sufficient {
				t.Errorf("%s: %s %+v, want %s", tests[i].name, r.Error, r.Signatures, tests[i].pyHanko)
			}
		}
	})
}

// A document timestamp that is broken does not raise the level of a signature (EN 319 142-1 6.3),
// as EU DSS finds too.
func TestLevelOfBrokenTimestamps(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	b := signLevel(t, pdftest.Build(pdftest.Options{}), p, ades.LT)
	stamped := extend(t, b, ades.LTA, p.ca.Sources(nil))
	token := contentsOf.FindSubmatchIndex(stamped[len(b):])
	if token == nil {
		t.Fatal("no document timestamp")
	}
	garbage, beyond := bytes.Clone(stamped), bytes.Clone(stamped)
	copy(garbage[len(b)+token[2]:], bytes.Repeat([]byte("ab"), (token[3]-token[2])/2))
	at := len(b) + bytes.Index(stamped[len(b):], []byte("/ByteRange ["))
	copy(beyond[at:], bytes.Replace(beyond[at:at+13], []byte("[0"), []byte("[1"), 1))
	for name, broken := range map[string][]byte{"token is garbage": garbage, "ByteRange begins behind the start": beyond} {
		if s := verify(t, broken, p.ca)[0]; s.Format != "PAdES-BASELINE-LT" || s.Indication != ades.TotalPassed {
			t.Errorf("%s: %s %s %v", name, s.Format, s.Indication, s.Problems)
		}
	}
	path := filepath.Join(t.TempDir(), "garbage.pdf")
	writeFile(t, path, garbage)
	theirs := validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{p.ca.Root()}}, path)[0]
	if len(theirs.Signatures) != 1 || theirs.Signatures[0].Format != "PAdES-BASELINE-LT" {
		t.Errorf("EU DSS: %+v", theirs)
	}
}

// pyHanko's validation for the long term, by which levels LT and LTA are judged, refuses a document
// without a document timestamp, one whose revocation data it cannot find, and one with another
// root.
func TestPyHankoLongTermRefuses(t *testing.T) {
	ca, other := newAddressedAuthority(t), catest.New(t)
	lt := signLevel(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), ades.LT)
	lta := extend(t, lt, ades.LTA, ca.Sources(nil))
	type verdict struct {
		Sufficient bool
		Now        string
		Archived   bool
	}
	unproven := verdict{false, "INDETERMINATE CERTIFICATE_CHAIN_GENERAL_FAILURE", false}
	rows := []struct {
		name     string
		document []byte
		want     verdict
	}{
		{"LTA", lta, verdict{true, "PASSED", true}},
		{"LT", lt, verdict{true, "INDETERMINATE NO_POE", false}},
		{"LT without OCSP responses", hide(t, lt, "/OCSPs"), unproven},
		{"LT without CRLs", hide(t, lt, "/CRLs"), unproven},
		{"LTA without OCSP responses", hide(t, lta, "/OCSPs"), unproven},
		{"LTA without CRLs", hide(t, lta, "/CRLs"), unproven},
	}
	folder := t.TempDir()
	var paths []string
	for _, row := range rows {
		paths = append(paths, filepath.Join(folder, row.name+".pdf"))
		writeFile(t, paths[len(paths)-1], row.document)
	}
	for _, root := range []*x509.Certificate{ca.Root(), other.Root()} {
		for i, r := range validators.PyHankoLongTerm(t, []*x509.Certificate{root}, paths...) {
			want := unproven
			if root.Equal(ca.Root()) {
				want = rows[i].want
			}
			if len(r.Signatures) != 1 {
				t.Errorf("%s: %+v", rows[i].name, r)
				continue
			}
			s := r.Signatures[0]
			if diff := cmp.Diff(want, verdict{s.Sufficient, s.Now, !s.Archived.IsZero()}); diff != "" || s.Error != "" {
				t.Errorf("%s: %s (-want +got):\n%s", rows[i].name, s.Error, diff)
			}
		}
	}
}

// hide gives a key of the document security store another name of the same length.
func hide(t *testing.T, b []byte, key string) []byte {
	t.Helper()
	if n := bytes.Count(b, []byte(key)); n != 1 {
		t.Fatalf("%d keys %s, want 1", n, key)
	}
	return bytes.Replace(b, []byte(key), []byte("/X"+key[2:]), 1)
}
