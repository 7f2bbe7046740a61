package pades_test

import (
	"bytes"
	"crypto/x509"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

const twenty = 20

// twentyFile is a file that is signed twenty times.
type twentyFile struct {
	name, path string
	content    []byte
}

// Twenty people sign one file of each kind, one after another: every signature stays
// valid, every increment is clean, and the last takes little more room than the second.
func TestTwentySignatures(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	folder := t.TempDir()
	files := twentyFiles(t)
	for i, f := range files {
		f.content = signTwenty(t, f, p)
		f.path = filepath.Join(folder, strings.ReplaceAll(f.name, " ", "-")+".pdf")
		writeFile(t, f.path, f.content)
		files[i] = f
	}
	t.Run("pades", func(t *testing.T) { twentyByVerify(t, files, ca) })
	t.Run("pdfsig", func(t *testing.T) { twentyByPDFSig(t, files) })
	t.Run("pyHanko", func(t *testing.T) { twentyByPyHanko(t, files, ca.Root()) })
}

var lastStartxref = regexp.MustCompile(`startxref\n\d+\n%%EOF\n$`)

const (
	rebuilt     = "rebuilt"
	leadingJunk = "leading junk"
)

// twentyFiles are a file of each kind of cross-reference: with a form, a field in it, and
// arrays that are objects, which is what has to be written again every time.
func twentyFiles(t *testing.T) (files []twentyFile) {
	t.Helper()
	options := pdftest.Options{
		Pages: 3, Catalog: "/AcroForm 100 0 R", Page: "/Annots 102 0 R",
		Objects: []string{
			"<< /Fields [101 0 R] /DA (/Helv 0 Tf) >>",
			"<< /FT /Tx /T (Name) /V (kept) /Type /Annot /Subtype /Widget /Rect [10 10 20 20] /P 10 0 R >>",
			"[101 0 R]",
		},
	}
	for _, kind := range []pdftest.Kind{pdftest.Table, pdftest.Stream, pdftest.Hybrid} {
		options.Kind = kind
		files = append(files, twentyFile{name: string(kind), content: pdftest.Build(options)})
	}
	table := files[0].content
	return append(files,
		twentyFile{name: rebuilt, content: lastStartxref.ReplaceAll(table, []byte("startxref\n99999999\n%%EOF\n"))},
		twentyFile{name: leadingJunk, content: slices.Concat([]byte("not of the file\r\n"), table)},
		twentyFile{name: "encrypted", content: encrypt(t, table, "", "256")},
	)
}

// signTwenty signs, and measures what each signature adds. All that grows with their
// number is a reference in each of two arrays.
func signTwenty(t *testing.T, f twentyFile, p person) []byte {
	t.Helper()
	var growth []int
	b := f.content
	for range twenty {
		signed := sign(t, b, p, pades.Options{Reason: "Undirritun"})
		growth = append(growth, len(signed)-len(b))
		b = signed
	}
	t.Logf("figure: %s: bytes per signature %v", f.name, growth)
	if second, last := growth[1], growth[twenty-1]; 4*last > 5*second {
		t.Errorf("%s: the last signature takes %d bytes, the second %d", f.name, last, second)
	}
	return b
}

func twentyByVerify(t *testing.T, files []twentyFile, ca *sandboxca.Authority) {
	for _, f := range files {
		got := verify(t, f.content, ca)
		if len(got) != twenty {
			t.Errorf("%s: %d signatures", f.name, len(got))
		}
		for _, s := range got {
			if !s.Passed() {
				t.Errorf("%s: %s: %v", f.name, s.Name, s.Problems)
			}
		}
	}
}

func twentyByPDFSig(t *testing.T, files []twentyFile) {
	for _, f := range files {
		got, err := validators.PDFSig(t, validators.PDFSigOptions{}, f.path)
		if err != nil || len(got) != twenty {
			t.Errorf("%s: %d signatures, %v", f.name, len(got), err)
		}
		for i, s := range got {
			if !s.Valid() || s.Total != (i == twenty-1) {
				t.Errorf("%s: %s: %s Total %t", f.name, s.Field, s.Signature, s.Total)
			}
		}
	}
}

// twentyByPyHanko leaves out the file with junk before the header: pyHanko reads none.
func twentyByPyHanko(t *testing.T, files []twentyFile, root *x509.Certificate) {
	files = slices.DeleteFunc(slices.Clone(files), func(f twentyFile) bool { return f.name == leadingJunk })
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
	}
	for i, report := range validators.PyHanko(t, []*x509.Certificate{root}, paths...) {
		if report.Error != "" || len(report.Signatures) != twenty {
			t.Errorf("%s: %d signatures, %s", files[i].name, len(report.Signatures), report.Error)
		}
		for k, s := range report.Signatures {
			want := "ENTIRE_REVISION"
			if k == twenty-1 {
				want = "ENTIRE_FILE"
			}
			if !s.BottomLine || !s.DocMDPOK || s.Coverage != want || s.ModificationLevel == "OTHER" {
				t.Errorf("%s: %+v", files[i].name, s)
			}
		}
	}
}

// The files are what they are called: the hybrid one's table does not have its fields, and
// the one to be rebuilt has no section.
func TestTwentyFilesAreOfTheirKinds(t *testing.T) {
	for _, f := range twentyFiles(t) {
		visible := bytes.Contains(f.content, []byte("\n101 0 obj"))
		hidden := bytes.Contains(f.content, []byte("/XRefStm "))
		if f.name == string(pdftest.Hybrid) && (visible || !hidden) {
			t.Errorf("%s: field in plain sight %t, XRefStm %t", f.name, visible, hidden)
		}
		if _, err := pdf.Open(bytes.NewReader(f.content), int64(len(f.content))); (err != nil) != (f.name == rebuilt) {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}
