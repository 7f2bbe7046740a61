package doc_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// BenchmarkParse parses documents and reports the time as a multiple of one pass of SHA-256 over the
// same bytes, and the memory of the tree as a multiple of the source.
func BenchmarkParse(b *testing.B) {
	for _, megabytes := range []int{1, 10, 30} {
		source := []byte(invoices(megabytes << 20))
		b.Run(fmt.Sprintf("%dMB", megabytes), func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := xmldoc.Parse(source); err != nil {
					b.Fatal(err)
				}
			}
			took := b.Elapsed().Seconds() / float64(b.N)
			fastest := time.Hour
			for range 5 {
				start := time.Now()
				sha256.Sum256(source)
				fastest = min(fastest, time.Since(start))
			}
			before := heapSize()
			d, err := xmldoc.Parse(source)
			if err != nil {
				b.Fatal(err)
			}
			tree := float64(heapSize()) - float64(before)
			runtime.KeepAlive(d)
			b.ReportMetric(took/fastest.Seconds(), "sha256-passes")
			b.ReportMetric(tree/float64(len(source)), "heap/source")
		})
	}
}

func heapSize() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkCanonicalize reports the time of a digest of the canonical form as a multiple of that of a
// digest of the source.
func BenchmarkCanonicalize(b *testing.B) {
	source := []byte(invoices(10 << 20))
	d := parse(b, string(source))
	for name, method := range methods {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			var alone time.Duration
			for b.Loop() {
				canonicalize(b, d, method, sha256.New())
				b.StopTimer()
				start := time.Now()
				sha256.Sum256(source)
				alone += time.Since(start)
				b.StartTimer()
			}
			b.ReportMetric(b.Elapsed().Seconds()/alone.Seconds(), "SHA-256")
		})
	}
}

// BenchmarkCanonicalizeAlone is the rate of canonicalization without a digest.
func BenchmarkCanonicalizeAlone(b *testing.B) {
	source := invoices(10 << 20)
	d := parse(b, source)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		canonicalize(b, d, xmldoc.Exclusive, io.Discard)
	}
}

func canonicalize(b *testing.B, d *xmldoc.Document, method xmldoc.Method, w io.Writer) {
	if err := d.Canonicalize(w, xmldoc.Canonicalization{Method: method}, xmldoc.Subset{}); err != nil {
		b.Fatal(err)
	}
}

// invoices is a document of about a size in bytes as business software writes them: short values in
// long names with prefixes, indented, with some paragraphs.
func invoices(size int) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<Invoices xmlns="urn:example:invoice" xmlns:cac="urn:example:aggregate" xmlns:cbc="urn:example:basic">
`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `  <cac:InvoiceLine Id="line-%d">
    <cbc:ID schemeID="GTIN">%d</cbc:ID>
    <cbc:InvoicedQuantity unitCode="C62">%d</cbc:InvoicedQuantity>
    <cbc:LineExtensionAmount currencyID="ISK">%d.00</cbc:LineExtensionAmount>
    <cac:Item><cbc:Name>Þjónusta &amp; ráðgjöf</cbc:Name><cbc:Description/></cac:Item>
`, i, 5690000000000+i, i%17, i*100)
		if i%8 == 0 {
			b.WriteString("    <cbc:Note>" + strings.Repeat("Verkið var unnið samkvæmt samningi. ", 12) + "</cbc:Note>\n")
		}
		b.WriteString("  </cac:InvoiceLine>\n")
	}
	b.WriteString("</Invoices>\n")
	return b.String()
}
