package pdfium_test

import (
	"bytes"
	"image"
	"image/color"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"weak"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// TestVisibleContent checks that the annotations, form fields and layers that viewers show are drawn,
// that others are not, and that no script runs.
func TestVisibleContent(t *testing.T) {
	r := shared(t)
	visible, hidden := image.Rect(100, 30, 140, 50), image.Rectangle{}
	const at = "/Rect [100 50 140 70]"
	annotation := func(entries string) source {
		return source{
			page:    page200 + "/Annots [10 0 R]",
			objects: []string{"<< /Type /Annot " + at + " /AP << /N 11 0 R >> " + entries + " >>", stream(box, red)},
		}
	}
	field := func(entries, catalog string) source {
		s := annotation("/Subtype /Widget /T (a) " + entries)
		s.catalog = "/AcroForm << /Fields [10 0 R] >> " + catalog
		return s
	}
	layer := func(state string) source {
		return source{
			catalog: "/OCProperties << /OCGs [10 0 R] /D << /" + state + " [10 0 R] >> >>",
			page:    page200 + "/Resources << /Properties << /Layer 10 0 R >> >>",
			content: "/OC /Layer BDC 100 50 40 20 re f EMC",
			objects: []string{"<< /Type /OCG /Name (layer) >>"},
		}
	}
	const script = "/OpenAction << /S /JavaScript /JS (this.getField('a').display = display.hidden) >>"
	for name, test := range map[string]struct {
		source
		want image.Rectangle
	}{
		"empty page":                {source{page: page200}, hidden},
		"annotation":                {annotation("/Subtype /Stamp /F 4"), visible},
		"hidden annotation":         {annotation("/Subtype /Stamp /F 2"), hidden},
		"text field":                {field("/FT /Tx /F 4", ""), visible},
		"signature field":           {field("/FT /Sig /F 132", ""), visible},
		"hidden field":              {field("/FT /Tx /F 2", ""), hidden},
		"script that hides a field": {field("/FT /Tx", script), visible},
		"visible layer":             {layer("ON"), visible},
		"hidden layer":              {layer("OFF"), hidden},
		"transparency group": {source{
			page:    page200 + "/Group << /S /Transparency /CS /DeviceRGB >> /Resources << /ExtGState << /G << /BM /Multiply /ca 0.5 >> >> >>",
			content: "/G gs 100 50 40 20 re f",
		}, visible},
	} {
		if got := inked(drawn(t, r, test.bytes(), 200, 100)); got != test.want {
			t.Errorf("%s: the content is drawn at %v, want %v", name, got, test.want)
		}
	}
	withoutAppearance := source{
		catalog: "/AcroForm << /Fields [10 0 R] /NeedAppearances true /DA (/Helv 12 Tf 0 g) /DR << /Font << /Helv 11 0 R >> >> >>",
		page:    page200 + "/Annots [10 0 R]",
		objects: []string{
			"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (Innsigli) /F 4 " + at + " /DA (/Helv 9 Tf 0 g) >>",
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		},
	}.bytes()
	if got := inked(drawn(t, r, withoutAppearance, 200, 100)); got.Empty() || !got.In(visible) {
		t.Errorf("the value of a field without an appearance is drawn at %v, want it in %v", got, visible)
	}
	orange := source{page: page200, content: "1 0.5 0 rg 0 0 100 100 re f"}.bytes()
	if got, want := drawn(t, r, orange, 200, 100).RGBAAt(50, 50), (color.RGBA{255, 128, 0, 255}); got != want {
		t.Errorf("orange is drawn as %v, want %v", got, want)
	}
}

// TestEncrypted checks that encrypted files are drawn if they open without a password.
func TestEncrypted(t *testing.T) {
	r := shared(t)
	n := 0
	for _, f := range testenv.Expected(t, "pdf") {
		content := testenv.ReadFile(t, f.Path)
		page, err := stamp.ReadPage(bytes.NewReader(content), int64(len(content)), 1)
		if f.Says["encrypted"] != "yes" || f.Says["mutool_info"] != "0" || err != nil {
			continue // needs a password, or is damaged
		}
		if _, err := render(t.Context(), r, content, int(page.Width), int(page.Height)); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		n++
	}
	t.Logf("figure: %d encrypted files drawn", n)
	if n == 0 {
		t.Error("no file is encrypted and opens without a password")
	}
}

// TestRenderErrors checks that what cannot be drawn is an error, that the next page is drawn, and that
// the renderer keeps no reference to either document.
func TestRenderErrors(t *testing.T) {
	r := shared(t)
	good := source{page: page200, content: "100 50 40 20 re f"}.bytes()
	beside := source{page: "/MediaBox [0 0 100 100] /CropBox [200 200 300 300]"}.bytes()
	draw := func(document []byte, size int64, page, width, height int) (weak.Pointer[bytes.Reader], error) {
		reader := bytes.NewReader(document)
		picture, err := r.Render(t.Context(), reader, size, page, width, height)
		if (picture == nil) != (err != nil) {
			t.Errorf("got a picture %v with the error %v", picture != nil, err)
		}
		return weak.Make(reader), err
	}
	collected := func(document weak.Pointer[bytes.Reader]) bool {
		for range 100 {
			if runtime.GC(); document.Value() == nil {
				return true
			}
		}
		return false
	}
	for name, test := range map[string]struct {
		document            []byte
		size                int
		page, width, height int
	}{
		"empty file":                   {nil, 0, 1, 200, 100},
		"not a PDF":                    {[]byte("hello"), 5, 1, 200, 100},
		"no objects":                   {[]byte("%PDF-1.7\n" + strings.Repeat("x", 10000)), 10009, 1, 200, 100},
		"shorter than stated":          {good[:40], len(good), 1, 200, 100},
		"page 0":                       {good, len(good), 0, 200, 100},
		"page -1":                      {good, len(good), -1, 200, 100},
		"page 2 of a document of 1":    {good, len(good), 2, 200, 100},
		"page 2^32+1":                  {good, len(good), 1<<32 + 1, 200, 100},
		"no width":                     {good, len(good), 1, 0, 100},
		"negative size":                {good, len(good), 1, -200, -100},
		"too many pixels":              {good, len(good), 1, 4096, 2048},
		"number of pixels overflows":   {good, len(good), 1, 1 << 40, 1 << 40},
		"other aspect ratio":           {good, len(good), 1, 200, 104},
		"rotated":                      {good, len(good), 1, 100, 200},
		"crop box outside of the page": {beside, len(beside), 1, 200, 100},
	} {
		t.Run(name, func(t *testing.T) {
			document, err := draw(test.document, int64(test.size), test.page, test.width, test.height)
			if err == nil || !collected(document) {
				t.Errorf("got error %v, document collected %v, want an error and true", err, collected(document))
			}
			if inked(drawn(t, r, good, 200, 100)).Empty() {
				t.Error("the next page is empty")
			}
		})
	}
	for _, size := range [][2]int{{200, 100}, {200, 101}, {9, 4}} { // rounded aspect ratios
		if document, err := draw(good, int64(len(good)), 1, size[0], size[1]); err != nil || !collected(document) {
			t.Errorf("%v: got error %v, document collected %v, want no error and true", size, err, collected(document))
		}
	}
}

// BenchmarkPage draws a page of text. It reports the median time, also as a multiple of the time for an
// empty page.
func BenchmarkPage(b *testing.B) {
	r := shared(b)
	document, empty := textPage(), source{page: "/MediaBox [0 0 595 842]"}.bytes()
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

// BenchmarkFirst draws the first page of a new renderer with a warm cache.
func BenchmarkFirst(b *testing.B) {
	shared(b)
	document := textPage()
	for b.Loop() {
		r := pdfium.New(pdfium.Options{Cache: testenv.RendererCache()})
		drawn(b, r, document, 595, 842)
		b.StopTimer()
		r.Close()
		b.StartTimer()
	}
}
