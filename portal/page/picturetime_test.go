package page

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/stamp/pdfium"
)

// The first picture of a long document comes soon after the login, and one that was drawn ahead within 300 ms:
// figures for docs/signing-page.md, the medians of all rounds.
func BenchmarkFirstPicture(b *testing.B) {
	s, v := withDocument(b, book(), newRenderer(b, pdfium.Options{Limit: enoughTime}))
	c := s.browser(annas)
	timed := func(page int) time.Duration {
		began := time.Now()
		if a := c.ask(http.MethodGet, of(v, 0, fmt.Sprintf("/pages/%d/960?revision=0", page))); a.StatusCode != http.StatusOK {
			b.Fatalf("page %d: %d", page, a.StatusCode)
		}
		return time.Since(began)
	}
	for i, name := range []string{"text", "scan"} {
		page := i + 1
		b.Run(name, func(b *testing.B) {
			var first, again []time.Duration
			for b.Loop() {
				s.page.pictures.forgetAll()
				first = append(first, timed(page))
				again = append(again, timed(page))
			}
			slices.Sort(first)
			slices.Sort(again)
			b.ReportMetric(float64(first[len(first)/2].Microseconds())/1000, "ms/first")
			b.ReportMetric(float64(again[len(again)/2].Microseconds())/1000, "ms/ahead")
			if median := again[len(again)/2]; median > 300*time.Millisecond {
				b.Errorf("what was drawn ahead comes after %v", median)
			}
		})
	}
}
