package pades_test

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// Signatures by other programs get the verdicts of EU DSS, and a flipped bit is found.
func TestForeignSigners(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	files := foreignSignatures(t, foreignOptions(t, ca, certtest.NewRSAKey(t, 2048)))
	t.Run("verdicts", func(t *testing.T) { checkVerdicts(t, ca, files) })
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			t.Run("signed bytes", func(t *testing.T) { f.flipSigned(t, ca) })
			t.Run("Contents", func(t *testing.T) { f.flipContents(t, ca) })
		})
	}
}

// checkVerdicts validates without roots, then with the authority's. Without revocation data, EU DSS has an option that
// lets a signature pass; Innsigli's indication is INDETERMINATE TRY_LATER.
func checkVerdicts(t *testing.T, ca *sandboxca.Authority, files []foreignSignature) {
	type verdict struct{ Format, Indication, SubIndication string }
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
	}
	for _, roots := range [][]*x509.Certificate{nil, {ca.Root()}} {
		pool := x509.NewCertPool()
		for _, root := range roots {
			pool.AddCert(root)
		}
		for i, theirs := range validators.DSS(t, validators.DSSOptions{Roots: roots, RevocationOptional: true}, paths...) {
			f := files[i]
			report, err := pades.Verify(t.Context(), document(f.b), ades.VerifyOptions{Roots: pool})
			if err != nil || len(report.Signatures) != 1 || len(theirs.Signatures) != 1 || report.Passed() != (roots != nil) {
				t.Fatalf("%s: %+v, %v; EU DSS: %+v", f.name, report, err, theirs)
			}
			want := verdict{theirs.Signatures[0].Format, theirs.Signatures[0].Indication, theirs.Signatures[0].SubIndication}
			if roots != nil {
				if want.Indication != string(ades.TotalPassed) {
					t.Errorf("%s: EU DSS: %v", f.name, want)
				}
				want.Indication, want.SubIndication = string(ades.Indeterminate), string(ades.TryLater)
			}
			s := report.Signatures[0]
			if !s.Intact || s.Coverage != ades.WholeDocument {
				t.Errorf("%s: %s, intact %t", f.name, s.Coverage, s.Intact)
			}
			if diff := cmp.Diff(want, verdict{s.Format, string(s.Indication), string(s.SubIndication)}); diff != "" {
				t.Errorf("%s (-EU DSS +Innsigli):\n%s %v", f.name, diff, s.Problems)
			}
		}
	}
}

// foreignSignature is a document with one signature by another program.
type foreignSignature struct {
	name, path string
	b          []byte
}

// steps are the distances between flipped bits. The signed bytes are many only with an embedded font.
func (f foreignSignature) steps() (signed, contents int) {
	switch {
	case testenv.Full():
		return 100, 1
	case len(f.b) > 200<<10:
		return 20011, 97
	}
	return 100, 97
}

// flipSigned flips bits of the signed bytes: the signature is not intact, or the document is unreadable.
func (f foreignSignature) flipSigned(t *testing.T, ca *sandboxca.Authority) {
	gap, gapEnd, end := gapOf(t, f.b)
	step, _ := f.steps()
	for at := 0; at < end; at += step {
		if at >= gap && at < gapEnd {
			continue
		}
		report, err := pades.Verify(t.Context(), document(flipBit(f.b, at, step)), ades.VerifyOptions{Roots: ca.Roots()})
		if err != nil {
			continue
		}
		if report.Passed() {
			t.Errorf("the document passes with a bit flipped at %d", at)
		}
		for _, s := range report.Signatures {
			if s.Intact || s.Passed() {
				t.Errorf("%s: intact %t, passed %t with a bit flipped at %d", s.Name, s.Intact, s.Passed(), at)
			}
		}
	}
}

// flipContents flips bits of the CMS. Parts of it are not signed, such as padding and the timestamp; but what the report
// has of a signature that passes is as before.
func (f foreignSignature) flipContents(t *testing.T, ca *sandboxca.Authority) {
	before := verify(t, f.b, ca)[0]
	gap, gapEnd, _ := gapOf(t, f.b)
	end := gap + len(bytes.TrimRight(f.b[gap:gapEnd], "0>"))
	_, step := f.steps()
	passed, tried := 0, 0
	for at := gap; at < end; at += step {
		tried++
		report, err := pades.Verify(t.Context(), document(flipBit(f.b, at, step)), ades.VerifyOptions{Roots: ca.Roots()})
		if err != nil || !report.Passed() {
			continue
		}
		passed++
		s := report.Signatures[0]
		if !s.BestTime.IsZero() && !s.BestTime.Equal(before.BestTime) {
			t.Errorf("best time %v, want %v, with a bit flipped at %d", s.BestTime, before.BestTime, at)
		}
		if diff := cmp.Diff(signedPartOf(before), signedPartOf(s)); diff != "" {
			t.Errorf("with a bit flipped at %d (-before +after):\n%s", at, diff)
		}
	}
	if passed > tried/2 {
		t.Errorf("%d of %d pass", passed, tried)
	}
}

// flipBit flips a bit of a byte, another one in each step.
func flipBit(b []byte, at, step int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1 << (at / step % 8)
	return b
}

