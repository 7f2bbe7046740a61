package pades_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// What is verified against the clock: the signatures and revisions of a document that many have worked with.
const (
	workedSignatures = 20
	workedRevisions  = 50
)

// worked is a document with so many revisions: twenty signatures at level T, five times the evidence with
// a document timestamp, and between them a field that is filled in again and again.
func worked(t testing.TB, p person, kind pdftest.Kind, payload int) []byte {
	t.Helper()
	b := pdftest.Build(pdftest.Options{
		Kind: kind, Pages: 4, Payload: payload, Many: 2000,
		Catalog: "/AcroForm 100 0 R", Page: "/Annots [101 0 R]",
		Objects: []string{
			"<< /Fields [101 0 R] /DA (/Helv 0 Tf) >>",
			"<< /FT /Tx /T (Notes) /V () /Type /Annot /Subtype /Widget /Rect [10 10 20 20] /P 10 0 R >>",
		},
	})
	for i := range workedSignatures {
		if i > 0 {
			b = filled(t, b, 101, fmt.Sprintf("(%d)", i))
		}
		b = signFor(t, b, p, ades.T)
		if i%4 == 3 {
			b = extend(t, b, ades.LTA, p.ca.Sources(nil))
		}
	}
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for revisions, err := file.Revisions(); len(revisions) < workedRevisions; revisions = append(revisions, 0) {
		if err != nil {
			t.Fatal(err)
		}
		b = filled(t, b, 101, fmt.Sprintf("(at last %d)", len(revisions)))
	}
	return b
}

// filled is a document with another value of a field.
func filled(t testing.TB, b []byte, num uint32, value string) []byte {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	update := file.NewUpdate()
	source, err := update.Source(pdf.Ref{Num: num})
	if err == nil {
		source, err = pdf.SetKey(source, "V", []byte(value))
	}
	if err != nil {
		t.Fatal(err)
	}
	update.Set(pdf.Ref{Num: num}, source)
	appended, _, err := update.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(b, appended)
}

// counted counts what is read.
type counted struct {
	io.ReaderAt
	bytes, reads atomic.Int64
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.bytes.Add(int64(n))
	c.reads.Add(1)
	return n, err
}

// A document of 22 MB with 50 revisions and 20 signatures is read at most three times over, however many
// hashes and looks at its revisions that takes, and 20 MB are allocated for it in all.
func TestVerifyingReadsLittle(t *testing.T) {
	const most, room = 3, 20 << 20
	p := newPerson(t, newAuthority(t), p256(t))
	for _, kind := range pdftest.Kinds {
		b := worked(t, p, kind, 22_000_000)
		source := &counted{ReaderAt: bytes.NewReader(b)}
		var report *ades.Report
		allocated := testenv.Allocated(func() {
			var err error
			report, err = pades.Verify(t.Context(), pades.Document{ReaderAt: source, Size: int64(len(b))}, ades.VerifyOptions{Roots: p.ca.Roots()})
			if err != nil {
				t.Fatal(err)
			}
		})
		for _, s := range report.Signatures {
			if s.Indication != ades.TotalPassed && s.SubIndication != ades.TryLater {
				t.Errorf("%s: %v", s.Name, s.Problems)
			}
		}
		read := source.bytes.Load()
		t.Logf("figure: %s: %d signatures, %d bytes read of %d, in %d reads, %d MB allocated", kind, len(report.Signatures), read, len(b), source.reads.Load(), allocated>>20)
		if len(report.Signatures) != workedSignatures || read > most*int64(len(b)) || allocated > room {
			t.Errorf("%s: %d signatures, %d bytes read of %d, %d MB allocated", kind, len(report.Signatures), read, len(b), allocated>>20)
		}
	}
}

// BenchmarkVerify verifies such a document, and reports the time as a multiple of what hashing all of it once takes.
func BenchmarkVerify(b *testing.B) {
	p := newPerson(b, newAuthority(b), p256(b))
	for _, kind := range pdftest.Kinds {
		b.Run(string(kind), func(b *testing.B) {
			doc := document(worked(b, p, kind, 22_000_000))
			ours := func() {
				if _, err := pades.Verify(b.Context(), doc, ades.VerifyOptions{Roots: p.ca.Roots()}); err != nil {
					b.Fatal(err)
				}
			}
			buffer := make([]byte, 256<<10)
			floor := func() time.Duration {
				began := time.Now()
				sum := sha256.New()
				if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(doc, 0, doc.Size), buffer); err != nil {
					b.Fatal(err)
				}
				return time.Since(began)
			}
			ours()
			b.SetBytes(doc.Size)
			inTurns(b, ours, floor)
		})
	}
}
