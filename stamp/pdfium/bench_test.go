package pdfium_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// text is a page of text.
func text() []byte {
	return source{
		page:    "/MediaBox [0 0 595 842] /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>",
		content: "BT /F 11 Tf 14 TL 50 780 Td " + strings.Repeat("(Undirritaður samþykkir skilmála þessa samnings, sem er í tveimur eintökum.) ' ", 50) + "ET",
	}.bytes()
}

// BenchmarkFirst is from New to the first page, with a warm cache.
func BenchmarkFirst(b *testing.B) {
	shared(b)
	document := text()
	for b.Loop() {
		r := pdfium.New(pdfium.Options{Cache: testenv.RendererCache()})
		drawn(b, r, document, 595, 842)
		b.StopTimer()
		r.Close()
		b.StartTimer()
	}
}

// BenchmarkPage is a page of text, in the median, as such and as a multiple of an empty page.
func BenchmarkPage(b *testing.B) {
	r := shared(b)
	document, empty := text(), source{page: "/MediaBox [0 0 595 842]"}.bytes()
	var pages, floor []time.Duration
	timed := func(document []byte) time.Duration {
		began := time.Now()
		drawn(b, r, document, 595, 842)
		return time.Since(began)
	}
	for b.Loop() {
		pages, floor = append(pages, timed(document)), append(floor, timed(empty))
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2])
	}
	b.ReportMetric(median(pages)/1e6, "ms/page")
	b.ReportMetric(median(pages)/median(floor), "x-empty")
}
