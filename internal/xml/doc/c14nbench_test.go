package doc_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"testing"
	"time"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// records is a document as businesses exchange them, of about so many bytes: short elements with
// some attributes, references and white space.
func records(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<o:Orders xmlns:o="urn:example:orders" xmlns="urn:example:party" xmlns:x="urn:example:extension">`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\n  <o:Order number=\"%d\" x:state='open' date=\"2026-01-01\">\n    <Name>Jón &amp; Þóra ehf.</Name>\n"+
			"    <o:Line o:id=\"%d\"><o:Amount currency=\"ISK\">%d</o:Amount><o:Text>Skrifborð, stóll og lampi í skrifstofu</o:Text>"+
			"<x:Note/></o:Line>\n  </o:Order>", i, i+1, i*10)
	}
	b.WriteString("\n</o:Orders>\n")
	return b.Bytes()
}

// BenchmarkCanonicalize says how much longer than a SHA-256 of the source a digest of the canonical
// form takes.
func BenchmarkCanonicalize(b *testing.B) {
	source := records(10 << 20)
	d, err := xmldoc.Parse(source)
	if err != nil {
		b.Fatal(err)
	}
	for name, method := range methods {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			var alone time.Duration
			for b.Loop() {
				canonicalDigest(b, d, method)
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

func canonicalDigest(b *testing.B, d *xmldoc.Document, method xmldoc.Method) {
	hash := sha256.New()
	if err := d.Canonicalize(hash, xmldoc.Canonicalization{Method: method}, xmldoc.Subset{}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCanonicalizeAlone is the rate of the canonicalization itself.
func BenchmarkCanonicalizeAlone(b *testing.B) {
	source := records(10 << 20)
	d, err := xmldoc.Parse(source)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if err := d.Canonicalize(io.Discard, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{}); err != nil {
			b.Fatal(err)
		}
	}
}
