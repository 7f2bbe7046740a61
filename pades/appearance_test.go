package pades

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// ISO 32000-2 12.5.5: on a page that is displayed turned, the appearance is upright, in
// its field, in its proportions, in the middle. It is 200 by 100 points as displayed,
// with red, green, blue and yellow quarters from left to right and top to bottom.
func TestAppearanceIsUpright(t *testing.T) {
	pages := []struct {
		rotate int
		want   image.Rectangle // where the appearance is displayed
	}{ // the field is from (100, 500) to (300, 600) on an A4 page
		{0, image.Rect(100, 242, 300, 342)},
		{90, image.Rect(500, 175, 600, 225)},
		{180, image.Rect(295, 500, 495, 600)},
		{270, image.Rect(242, 370, 342, 420)},
	}
	for name, appearance := range quarters() {
		for _, page := range pages {
			t.Run(fmt.Sprintf("%s/page turned by %d", name, page.rotate), func(t *testing.T) {
				file := withAppearance(t, fmt.Sprint("/Rotate ", page.rotate), page.rotate, [4]int{100, 500, 300, 600}, appearance)
				for _, program := range []string{"mutool", "pdftoppm"} {
					checkQuarters(t, program, rendered(t, program, file), page.want)
				}
			})
		}
	}
}

// withAppearance makes a page with a widget that has the appearance.
func withAppearance(t *testing.T, entries string, rotate int, rect [4]int, appearance []byte) []byte {
	t.Helper()
	content := pdftest.Build(pdftest.Options{
		Page:    entries + " /Annots [100 0 R]",
		Objects: []string{fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /Sig /T (A) /V << /Type /Sig >> /F 4 /Rect %d >>", rect)},
	})
	file, err := pdf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	update := file.NewUpdate()
	form, err := addAppearance(update, rotate, float64(rect[2]-rect[0]), float64(rect[3]-rect[1]), appearance)
	if err != nil {
		t.Fatal(err)
	}
	err = patchObject(update, pdf.Ref{Num: 100}, func(source []byte) ([]byte, error) {
		return pdf.SetKey(source, "AP", fmt.Appendf(nil, "<< /N %s >>", form))
	})
	if err != nil {
		t.Fatal(err)
	}
	appended, _, err := update.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return append(content, appended...)
}

// Fonts, images, patterns, shadings, groups and masks of a page come along with all that
// they refer to: in a field of the page's size they look as they do on the page.
func TestAppearanceLooksLikeItsPage(t *testing.T) {
	folder := testenv.Corpus(t, "pdf")
	for _, name := range []string{
		"ArabicCIDTrueType", "ContentStreamNoCycleType3insideType3", "ShowText-ShadingPattern", "TrueType_without_cmap",
		"bug_jpx", "cmykjpeg", "function_based_shading", "jpx_smaskindata", "knockout_blend_multiply",
		"large_jpeg_downscale", "simpletype3font", "smask_alpha_bc", "tiling_patterns_variations",
	} {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(folder, name+".pdf"))
			if err != nil {
				t.Fatal(err)
			}
			want := rendered(t, "mutool", content)
			w, h := want.Bounds().Dx(), want.Bounds().Dy()
			entries := fmt.Sprintf("/MediaBox [0 0 %d %d] /Contents null", w, h)
			got := rendered(t, "mutool", withAppearance(t, entries, 0, [4]int{0, 0, w, h}, content))
			if n := differing(want, got); n > 0 {
				t.Errorf("%d of %d pixels differ", n, w*h)
			}
		})
	}
}

func TestAppearanceRefused(t *testing.T) {
	page := func(entries string, objects ...string) []byte {
		return pdftest.Build(pdftest.Options{Page: entries, Objects: objects})
	}
	long := streamObject(strings.Repeat("0 0 m ", 2<<20))
	for name, appearance := range map[string][]byte{
		"empty":               {},
		"no PDF":              []byte("GIF89a"),
		"two pages":           pdftest.Build(pdftest.Options{Pages: 2}),
		"page without size":   page("/MediaBox [0 0 0.001 500]"),
		"page of no measure":  page("/MediaBox [0 0 1" + strings.Repeat("0", 300) + " 500]"),
		"page far away":       page("/MediaBox [40000 0 40100 100]"),
		"content of 12 MB":    page("/Contents 100 0 R", long),
		"content no stream":   page("/Contents [/Name]"),
		"resources of 12 MB":  page("/Resources << /XObject << /A 100 0 R >> >>", long),
		"resources no object": page("/Resources << /XObject << /A 100 0 R >> >>", "<< /Length 7 >>\nstream\nno end"),
		"optional content that is off": pdftest.Build(pdftest.Options{
			Catalog: "/OCProperties << /OCGs [100 0 R] /D << /OFF [100 0 R] >> >>",
			Objects: []string{"<< /Type /OCG /Name (Layer) >>"},
		}),
		"encrypted": encrypted(t, page("/MediaBox [0 0 100 100]")),
		"image in another file": page("/Resources << /XObject << /A 100 0 R >> >>",
			"<< /F (/etc/passwd) /Length 1 >>\nstream\n0\nendstream"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := addAppearance(emptyUpdate(t), 0, 200, 100, appearance)
			if !errors.Is(err, ErrAppearance) || errors.Is(readError(err), ades.ErrUnreadable) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A field that the document makes too large is a fault of the document.
func TestAppearanceInAFieldOfNoMeasure(t *testing.T) {
	for _, side := range []float64{-1, 40000, math.Inf(1), math.NaN()} {
		_, err := addAppearance(emptyUpdate(t), 0, 200, side, nil)
		if errors.Is(err, ErrAppearance) || !errors.Is(readError(err), ades.ErrUnreadable) {
			t.Errorf("%g: %v", side, err)
		}
	}
}

func emptyUpdate(t *testing.T) *pdf.Update {
	t.Helper()
	content := pdftest.Build(pdftest.Options{})
	file, err := pdf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return file.NewUpdate()
}

// encrypted encrypts a file for everybody to read.
func encrypted(t *testing.T, content []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plain.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(testenv.Program(t, "qpdf"), "--encrypt", "", "owner", "256", "--", path, "-").Output()
	if err != nil {
		t.Fatalf("qpdf: %v", err)
	}
	return out
}
