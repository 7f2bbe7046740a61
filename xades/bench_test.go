package xades_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// BenchmarkDocuments signs documents of 10 and 30 MB, verifies them, signs them a second time, and raises
// them to LTA, from file to file. The medians are multiples of one pass of SHA-256 over the same bytes, and
// of what xmlsec1 takes for the same file in the same run, as often in one process, where it can do the
// like. heap is the highest while it works, garbage included, as a multiple of the document: of the file
// that is read.
//
// In full it fails where it is slower than xmlsec1, or the heap is more than four times the document.
func BenchmarkDocuments(b *testing.B) {
	ca := newAuthority(b)
	p := newPerson(b, ca, rsaKey(b, 3072))
	for _, k := range packings {
		for _, size := range []int{10_000_000, 30_000_000} {
			b.Run(fmt.Sprintf("%s/%dMB", k.name, size/1_000_000), func(b *testing.B) {
				s := newBenchScene(b, p, k, size)
				b.Run("sign", func(b *testing.B) { s.measure(b, "in.xml", s.sign, s.foreignSign) })
				b.Run("verify", func(b *testing.B) { s.measure(b, "signed.xml", s.verify, s.foreignVerify) })
				b.Run("sign again", func(b *testing.B) { s.measure(b, "signed.xml", s.signAgain, nil) })
				b.Run("LTA", func(b *testing.B) { s.measure(b, "signed.xml", s.archive, nil) })
			})
		}
	}
}

// benchScene is a document as a file, and what came of it.
type benchScene struct {
	person  person
	packing packing
	folder  string
}

func newBenchScene(b *testing.B, p person, packing packing, size int) benchScene {
	b.Helper()
	s := benchScene{p, packing, b.TempDir()}
	s.write(b, "in.xml", invoice(size))
	s.sign(b)
	if s.hasForeign() {
		s.write(b, "template.xml", s.template(b))
		s.writeKeys(b)
	}
	return s
}

func (s benchScene) path(name string) string { return filepath.Join(s.folder, name) }

func (s benchScene) write(b *testing.B, name string, content []byte) {
	b.Helper()
	if err := os.WriteFile(s.path(name), content, 0o600); err != nil {
		b.Fatal(err)
	}
}

// invoice is a document of about that many bytes: lines of an invoice, with elements in two namespaces,
// attributes and text.
func invoice(size int) []byte {
	var out bytes.Buffer
	out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<inv:Invoice xmlns:inv="urn:example:invoice" xmlns="urn:example:common">` + "\n")
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, "  <inv:Line number=\"%d\" unit=\"klst.\">\n    <Name language=\"is\">Þjónusta &amp; ráðgjöf %d</Name>\n"+
			"    <Amount currency=\"ISK\">%d</Amount>\n    <Note>Unnið samkvæmt samningi, sjá fylgiskjal %d.</Note>\n  </inv:Line>\n", i, i, i*100, i)
	}
	out.WriteString("</inv:Invoice>\n")
	return out.Bytes()
}

// open is a document that is read where it is.
func (s benchScene) open(b *testing.B, name string) (doc xades.Document, done func()) {
	b.Helper()
	file, err := os.Open(s.path(name))
	if err != nil {
		b.Fatal(err)
	}
	stat, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return xades.Document{ReaderAt: file, Size: stat.Size()}, func() { file.Close() }
}

func (s benchScene) sign(b *testing.B) { s.signFile(b, "in.xml", "signed.xml") }

func (s benchScene) signAgain(b *testing.B) { s.signFile(b, "signed.xml", "again.xml") }

func (s benchScene) signFile(b *testing.B, from, to string) {
	b.Helper()
	doc, done := s.open(b, from)
	defer done()
	revision, err := xades.Sign(context.Background(), doc, s.person.key, s.person.signer, s.packing.options(), ades.Sources{})
	if err != nil {
		b.Fatal(err)
	}
	s.save(b, to, doc.With(revision))
}

func (s benchScene) archive(b *testing.B) {
	b.Helper()
	doc, done := s.open(b, "signed.xml")
	defer done()
	revisions, err := xades.Extender{Sources: s.person.ca.Sources(nil)}.ExtendLast(context.Background(), doc, ades.LTA)
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range revisions {
		doc = doc.With(r)
	}
	s.save(b, "archived.xml", doc)
}

func (s benchScene) save(b *testing.B, name string, doc xades.Document) {
	b.Helper()
	out, err := os.Create(s.path(name))
	if err != nil {
		b.Fatal(err)
	}
	buffered := bufio.NewWriterSize(out, 1<<20)
	if _, err := io.Copy(buffered, io.NewSectionReader(doc, 0, doc.Size)); err != nil {
		b.Fatal(err)
	}
	if err := buffered.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
}

func (s benchScene) verify(b *testing.B) {
	b.Helper()
	doc, done := s.open(b, "signed.xml")
	defer done()
	roots := x509.NewCertPool()
	roots.AddCert(s.person.ca.Root())
	report, err := xades.Verify(context.Background(), doc, ades.VerifyOptions{Roots: roots})
	if err != nil || !report.Passed() {
		b.Fatalf("%v, %+v", err, report)
	}
}