// signedPartOf is the part of a report that is about signed data.
func signedPartOf(s ades.SignatureReport) ades.SignatureReport {
	return ades.SignatureReport{
		Name: s.Name, Intact: s.Intact, Coverage: s.Coverage, CoveredBytes: s.CoveredBytes, Certificate: s.Certificate, Chain: s.Chain,
		Algorithm: s.Algorithm, ClaimedTime: s.ClaimedTime, SignerName: s.SignerName, Reason: s.Reason, Location: s.Location,
	}
}

// foreignSignatures are small documents, each signed by another program with an RSA key, without which pdfsig writes no
// signature that it recognizes.
func foreignSignatures(t *testing.T, options validators.SignOptions) (files []foreignSignature) {
	t.Helper()
	add := func(name, path string) {
		files = append(files, foreignSignature{name, path, readFile(t, path)})
	}
	folder := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		writeFile(t, path, content)
		return path
	}
	blank := file("blank.pdf", pdftest.Build(pdftest.Options{}))
	for _, level := range []ades.Level{ades.B, ades.T} {
		options.Level = level.String()
		for name, sign := range foreignSigners {
			add(fmt.Sprintf("%s, %v", name, level), sign(t, options, blank)[0].Path)
		}
	}
	add("pdfsig in a field", validators.PDFSigSign(t, options, "Sig", file("field.pdf", buildSignatureField("")))[0].Path)
	add("pdfsig", validators.PDFSigSign(t, options, "", blank)[0].Path)
	for name, arguments := range map[string][]string{
		"qpdf": nil, "qpdf, linearized": {"--linearize"}, "qpdf with object streams": {"--object-streams=generate"},
	} {
		add("OpenSSL in a file of "+name, signByOpenSSL(t, options, arguments...))
	}
	if testenv.Full() {
		text := file("contract.txt", []byte("Reykjavík, 1 July 2026\n\nThe parties agree.\n"))
		add("LibreOffice", validators.LibreOfficeSign(t, options, text)[0].Path)
	}
	return files
}

// buildSignatureField is a document with a signature field with these entries, and further objects.
func buildSignatureField(entries string, objects ...string) []byte {
	field := "<< /Type /Annot /Subtype /Widget /FT /Sig /T (Sig) /Rect [0 0 0 0] /F 132 /P 10 0 R " + entries + " >>"
	return pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] /SigFlags 3 >>", Page: "/Annots [100 0 R]", Objects: append([]string{field}, objects...),
	})
}

const (
	roomForCMS   = 6 << 10 // in bytes
	roomForRange = "/ByteRange [ 0 1111111111 2222222222 3333333333 ]"
)

// signatureDictionary is a signature dictionary whose Contents have to be filled in.
func signatureDictionary(subFilter, entries string) string {
	return "<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /" + subFilter + " /M (" + time.Now().UTC().Format("D:20060102150405Z") + ") " +
		entries + " /Contents <" + strings.Repeat("ff", roomForCMS) + "> >>"
}

var unfilledContents = regexp.MustCompile(`<(ff)+>`)

// signByOpenSSL signs a document that qpdf writes, in its only revision.
func signByOpenSSL(t *testing.T, options validators.SignOptions, qpdf ...string) string {
	t.Helper()
	folder := t.TempDir()
	unsigned, path := filepath.Join(folder, "unsigned.pdf"), filepath.Join(folder, "signed.pdf")
	writeFile(t, unsigned, buildSignatureField("/V 101 0 R", signatureDictionary("adbe.pkcs7.detached", roomForRange)))
	arguments := append(append([]string{"--static-id"}, qpdf...), unsigned, path)
	if out, err := exec.CommandContext(t.Context(), testenv.Program(t, "qpdf"), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v\n%s", err, out)
	}
	b := readFile(t, path)
	gap := unfilledContents.FindIndex(b)
	if gap == nil || !bytes.Contains(b, []byte(roomForRange)) {
		t.Fatal("qpdf has written another dictionary")
	}
	ranges := fmt.Sprintf("/ByteRange [ 0 %d %d %d", gap[0], gap[1], len(b)-gap[1])
	b = bytes.Replace(b, []byte(roomForRange), fmt.Appendf(nil, "%-*s ]", len(roomForRange)-2, ranges), 1)
	value := validators.OpenSSLSign(t, options, "sha256", append(bytes.Clone(b[:gap[0]]), b[gap[1]:]...))
	if len(value) > roomForCMS {
		t.Fatalf("the CMS has %d bytes", len(value))
	}
	copy(b[gap[0]+1:], hex.EncodeToString(append(value, make([]byte, roomForCMS-len(value))...)))
	writeFile(t, path, b)
	if warnings, err := validators.QPDFCheck(t, path); err != nil || len(warnings) > 0 {
		t.Errorf("qpdf: %v, %v", warnings, err)
	}
	return path
}

var rangesOf = regexp.MustCompile(`/ByteRange ?\[ ?0 +(\d+) +(\d+) +(\d+) *\]`)

// gapOf is the gap of a document's signature, and the end of its second range.
func gapOf(t *testing.T, b []byte) (gap, gapEnd, end int) {
	t.Helper()
	found := rangesOf.FindSubmatch(b)
	if found == nil {
		t.Fatal("no ByteRange")
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(string(found[1+i]))
	}
	return n[0], n[1], n[1] + n[2]
}
