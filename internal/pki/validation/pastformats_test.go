package validation_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/xades"
)

// format is what signs, raises and verifies in one format.
type format struct {
	name    string // and extension of files
	sign    func(*testing.T, *world, ades.Level) []byte
	extend  func(*testing.T, []byte, ades.Level, ades.Sources) []byte
	verify  func(*testing.T, []byte, *world, time.Time) ades.SignatureReport
	persist func(*testing.T, []byte, ...[]byte) []byte // with lists that are put beside the data; nil: cannot
}

var formats = []format{
	{"pdf", signPDF, extendPDF, verifyPDF, nil},
	{"xml", signXML, extendXML, verifyXML, withLists},
}

func signPDF(t *testing.T, w *world, level ades.Level) []byte {
	t.Helper()
	b := pdftest.Build(pdftest.Options{})
	pending, err := pades.Prepare(t.Context(), pdfDocument(b), w.signer, pades.Options{Level: level, Time: w.signed})
	if err != nil {
		t.Fatal(err)
	}
	r, err := pending.Sign(t.Context(), w.key, asked{w, w.signed})
	if err != nil {
		t.Fatal(err)
	}
	return append(b, r.Bytes...)
}

func extendPDF(t *testing.T, b []byte, level ades.Level, s ades.Sources) []byte {
	t.Helper()
	revisions, err := pades.Extender{Sources: s}.Extend(t.Context(), pdfDocument(b), level)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Clone(b)
	for _, r := range revisions {
		b = append(b, r.Bytes...)
	}
	return b
}

func verifyPDF(t *testing.T, b []byte, w *world, at time.Time) ades.SignatureReport {
	t.Helper()
	report, err := pades.Verify(t.Context(), pdfDocument(b), ades.VerifyOptions{Roots: w.pool(), Time: at})
	if err != nil {
		t.Fatal(err)
	}
	return report.Signatures[0]
}

func pdfDocument(b []byte) pades.Document {
	return pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

func signXML(t *testing.T, w *world, level ades.Level) []byte {
	t.Helper()
	doc := xmlDocument([]byte("<contract>What is agreed</contract>"))
	pending, err := xades.Prepare(t.Context(), doc, w.signer, xades.Options{Level: level, Time: w.signed})
	if err != nil {
		t.Fatal(err)
	}
	r, err := pending.Sign(t.Context(), w.key, asked{w, w.signed})
	if err != nil {
		t.Fatal(err)
	}
	return readXML(t, doc.With(r))
}

func extendXML(t *testing.T, b []byte, level ades.Level, s ades.Sources) []byte {
	t.Helper()
	doc := xmlDocument(b)
	revisions, err := xades.Extender{Sources: s}.Extend(t.Context(), doc, level)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range revisions {
		doc = doc.With(r)
	}
	return readXML(t, doc)
}

func verifyXML(t *testing.T, b []byte, w *world, at time.Time) ades.SignatureReport {
	t.Helper()
	report, err := xades.Verify(t.Context(), xmlDocument(b), ades.VerifyOptions{Roots: w.pool(), Time: at})
	if err != nil {
		t.Fatal(err)
	}
	return report.Signatures[0]
}

func xmlDocument(b []byte) xades.Document {
	return xades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

func readXML(t *testing.T, doc xades.Document) []byte {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(doc, 0, doc.Size))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// withLists puts lists beside those of the first RevocationValues.
func withLists(t *testing.T, b []byte, lists ...[]byte) []byte {
	t.Helper()
	var more strings.Builder
	for _, der := range lists {
		more.WriteString("<xades:EncapsulatedCRLValue>" + base64.StdEncoding.EncodeToString(der) + "</xades:EncapsulatedCRLValue>")
	}
	const end = "</xades:CRLValues>"
	if !bytes.Contains(b, []byte(end)) {
		t.Fatal("the data has no lists")
	}
	return bytes.Replace(b, []byte(end), []byte(more.String()+end), 1)
}
