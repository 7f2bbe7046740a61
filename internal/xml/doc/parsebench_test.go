package doc_test

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// invoices is a document of about that size as business software writes them: short values in
// long names with prefixes, indented, with a paragraph now and then.
func invoices(size int) []byte {
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
	return []byte(b.String())
}

// BenchmarkParse reads documents and reports the time as a multiple of one pass of SHA-256 over the
// same bytes, and the memory of the tree as a multiple of the source.
func BenchmarkParse(b *testing.B) {
	for _, megabytes := range []int{1, 10, 30} {
		source := invoices(megabytes << 20)
		b.Run(fmt.Sprintf("%dMB", megabytes), func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := xmldoc.Parse(source); err != nil {
					b.Fatal(err)
				}
			}
			parse := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(parse/hashing(source).Seconds(), "sha256-passes")
			b.ReportMetric(heapOf(b, source)/float64(len(source)), "heap/source")
		})
	}
}

// hashing is the time of the fastest of some passes.
func hashing(source []byte) time.Duration {
	fastest := time.Hour
	for range 5 {
		start := time.Now()
		sha256.Sum256(source)
		fastest = min(fastest, time.Since(start))
	}
	return fastest
}

// heapOf is what a document keeps beside its source, in bytes.
func heapOf(b testing.TB, source []byte) float64 {
	b.Helper()
	before := heap()
	d, err := xmldoc.Parse(source)
	if err != nil {
		b.Fatal(err)
	}
	after := heap()
	runtime.KeepAlive(d)
	return float64(after) - float64(before)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
