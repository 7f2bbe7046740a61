package stamp_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

// approximately compares points: calculating is not exact.
var approximately = cmpopts.EquateApprox(0, 1e-6)

func readPage(t testing.TB, document []byte) *stamp.Page {
	t.Helper()
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// onPage makes a document of one page with some entries.
func onPage(entries string) []byte { return pdftest.Build(pdftest.Options{Page: entries}) }

// below makes a document of one page that inherits all it has.
func below(entries string) []byte {
	return pdftest.Build(pdftest.Options{
		Catalog: "/Pages 100 0 R",
		Objects: []string{"<< /Type /Pages /Kids [10 0 R] /Count 1 " + entries + " >>"},
	})
}

// A page is what is displayed: the crop box within the media box, turned, in points
// (ISO 32000-2 14.11.2, tables 31 and 32).
func TestDisplayedPage(t *testing.T) {
	const media = "/MediaBox [0 0 600 800] "
	for name, test := range map[string]struct {
		document []byte
		size     stamp.Size
		rect     [4]float64 // of a place of 30 by 40 at 10, 20
	}{
		"plain":               {onPage(media), stamp.Size{Width: 600, Height: 800}, [4]float64{10, 740, 40, 780}},
		"turned by 90":        {onPage(media + "/Rotate 90"), stamp.Size{Width: 800, Height: 600}, [4]float64{20, 10, 60, 40}},
		"turned by 180":       {onPage(media + "/Rotate 180"), stamp.Size{Width: 600, Height: 800}, [4]float64{560, 20, 590, 60}},
		"turned by 270":       {onPage(media + "/Rotate 270"), stamp.Size{Width: 800, Height: 600}, [4]float64{540, 760, 580, 790}},
		"turned by -90":       {onPage(media + "/Rotate -90"), stamp.Size{Width: 800, Height: 600}, [4]float64{540, 760, 580, 790}},
		"turned by 450":       {onPage(media + "/Rotate 450"), stamp.Size{Width: 800, Height: 600}, [4]float64{20, 10, 60, 40}},
		"turned by 45":        {onPage(media + "/Rotate 45"), stamp.Size{Width: 600, Height: 800}, [4]float64{10, 740, 40, 780}},
		"inherited":           {below(media + "/Rotate 90"), stamp.Size{Width: 800, Height: 600}, [4]float64{20, 10, 60, 40}},
		"no media box":        {below(""), stamp.Size{Width: 612, Height: 792}, [4]float64{10, 732, 40, 772}},
		"crop box":            {onPage(media + "/CropBox [100 50 400 650]"), stamp.Size{Width: 300, Height: 600}, [4]float64{110, 590, 140, 630}},
		"crop box, turned":    {onPage(media + "/CropBox [100 50 400 650] /Rotate 90"), stamp.Size{Width: 600, Height: 300}, [4]float64{120, 60, 160, 90}},
		"crop box too large":  {onPage(media + "/CropBox [-10 400 900 900]"), stamp.Size{Width: 600, Height: 400}, [4]float64{10, 740, 40, 780}},
		"crop box elsewhere":  {onPage(media + "/CropBox [700 0 900 900]"), stamp.Size{Width: 600, Height: 800}, [4]float64{10, 740, 40, 780}},
		"inverted boxes":      {onPage("/MediaBox [600 800 0 0] /CropBox [400 50 100 650]"), stamp.Size{Width: 300, Height: 600}, [4]float64{110, 590, 140, 630}},
		"below the origin":    {onPage("/MediaBox [-300 -400 300 400]"), stamp.Size{Width: 600, Height: 800}, [4]float64{-290, 340, -260, 380}},
		"units":               {onPage("/MediaBox [0 0 240 320] /UserUnit 2.5"), stamp.Size{Width: 600, Height: 800}, [4]float64{4, 296, 16, 312}},
		"units, turned by 90": {onPage("/MediaBox [0 0 240 320] /UserUnit 2.5 /Rotate 90"), stamp.Size{Width: 800, Height: 600}, [4]float64{8, 4, 24, 16}},
		"a unit of nothing":   {onPage(media + "/UserUnit 0"), stamp.Size{Width: 600, Height: 800}, [4]float64{10, 740, 40, 780}},
	} {
		page := readPage(t, test.document)
		if diff := cmp.Diff(test.size, page.Size, approximately); diff != "" {
			t.Errorf("%s: size: %s", name, diff)
		}
		var rect [4]float64
		rect[0], rect[1], rect[2], rect[3] = page.UserSpace(stamp.Rect{Left: 10, Top: 20, Width: 30, Height: 40})
		if diff := cmp.Diff(test.rect, rect, approximately); diff != "" {
			t.Errorf("%s: user space: %s", name, diff)
		}
	}
}

func TestReadPageRefuses(t *testing.T) {
	manyAnnotations := onPage("/Annots [" + strings.Repeat("null ", 1<<16+1) + "]")
	for name, test := range map[string]struct {
		document []byte
		number   int
		want     error
	}{
		"nothing":                {nil, 1, stamp.ErrUnreadable},
		"no PDF":                 {[]byte("a letter"), 1, stamp.ErrUnreadable},
		"half a PDF":             {onPage("")[:100], 1, stamp.ErrUnreadable},
		"password":               {pdftest.Build(pdftest.Options{Trailer: "/Encrypt << /Filter /Adobe.PubSec >>"}), 1, stamp.ErrUnreadable},
		"no pages":               {pdftest.Build(pdftest.Options{Catalog: "/Pages 100 0 R", Objects: []string{"<< /Kids [] >>"}}), 1, stamp.ErrUnreadable},
		"too large":              {onPage("/MediaBox [0 0 600 1000001]"), 1, stamp.ErrUnreadable},
		"too large by its units": {onPage("/UserUnit 20000"), 1, stamp.ErrUnreadable},
		"far away":               {onPage("/MediaBox [0 9000000 600 9000800]"), 1, stamp.ErrUnreadable},
		"no number":              {onPage("/MediaBox [0 0 /Wide 800]"), 1, stamp.ErrUnreadable},
		"annotations no array":   {onPage("/Annots (none)"), 1, stamp.ErrUnreadable},
		"too many annotations":   {manyAnnotations, 1, stamp.ErrUnreadable},
		"page 0":                 {onPage(""), 0, stamp.ErrNoPage},
		"page -1":                {onPage(""), -1, stamp.ErrNoPage},
		"page 2 of 1":            {onPage(""), 2, stamp.ErrNoPage},
	} {
		page, err := stamp.ReadPage(bytes.NewReader(test.document), int64(len(test.document)), test.number)
		if page != nil || !errors.Is(err, test.want) {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
	}
}

// broken is a file that cannot be read from some offset on.
type broken struct {
	*bytes.Reader
	from int64
}

var errDisk = errors.New("disk error")

func (b broken) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > b.from {
		return 0, errDisk
	}
	return b.Reader.ReadAt(p, offset)
}

func TestReadPageReturnsErrorsOfTheReader(t *testing.T) {
	document := onPage("")
	_, err := stamp.ReadPage(broken{bytes.NewReader(document), int64(len(document)) - 1}, int64(len(document)), 1)
	if !errors.Is(err, errDisk) || errors.Is(err, stamp.ErrUnreadable) {
		t.Error(err)
	}
}

// A broken cross-reference is rebuilt, as pades does and viewers do.
func TestReadPageOfBrokenCrossReference(t *testing.T) {
	document := bytes.Replace(onPage(""), []byte("startxref\n"), []byte("startxref\n1"), 1)
	if diff := cmp.Diff(stamp.Size{Width: 595, Height: 842}, readPage(t, document).Size); diff != "" {
		t.Error(diff)
	}
}

func TestPageNumber(t *testing.T) {
	document := pdftest.Build(pdftest.Options{Pages: 3, Page: "/MediaBox [0 0 10 10]"})
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 3)
	if err != nil || page.Number != 3 || page.Width != 595 {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestArchival(t *testing.T) {
	metadata := func(xmp string) []byte {
		return pdftest.Build(pdftest.Options{
			Catalog: "/Metadata 100 0 R",
			Objects: []string{fmt.Sprintf("<< /Type /Metadata /Subtype /XML /Length %d >>\nstream\n%s\nendstream", len(xmp), xmp)},
		})
	}
	const space = ` xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:id="http://www.aiim.org/pdfa/ns/id/"`
	for name, test := range map[string]struct {
		document []byte
		want     bool
	}{
		"plain":                  {onPage(""), false},
		"1b":                     {pdftest.Archival(pdftest.Archive{Profile: "1b"}), true},
		"3b":                     {pdftest.Archival(pdftest.Archive{Profile: "3b"}), true},
		"element":                {metadata("<rdf:RDF" + space + "><id:part>2</id:part></rdf:RDF>"), true},
		"attribute":              {metadata("<rdf:RDF" + space + "><rdf:Description id:part='2'/></rdf:RDF>"), true},
		"of another name space":  {metadata("<rdf:RDF" + space + "><part>2</part></rdf:RDF>"), false},
		"space without a part":   {metadata("<rdf:RDF" + space + "/>"), false},
		"no XML":                 {metadata("<<<"), false},
		"metadata too large":     {metadata(strings.Repeat(" ", 1<<20) + "<rdf:RDF" + space + " id:part='2'/>"), false},
		"metadata no stream":     {pdftest.Build(pdftest.Options{Catalog: "/Metadata (none)"}), false},
		"intent":                 {pdftest.Build(pdftest.Options{Catalog: "/OutputIntents [<< /S /GTS_PDFX >> << /S /GTS_PDFA1 >>]"}), true},
		"intent of another kind": {pdftest.Build(pdftest.Options{Catalog: "/OutputIntents [<< /S /GTS_PDFX >>]"}), false},
		"intents no array":       {pdftest.Build(pdftest.Options{Catalog: "/OutputIntents (none)"}), false},
	} {
		if got := readPage(t, test.document).Archival; got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Whatever a file says, a page has a size that can be calculated with.
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
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		if !(page.Width > 0 && page.Width <= 1e6 && page.Height > 0 && page.Height <= 1e6) {
			t.Errorf("%+v", page.Size)
		}
		place, err := page.Place(stamp.BottomRight, 0, 0, page.Size)
		if err != nil && !errors.Is(err, stamp.ErrOverlap) {
			t.Error(err)
		}
		llx, lly, urx, ury := page.UserSpace(place)
		for _, v := range []float64{llx, lly, urx, ury} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%+v in user space: %g %g %g %g", place, llx, lly, urx, ury)
			}
		}
	})
}
