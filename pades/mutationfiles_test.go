package pades_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// signedElsewhere is a document with one signature that a program of others made.
type signedElsewhere struct {
	name string
	path string
	b    []byte
}

// everySigner has each program that is there sign a small document by the same RSA key: with
// others, pdfsig writes no signature that it recognizes.
func everySigner(t *testing.T, options validators.SignOptions) []signedElsewhere {
	t.Helper()
	var files []signedElsewhere
	add := func(name, path string) {
		files = append(files, signedElsewhere{name, path, readFile(t, path)})
	}
	blank := filepath.Join(t.TempDir(), "blank.pdf")
	writeFile(t, blank, pdftest.Build(pdftest.Options{}))
	for _, level := range []ades.Level{ades.B, ades.T} {
		options.Level = level.String()
		for name, sign := range foreignSigners {
			add(fmt.Sprintf("%s, %v", name, level), sign(t, options, blank)[0].Path)
		}
	}
	add("pdfsig in a field", validators.PDFSigSign(t, options, "Sig", fieldForPDFSig(t))[0].Path)
	add("pdfsig", validators.PDFSigSign(t, options, "", blank)[0].Path)
	for name, how := range rewrittenBy {
		add("OpenSSL in what "+name, signedByOpenSSL(t, options, how...))
	}
	if testenv.Full() {
		text := filepath.Join(t.TempDir(), "contract.txt")
		writeFile(t, text, []byte("Reykjavík, 1 July 2026\n\nThe parties agree.\n"))
		add("LibreOffice", validators.LibreOfficeSign(t, options, text)[0].Path)
	}
	return files
}

// fieldForPDFSig is a document with a field for pdfsig to sign in.
func fieldForPDFSig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "field.pdf")
	writeFile(t, path, pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] /SigFlags 3 >>", Page: "/Annots [100 0 R]",
		Objects: []string{"<< /Type /Annot /Subtype /Widget /FT /Sig /T (Sig) /Rect [0 0 0 0] /F 132 /P 10 0 R >>"},
	}))
	return path
}

// rewrittenBy are ways in which qpdf writes a document that is going to be signed.
var rewrittenBy = map[string][]string{
	"qpdf wrote":            nil,
	"qpdf linearized":       {"--linearize"},
	"qpdf wrote in streams": {"--object-streams=generate"},
}

// Room for what OpenSSL is going to write, and for the numbers of ByteRange.
const (
	roomForCMS   = 6 << 10
	roomForRange = "/ByteRange [ 0 1111111111 2222222222 3333333333 ]"
)

// signedByOpenSSL signs the first and only revision of a document, which qpdf wrote.
func signedByOpenSSL(t *testing.T, options validators.SignOptions, how ...string) string {
	t.Helper()
	folder := t.TempDir()
	prepared, path := filepath.Join(folder, "prepared.pdf"), filepath.Join(folder, "signed.pdf")
	writeFile(t, prepared, pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] /SigFlags 3 >>", Page: "/Annots [100 0 R]",
		Objects: []string{
			"<< /Type /Annot /Subtype /Widget /FT /Sig /T (Sig) /Rect [0 0 0 0] /F 132 /P 10 0 R /V 101 0 R >>",
			"<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /M (" + time.Now().UTC().Format("D:20060102150405Z") + ") " + roomForRange +
				" /Contents <" + strings.Repeat("ff", roomForCMS) + "> >>",
		},
	}))
	arguments := append(append([]string{"--static-id"}, how...), prepared, path)
	if out, err := exec.CommandContext(t.Context(), testenv.Program(t, "qpdf"), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v\n%s", err, out)
	}
	b := readFile(t, path)
	gap := regexp.MustCompile(`<(ff)+>`).FindIndex(b)
	if gap == nil || !bytes.Contains(b, []byte(roomForRange)) {
		t.Fatal("qpdf has written another dictionary")
	}
	ranges := fmt.Sprintf("/ByteRange [ 0 %d %d %d", gap[0], gap[1], len(b)-gap[1])
	b = bytes.Replace(b, []byte(roomForRange), fmt.Appendf(nil, "%-*s ]", len(roomForRange)-2, ranges), 1)
	value := validators.OpenSSLSign(t, options, "sha256", append(bytes.Clone(b[:gap[0]]), b[gap[1]:]...))
	if len(value) > roomForCMS {
		t.Fatalf("%d bytes of CMS", len(value))
	}
	copy(b[gap[0]+1:], hex.EncodeToString(append(value, make([]byte, roomForCMS-len(value))...)))
	writeFile(t, path, b)
	if warnings, err := validators.QPDFCheck(t, path); err != nil || len(warnings) > 0 {
		t.Errorf("qpdf: %v, %v", warnings, err)
	}
	return path
}

var rangesOf = regexp.MustCompile(`/ByteRange ?\[ ?0 +(\d+) +(\d+) +(\d+) *\]`)

// gapOf is what the signature of a document does not cover, up to the end of what it does.
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
