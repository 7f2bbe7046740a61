package stamp_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// TestDisplayedPage checks that the size and the coordinates of a page are those of the displayed
// page: the crop box within the media box, rotated, in points (ISO 32000-2 14.11.2, tables 31 and
// 32). Displayed is the reverse of UserSpace.
func TestDisplayedPage(t *testing.T) {
	const media = "/MediaBox [0 0 600 800] "
	portrait, landscape := size(600, 800), size(800, 600)
	plain := [4]float64{10, 740, 40, 780}
	wrongStartxref := bytes.Replace(onPage(media), []byte("startxref\n"), []byte("startxref\n1"), 1)
	for name, test := range map[string]struct {
		document []byte
		size     stamp.Size
		rect     [4]float64 // in user space, of 30 by 40 points that are 10 from the left and 20 from the top
	}{
		"plain":                     {onPage(media), portrait, plain},
		"rotated by 90":             {onPage(media + "/Rotate 90"), landscape, [4]float64{20, 10, 60, 40}},
		"rotated by 180":            {onPage(media + "/Rotate 180"), portrait, [4]float64{560, 20, 590, 60}},
		"rotated by 270":            {onPage(media + "/Rotate 270"), landscape, [4]float64{540, 760, 580, 790}},
		"rotated by -90":            {onPage(media + "/Rotate -90"), landscape, [4]float64{540, 760, 580, 790}},
		"rotated by 450":            {onPage(media + "/Rotate 450"), landscape, [4]float64{20, 10, 60, 40}},
		"rotation by 45 is ignored": {onPage(media + "/Rotate 45"), portrait, plain},
		"inherited":                 {inheriting(media + "/Rotate 90"), landscape, [4]float64{20, 10, 60, 40}},
		"no media box":              {inheriting(""), size(612, 792), [4]float64{10, 732, 40, 772}},
		"crop box":                  {onPage(media + "/CropBox [100 50 400 650]"), size(300, 600), [4]float64{110, 590, 140, 630}},
		"crop box, rotated by 90":   {onPage(media + "/CropBox [100 50 400 650] /Rotate 90"), size(600, 300), [4]float64{120, 60, 160, 90}},
		"crop box too large":        {onPage(media + "/CropBox [-10 400 900 900]"), size(600, 400), plain},
		"crop box beside the page":  {onPage(media + "/CropBox [700 0 900 900]"), portrait, plain},
		"inverted boxes":            {onPage("/MediaBox [600 800 0 0] /CropBox [400 50 100 650]"), size(300, 600), [4]float64{110, 590, 140, 630}},
		"negative origin":           {onPage("/MediaBox [-300 -400 300 400]"), portrait, [4]float64{-290, 340, -260, 380}},
		"UserUnit":                  {onPage("/MediaBox [0 0 240 320] /UserUnit 2.5"), portrait, [4]float64{4, 296, 16, 312}},
		"all of these":              {onPage(media + "/CropBox [100 50 400 650] /UserUnit 2 /Rotate 270"), size(1200, 600), [4]float64{370, 630, 390, 645}},
		"UserUnit of 0 is ignored":  {onPage(media + "/UserUnit 0"), portrait, plain},
		"wrong startxref":           {wrongStartxref, portrait, plain},
	} {
		t.Run(name, func(t *testing.T) {
			page := readPage(t, test.document)
			place := rect(10, 20, 30, 40)
			llx, lly, urx, ury := page.UserSpace(place)
			got := []any{page.Size, [4]float64{llx, lly, urx, ury}, page.Displayed(llx, lly, urx, ury)}
			if diff := cmp.Diff([]any{test.size, test.rect, place}, got, approximately); diff != "" {
				t.Errorf("size, place in user space, and place on the page (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadPageErrors checks the errors for documents and pages that cannot be read. An error of the
// document's reader is returned as it is.
func TestReadPageErrors(t *testing.T) {
	for name, test := range map[string]struct {
		document []byte
		number   int
		want     error
	}{
		"empty file":                {nil, 1, stamp.ErrUnreadable},
		"not a PDF":                 {[]byte("a letter"), 1, stamp.ErrUnreadable},
		"truncated PDF":             {onPage("")[:100], 1, stamp.ErrUnreadable},
		"encrypted":                 {pdftest.Build(pdftest.Options{Trailer: "/Encrypt << /Filter /Adobe.PubSec >>"}), 1, stamp.ErrUnreadable},
		"no pages":                  {pdftest.Build(pdftest.Options{Catalog: "/Pages 100 0 R", Objects: []string{"<< /Kids [] >>"}}), 1, stamp.ErrUnreadable},
		"media box too large":       {onPage("/MediaBox [0 0 600 1000001]"), 1, stamp.ErrUnreadable},
		"UserUnit too large":        {onPage("/UserUnit 20000"), 1, stamp.ErrUnreadable},
		"too far from the origin":   {onPage("/MediaBox [0 9000000 600 9000800]"), 1, stamp.ErrUnreadable},
		"media box with a name":     {onPage("/MediaBox [0 0 /Wide 800]"), 1, stamp.ErrUnreadable},
		"Annots is not an array":    {onPage("/Annots (none)"), 1, stamp.ErrUnreadable},
		"too many annotations":      {onPage("/Annots [" + strings.Repeat("null ", 1<<16+1) + "]"), 1, stamp.ErrUnreadable},
		"page 0":                    {onPage(""), 0, stamp.ErrNoPage},
		"page -1":                   {onPage(""), -1, stamp.ErrNoPage},
		"page 2 of a document of 1": {onPage(""), 2, stamp.ErrNoPage},
	} {
		page, err := stamp.ReadPage(bytes.NewReader(test.document), int64(len(test.document)), test.number)
		if page != nil || !errors.Is(err, test.want) {
			t.Errorf("%s: got %+v, error %v, want error %v", name, page, err, test.want)
		}
	}
	reader := &failingReader{bytes.NewReader(onPage("")), errors.New("disk error")}
	if _, err := stamp.ReadPage(reader, int64(len(onPage(""))), 1); !errors.Is(err, reader.err) || errors.Is(err, stamp.ErrUnreadable) {
		t.Errorf("the reader fails: got error %v, want %v", err, reader.err)
	}
}

// failingReader is a document that cannot be read while err is set.
type failingReader struct {
	io.ReaderAt
	err error
}

func (r *failingReader) ReadAt(p []byte, offset int64) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.ReaderAt.ReadAt(p, offset)
}

// TestSizes checks that Sizes returns the sizes that ReadPage returns page by page, at most as many
// as asked for, and the zero size for a page that cannot be read.
func TestSizes(t *testing.T) {
	document := pdftest.Build(pdftest.Options{
		Pages: 5,
		Page:  "/MediaBox [0 0 600 800] /CropBox [100 50 400 650] /Rotate 90 /UserUnit 2",
	})
	damaged := bytes.Replace(document, []byte("/CropBox [100 50 400 650]"), []byte("/CropBox [(a) 50 400 650]"), 1)
	a4, rotated := size(595, 842), size(1200, 600)
	for name, test := range map[string]struct {
		document []byte
		most     int
		want     []stamp.Size
	}{
		"all":                {document, 100, []stamp.Size{rotated, a4, a4, a4, a4}},
		"at most two":        {document, 2, []stamp.Size{rotated, a4}},
		"none":               {document, 0, nil},
		"damaged first page": {damaged, 2, []stamp.Size{{}, a4}},
	} {
		got, pages, err := stamp.Sizes(bytes.NewReader(test.document), int64(len(test.document)), test.most)
		if diff := cmp.Diff(test.want, got, approximately); diff != "" || pages != 5 || err != nil {
			t.Errorf("%s: got %d pages, want 5, error %v (-want +got):\n%s", name, pages, err, diff)
		}
	}
	if got, _, err := stamp.Sizes(bytes.NewReader([]byte("hello")), 5, 10); !errors.Is(err, stamp.ErrUnreadable) || got != nil {
		t.Errorf("not a PDF: got %v, error %v, want error %v", got, err, stamp.ErrUnreadable)
	}
	for number, want := range map[int]stamp.Size{1: rotated, 3: a4} {
		page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), number)
		if err != nil || page.Number != number || page.Size != want {
			t.Errorf("page %d: got %+v, error %v, want size %v", number, page, err, want)
		}
	}
}

// TestArchival checks that a document is archival if its metadata or its output intents declare
// PDF/A (ISO 19005-1 6.7.11, 6.2.2).
func TestArchival(t *testing.T) {
	metadata := func(xmp string) []byte {
		return pdftest.Build(pdftest.Options{
			Catalog: "/Metadata 100 0 R",
			Objects: []string{fmt.Sprintf("<< /Type /Metadata /Subtype /XML /Length %d >>\nstream\n%s\nendstream", len(xmp), xmp)},
		})
	}
	catalog := func(entries string) []byte { return pdftest.Build(pdftest.Options{Catalog: entries}) }
	const space = ` xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:id="http://www.aiim.org/pdfa/ns/id/"`
	for name, test := range map[string]struct {
		document []byte
		want     bool
	}{
		"plain":                         {onPage(""), false},
		"PDF/A-1b":                      {pdftest.Archival(pdftest.Archive{Profile: "1b"}), true},
		"PDF/A-3b":                      {pdftest.Archival(pdftest.Archive{Profile: "3b"}), true},
		"part as an element":            {metadata("<rdf:RDF" + space + "><id:part>2</id:part></rdf:RDF>"), true},
		"part as an attribute":          {metadata("<rdf:RDF" + space + "><rdf:Description id:part='2'/></rdf:RDF>"), true},
		"part in no namespace":          {metadata("<rdf:RDF" + space + "><part>2</part></rdf:RDF>"), false},
		"namespace without a part":      {metadata("<rdf:RDF" + space + "/>"), false},
		"metadata is not XML":           {metadata("<<<"), false},
		"metadata is too large":         {metadata(strings.Repeat(" ", 1<<20) + "<rdf:RDF" + space + " id:part='2'/>"), false},
		"metadata is not a stream":      {catalog("/Metadata (none)"), false},
		"output intent of PDF/A":        {catalog("/OutputIntents [<< /S /GTS_PDFX >> << /S /GTS_PDFA1 >>]"), true},
		"output intent of PDF/X":        {catalog("/OutputIntents [<< /S /GTS_PDFX >>]"), false},
		"OutputIntents is not an array": {catalog("/OutputIntents (none)"), false},
	} {
		if got := readPage(t, test.document).Archival; got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// FuzzPage checks that ReadPage returns an error of its own, or a page of a usable size whose
// coordinates can be converted.
func FuzzPage(f *testing.F) {
	for _, entries := range []string{
		"/CropBox [100 50 400 650] /Rotate -90 /UserUnit 2.5",
		"/Annots [<< /Rect [10 10 90 50] /FT /Sig /V << >> >> << /Rect [1 2] /Parent 10 0 R /F 2 >> 99 0 R]",
	} {
		for _, kind := range pdftest.Kinds {
			f.Add(pdftest.Build(pdftest.Options{Kind: kind, Page: entries}))
		}
	}
	f.Add(pdftest.Archival(pdftest.Archive{Profile: "2a"}))
	f.Fuzz(func(t *testing.T, document []byte) {
		page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
		if err != nil {
			if !errors.Is(err, stamp.ErrUnreadable) && !errors.Is(err, stamp.ErrNoPage) {
				t.Fatalf("got error %v, want ErrUnreadable or ErrNoPage", err)
			}
			return
		}
		if !(page.Width > 0 && page.Width <= 1e6 && page.Height > 0 && page.Height <= 1e6) {
			t.Errorf("size %+v is not between 0 and 1e6", page.Size)
		}
		place, err := page.Place(stamp.BottomRight, 0, 0, page.Size)
		if err != nil && !errors.Is(err, stamp.ErrOverlap) {
			t.Error(err)
		}
		llx, lly, urx, ury := page.UserSpace(place)
		for _, v := range []float64{llx, lly, urx, ury} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%+v in user space is %g %g %g %g", place, llx, lly, urx, ury)
			}
		}
	})
}

// approximately compares lengths in points, which are calculated with rounding errors.
var approximately = cmpopts.EquateApprox(0, 1e-6)

func readPage(t testing.TB, document []byte) *stamp.Page {
	t.Helper()
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// onPage returns a document of one page that has the given entries.
func onPage(entries string) []byte { return pdftest.Build(pdftest.Options{Page: entries}) }

// inheriting returns a document of one page that inherits the given entries.
func inheriting(entries string) []byte {
	return pdftest.Build(pdftest.Options{
		Catalog: "/Pages 100 0 R",
		Objects: []string{"<< /Type /Pages /Kids [10 0 R] /Count 1 " + entries + " >>"},
	})
}
