package xades_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/xades"
)

// BenchmarkDocuments signs and verifies documents of 10 and 30 MB, from file to file. The medians are
// multiples of one pass of SHA-256 over the same bytes, and of what xmlsec1 takes for the same file in the
// same run, as often in one process. heap is the highest while it works, garbage included, as a multiple of
// the document.
//
// In full it fails where it is slower than xmlsec1, or the heap is more than four times the document.
func BenchmarkDocuments(b *testing.B) {
	ca := newAuthority(b)
	p := newPerson(b, ca, rsaKey(b, 3072))
	for _, packing := range []xades.Packing{xades.Enveloped, xades.InternallyDetached} {
		for _, size := range []int{10_000_000, 30_000_000} {
			b.Run(fmt.Sprintf("%v/%dMB", packing, size/1_000_000), func(b *testing.B) {
				s := newBenchScene(b, p, packing, size)
				b.Run("sign", func(b *testing.B) { s.measure(b, s.sign, s.foreignSign) })
				b.Run("verify", func(b *testing.B) { s.measure(b, s.verify, s.foreignVerify) })
			})
		}
	}
}

// benchScene is a document as a file, and what came of it.
type benchScene struct {
	person  person
	packing xades.Packing
	folder  string
	size    int
}

func newBenchScene(b *testing.B, p person, packing xades.Packing, size int) benchScene {
	b.Helper()
	s := benchScene{p, packing, b.TempDir(), size}
	s.write(b, "in.xml", invoice(size))
	s.sign(b)
	s.write(b, "template.xml", s.template(b))
	s.writeKeys(b)
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

func (s benchScene) sign(b *testing.B) {
	b.Helper()
	doc, done := s.open(b, "in.xml")
	defer done()
	revision, err := xades.Sign(context.Background(), doc, s.person.key, s.person.signer, xades.Options{Packing: s.packing})
	if err != nil {
		b.Fatal(err)
	}
	out, err := os.Create(s.path("signed.xml"))
	if err != nil {
		b.Fatal(err)
	}
	signed := doc.With(revision)
	buffered := bufio.NewWriterSize(out, 1<<20)
	if _, err := io.Copy(buffered, io.NewSectionReader(signed, 0, signed.Size)); err != nil {
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
	report, err := xades.Verify(context.Background(), doc, xades.VerifyOptions{Roots: roots})
	if err != nil || !report.Passed() {
		b.Fatalf("%v, %+v", err, report)
	}
}

// measure reports how one of ours compares. Theirs are done one after another by one process, of which
// the start counts once.
func (s benchScene) measure(b *testing.B, ours func(*testing.B), theirs func(b *testing.B, repeat int)) {
	heap := peakHeap(func() { ours(b) })
	content, err := os.ReadFile(s.path("in.xml"))
	if err != nil {
		b.Fatal(err)
	}
	var took, pass []time.Duration
	b.ResetTimer()
	for b.Loop() {
		took = append(took, since(func() { ours(b) }))
		b.StopTimer()
		pass = append(pass, since(func() { sha256.Sum256(content) }))
		b.StartTimer()
	}
	b.StopTimer()
	foreign := since(func() { theirs(b, len(took)) }) / time.Duration(len(took))
	mine := median(took)
	b.ReportMetric(float64(mine)/float64(median(pass)), "SHA-256")
	b.ReportMetric(float64(mine)/float64(foreign), "xmlsec1")
	b.ReportMetric(float64(heap)/float64(s.size), "heap")
	if !testenv.Full() {
		return
	}
	if mine > foreign {
		b.Errorf("%v, and xmlsec1 %v", mine, foreign)
	}
	if heap > 4*uint64(s.size) {
		b.Errorf("a heap of %d bytes for %d", heap, s.size)
	}
}

func since(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// peakHeap is by how much the heap grows at most while f runs, with what was not collected yet.
func peakHeap(f func()) uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	before, peak := sample[0].Value.Uint64(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for ticker := time.NewTicker(time.Millisecond); ; {
			metrics.Read(sample)
			peak = max(peak, sample[0].Value.Uint64())
			select {
			case <-stop:
				ticker.Stop()
				return
			case <-ticker.C:
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak - min(peak, before)
}
