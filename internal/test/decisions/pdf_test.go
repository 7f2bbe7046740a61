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
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/color"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
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
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := ca.Issue("Jóna Jónsdóttir", "0101302989", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return signer{ca, key, certificate}
}

func (s signer) ades() ades.Signer {
	return ades.Signer{Certificate: s.certificate, Chain: s.ca.Chain()}
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

// signatures are those that the package pades finds in a document, and says of whether they have passed.
func signatures(t *testing.T, content []byte, s signer) (found, passed int) {
	t.Helper()
	report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}, pades.VerifyOptions{Roots: s.ca.Roots()})
	if errors.Is(err, pades.ErrUnreadable) {
		return 0, 0
	}
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
		about := slices.DeleteFunc(exported(t, "github.com/pdfcpu/pdfcpu", "pkg/api"), func(name string) bool { return !regexp.MustCompile(`(?i)sign`).MatchString(name) })
		shows(t, "own-pdf.md", "what pdfcpu's API has about signatures: %s", strings.Join(about, ", "))
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
		file := &memory{content: slices.Clone(content)}
		note := model.NewSquareAnnotation(*types.NewRectangle(10, 10, 20, 20), 0, "", "", "", 0, &color.Gray, "", nil, nil, "", "", nil, 0, 0, 0, 0, 1, model.BSSolid, false, 0)
		if err := api.AddAnnotationsAsIncrement(file, nil, note, model.NewDefaultConfiguration()); err != nil {
			t.Fatal(err)
		}
		added := file.content[len(content):]
		stream := regexp.MustCompile(`/Type\s*/XRef`).Match(added)
		shows(t, "own-pdf.md", "the file has a table: %v; pdfcpu appends a stream: %v", bytes.Contains(content, []byte("\nxref\n")), stream)
		if !bytes.HasPrefix(file.content, content) || !stream {
			t.Error("pdfcpu appends a table to a table")
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

// memory is a file in memory.
type memory struct {
	content []byte
	at      int64
}

func (m *memory) Read(p []byte) (int, error) {
	if m.at >= int64(len(m.content)) {
		return 0, io.EOF
	}
	n := copy(p, m.content[m.at:])
	m.at += int64(n)
	return n, nil
}

func (m *memory) Write(p []byte) (int, error) {
	m.content = append(m.content[:m.at], p...)
	m.at += int64(len(p))
	return len(p), nil
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += m.at
	case io.SeekEnd:
		offset += int64(len(m.content))
	}
	m.at = offset
	return offset, nil
}

// source returns the folder of a module that the tests are built with.
func source(t *testing.T, module string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return strings.TrimSpace(string(output))
}

// shows logs what was found, and that a page of docs/decisions says it in these words.
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

// exported returns the exported functions and types of a package.
func exported(t *testing.T, module, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(source(t, module), folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, o := range file.Scope.Objects {
			if ast.IsExported(name) && (o.Kind == ast.Fun || o.Kind == ast.Typ) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
