// Package decisions shows what the pages of docs/decisions say of the libraries that the service does without, or uses in
// tests alone. When a library changes so that a reason is gone, its test fails, and the decision is due for another look.
package decisions

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/color"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// signer is a person with a test certificate.
type signer struct {
	ca          *sandboxca.Authority
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newSigner(t testing.TB) signer {
	t.Helper()
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	key := certtest.NewKey(t, elliptic.P256())
	certificate, err := ca.Issue("Jóna Jónsdóttir", "0101302989", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return signer{ca, key, certificate}
}

func (s signer) ades() ades.SignerIdentity {
	return ades.SignerIdentity{Certificate: s.certificate, Chain: s.ca.Chain()}
}

func (s signer) sign(d ades.Digest) ([]byte, error) {
	return s.key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
}

// signedPDF is a document that the package pades has signed.
func signedPDF(t testing.TB, s signer) []byte {
	t.Helper()
	content := pdftest.Build(pdftest.Options{})
	pending, err := pades.Prepare(t.Context(), pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}, s.ades(), pades.Options{})
	if err != nil {
		t.Fatal(err)
	}
	value, err := s.sign(pending.Digest())
	if err != nil {
		t.Fatal(err)
	}
	revision, err := pending.Complete(t.Context(), value, nil)
	if err != nil {
		t.Fatal(err)
	}
	return append(content, revision.Bytes...)
}

// signatures counts the signatures in a document, and those that have passed.
func signatures(t *testing.T, content []byte, s signer) (found, passed int) {
	t.Helper()
	report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}, ades.VerifyOptions{Roots: s.ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range report.Signatures {
		found++
		if one.Passed() {
			passed++
		}
	}
	return found, passed
}

// docs/decisions/own-pdf.md: pdfcpu cannot sign, writes whole files anew, and appends in another form than the file has.
func TestPDF(t *testing.T) {
	t.Run("pdfcpu does not sign", func(t *testing.T) {
		about := slices.DeleteFunc(functions(t, "github.com/pdfcpu/pdfcpu", "pkg/api"), func(name string) bool { return !regexp.MustCompile(`(?i)sign|seal`).MatchString(name) })
		about = append(about, functions(t, "github.com/pdfcpu/pdfcpu", "pkg/pdfcpu/sign")...)
		shows(t, "own-pdf.md", "what pdfcpu has about signatures: %s", strings.Join(about, ", "))
		for _, name := range about {
			if !regexp.MustCompile(`^(Validate|Remove)`).MatchString(name) {
				t.Errorf("pdfcpu has %s now", name)
			}
		}
		if len(about) == 0 {
			t.Error("nothing was found")
		}
	})
	t.Run("pdfcpu writes a file anew", func(t *testing.T) {
		s := newSigner(t)
		signed := signedPDF(t, s)
		if found, passed := signatures(t, signed, s); found != 1 || passed != 1 {
			t.Fatalf("the document has %d signatures, of which %d have passed", found, passed)
		}
		var out bytes.Buffer
		if err := api.Optimize(bytes.NewReader(signed), &out, model.NewDefaultConfiguration()); err != nil {
			t.Fatal(err)
		}
		found, passed := signatures(t, out.Bytes(), s)
		shows(t, "own-pdf.md", "signatures that have passed: 1 before, %d after pdfcpu has written the file; it begins with the same bytes: %v", passed, bytes.HasPrefix(out.Bytes(), signed))
		if bytes.HasPrefix(out.Bytes(), signed) || passed != 0 {
			t.Errorf("%d signatures, %d passed", found, passed)
		}
	})
	t.Run("pdfcpu appends a cross-reference stream to a file with a table", func(t *testing.T) {
		content := pdftest.Build(pdftest.Options{Kind: pdftest.Table})
		file, err := os.Create(filepath.Join(t.TempDir(), "annotated.pdf"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.Write(content); err != nil {
			t.Fatal(err)
		}
		note := model.NewSquareAnnotation(*types.NewRectangle(10, 10, 20, 20), 0, "", "", "", 0, &color.Gray, "", nil, nil, "", "", nil, 0, 0, 0, 0, 1, model.BSSolid, false, 0)
		if err := api.AddAnnotationsAsIncrement(file, nil, note, model.NewDefaultConfiguration()); err != nil {
			t.Fatal(err)
		}
		annotated, err := os.ReadFile(file.Name())
		if err != nil || !bytes.HasPrefix(annotated, content) {
			t.Fatalf("pdfcpu does not append: %v", err)
		}
		added := annotated[len(content):]
		stream := regexp.MustCompile(`/Type\s*/XRef`).Match(added)
		shows(t, "own-pdf.md", "the file has a table: %v; pdfcpu appends a stream: %v", bytes.Contains(content, []byte("\nxref\n")), stream)
		if !stream {
			t.Error("pdfcpu does not append a stream")
		}
	})
}

// BenchmarkPDF prepares a signature on a file of 50,000 objects, and has pdfcpu read it.
func BenchmarkPDF(b *testing.B) {
	content := pdftest.Build(pdftest.Options{Many: 50_000})
	s := newSigner(b)
	b.Run("pades prepares a signature", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := pades.Prepare(context.Background(), pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}, s.ades(), pades.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pdfcpu reads", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := api.ReadContext(bytes.NewReader(content), model.NewDefaultConfiguration()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// source returns the folder of a module that the tests are built with.
func source(t *testing.T, module string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), testenv.Program(t, "go"), "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.TrimSpace(string(output))
}

// shows logs a line, and fails the test if a page of docs/decisions does not have it.
func shows(t *testing.T, page, format string, values ...any) {
	t.Helper()
	line := fmt.Sprintf(format, values...)
	t.Log(line)
	content, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "decisions", page))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(strings.Split(string(content), "\n"), line) {
		t.Errorf("docs/decisions/%s does not say so", page)
	}
}

// functions returns the names of the exported functions of a package, in order.
func functions(t *testing.T, module, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(source(t, module), folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files in %s: %v", module, folder, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv == nil && f.Name.IsExported() {
				names = append(names, f.Name.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}
