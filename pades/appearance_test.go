package pades_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// signedWith returns the document signed with the options, without the checks of sign.
func signedWith(t *testing.T, b []byte, p person, o pades.Options) []byte {
	t.Helper()
	r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, o, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	return append(b, r.Bytes...)
}

// inField signs a field on a page with these entries, with the appearance.
func inField(t *testing.T, p person, entries string, rect [4]int, appearance []byte) []byte {
	t.Helper()
	b := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>", Page: entries + " /Annots [100 0 R]",
		Objects: []string{fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /Sig /T (A) /F 4 /Rect %d /P 10 0 R >>", rect)},
	})
	return signedWith(t, b, p, pades.Options{Field: "A", Appearance: appearance})
}

// TestAppearanceIsUpright draws an appearance in a field on a page that is displayed rotated. It is upright, in its
// proportions, and in the middle of the field, from (100, 500) to (300, 600) on an A4 page (ISO 32000-2 12.5.5).
func TestAppearanceIsUpright(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for name, appearance := range quarters() {
		for rotate, want := range map[int]image.Rectangle{
			0:   image.Rect(100, 242, 300, 342),
			90:  image.Rect(500, 175, 600, 225),
			180: image.Rect(295, 500, 495, 600),
			270: image.Rect(242, 370, 342, 420),
		} {
			t.Run(fmt.Sprintf("%s/page rotated by %d", name, rotate), func(t *testing.T) {
				file := inField(t, p, fmt.Sprint("/Rotate ", rotate), [4]int{100, 500, 300, 600}, appearance)
				for _, program := range []string{"mutool", "pdftoppm"} {
					checkQuarters(t, program, rendered(t, program, file, 1), want)
				}
			})
		}
	}
}

// TestVisibleIsUpright draws visible signatures on pages that are rotated, cropped and scaled (ISO 32000-2 8.3.2.3,
// 12.5.5 and 14.11.2). 400 by 300 units of the page are displayed, and the signature takes 100 by 50 of them, 40 from
// the left and 30 from the top.
func TestVisibleIsUpright(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	appearances := quarters()
	pageBoxes := []struct {
		entries string
		x, y    float64 // lower left corner of what is displayed
	}{
		{"/MediaBox [0 0 400 300]", 0, 0},
		{"/MediaBox [-150 -80 250 220]", -150, -80},
		{"/MediaBox [0 0 900 900] /CropBox [120 70 520 370]", 120, 70},
		{"/MediaBox [900 900 0 0] /CropBox [520 370 120 70]", 120, 70},
		{"/MediaBox [20 30 420 330] /CropBox [-900 -900 900 900]", 20, 30},
	}
	for rotate, rect := range map[int]pades.Rect{ // from the lower left corner of the page that is not rotated
		0:    {LLX: 40, LLY: 220, URX: 140, URY: 270},
		90:   {LLX: 30, LLY: 40, URX: 80, URY: 140},
		180:  {LLX: 260, LLY: 30, URX: 360, URY: 80},
		270:  {LLX: 320, LLY: 160, URX: 370, URY: 260},
		-90:  {LLX: 320, LLY: 160, URX: 370, URY: 260},
		-630: {LLX: 30, LLY: 40, URX: 80, URY: 140},
	} {
		for _, boxes := range pageBoxes {
			for _, unit := range []int{1, 2} {
				entries := fmt.Sprintf("%s /Rotate %d /UserUnit %d", boxes.entries, rotate, unit)
				at := pades.Rect{LLX: rect.LLX + boxes.x, LLY: rect.LLY + boxes.y, URX: rect.URX + boxes.x, URY: rect.URY + boxes.y}
				t.Run(entries, func(t *testing.T) {
					for _, name := range []string{"plain", "crop box and rotated"} {
						b := pdftest.Build(pdftest.Options{Page: entries + " /Contents null"})
						b = signedWith(t, b, p, pades.Options{Visible: &pades.Visible{Page: 1, Rect: at, Appearance: appearances[name]}})
						checkDisplayed(t, b, rotate%180 != 0, unit)
					}
				})
			}
		}
	}
}

// checkDisplayed looks at the picture that each program makes of a page. Poppler draws a unit of user space as a point
// and ignores UserUnit.
func checkDisplayed(t *testing.T, file []byte, turned bool, unit int) {
	t.Helper()
	width := 400
	if turned {
		width = 300
	}
	for program, scale := range map[string]int{"mutool": unit, "pdftoppm": 1} {
		picture := rendered(t, program, file, 1)
		if got := picture.Dx(); got != scale*width {
			t.Fatalf("%s: picture is %d wide, want %d", program, got, scale*width)
		}
		checkQuarters(t, program, picture, image.Rect(40*scale, 30*scale, 140*scale, 80*scale))
	}
}

// TestVisibleOnItsPage signs on a page that is not rotated, after a first page that is.
func TestVisibleOnItsPage(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	b := pdftest.Build(pdftest.Options{Kind: pdftest.Stream, Pages: 3, Page: "/Rotate 90"})
	rect := pades.Rect{LLX: 100, LLY: 500, URX: 300, URY: 600}
	b = signedWith(t, b, p, pades.Options{Visible: &pades.Visible{Page: 3, Rect: rect, Appearance: quarters()["plain"]}})
	for page, want := range map[int]int{1: 0, 2: 0, 3: 1} {
		if _, found := pageAnnotations(t, open(t, b), page); len(found) != want {
			t.Errorf("page %d has the annotations %v", page, found)
		}
	}
	checkQuarters(t, "mutool", rendered(t, "mutool", b, 3), image.Rect(100, 242, 300, 342))
}

// TestAppearanceLooksLikeItsPage draws pages with fonts, images, patterns, shadings, groups and masks in fields of
// their size. The field looks as the page does.
func TestAppearanceLooksLikeItsPage(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	folder := testenv.Corpus(t, "pdf")
	for _, name := range []string{
		"ArabicCIDTrueType", "ContentStreamNoCycleType3insideType3", "ShowText-ShadingPattern", "TrueType_without_cmap",
		"bug_jpx", "cmykjpeg", "function_based_shading", "jpx_smaskindata", "knockout_blend_multiply",
		"large_jpeg_downscale", "simpletype3font", "smask_alpha_bc", "tiling_patterns_variations",
	} {
		t.Run(name, func(t *testing.T) {
			content := testenv.ReadFile(t, filepath.Join(folder, name+".pdf"))
			want := rendered(t, "mutool", content, 1)
			w, h := want.Dx(), want.Dy()
			entries := fmt.Sprintf("/MediaBox [0 0 %d %d] /Contents null", w, h)
			got := rendered(t, "mutool", inField(t, p, entries, [4]int{0, 0, w, h}, content), 1)
			if got.Rectangle != want.Rectangle || !bytes.Equal(got.pixels, want.pixels) {
				t.Errorf("the pictures of %v and %v differ", got.Rectangle, want.Rectangle)
			}
		})
	}
}

// TestAppearanceRefused draws files that are not a PDF of one page that can be drawn anywhere.
func TestAppearanceRefused(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	refuse := func(name string, appearance []byte) {
		t.Run(name, func(t *testing.T) {
			v := at(1, 100, 100)
			v.Appearance = appearance
			checkPrepare(t, contract(), p.signer, pades.Options{Visible: v}, pades.ErrAppearance, pades.ErrAppearance.Error())
		})
	}
	long := streamObject(strings.Repeat("0 0 m ", 2<<20))
	for name, options := range map[string]pdftest.Options{
		"two pages":               {Pages: 2},
		"page without width":      {Page: "/MediaBox [0 0 0.001 500]"},
		"page too wide":           {Page: "/MediaBox [0 0 1" + strings.Repeat("0", 300) + " 500]"},
		"page far away":           {Page: "/MediaBox [40000 0 40100 100]"},
		"content of 12 MB":        {Page: "/Contents 100 0 R", Objects: []string{long}},
		"content is not a stream": {Page: "/Contents [/Name]"},
		"resources of 12 MB":      {Page: "/Resources << /XObject << /A 100 0 R >> >>", Objects: []string{long}},
		"resource without an end": {Page: "/Resources << /XObject << /A 100 0 R >> >>", Objects: []string{"<< /Length 7 >>\nstream\nno end"}},
		"image in another file":   {Page: "/Resources << /XObject << /A 100 0 R >> >>", Objects: []string{"<< /F (/etc/passwd) /Length 1 >>\nstream\n0\nendstream"}},
		"optional content that is off": {
			Catalog: "/OCProperties << /OCGs [100 0 R] /D << /OFF [100 0 R] >> >>",
			Objects: []string{"<< /Type /OCG /Name (Layer) >>"},
		},
	} {
		refuse(name, pdftest.Build(options))
	}
	refuse("zero bytes", []byte{})
	refuse("not a PDF", []byte("GIF89a"))
	refuse("encrypted", encrypt(t, pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 100 100]"}), "", "256"))
}

// TestFieldThatIsTooLarge signs a field with a rectangle that is too large. This is a fault of the document, not of the
// appearance.
func TestFieldThatIsTooLarge(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for _, height := range []string{"40000", "1" + strings.Repeat("0", 300)} {
		b := pdftest.Build(pdftest.Options{
			Catalog: "/AcroForm << /Fields [100 0 R] >>", Page: "/Annots [100 0 R]",
			Objects: []string{"<< /Type /Annot /Subtype /Widget /FT /Sig /T (A) /F 4 /Rect [0 0 200 " + height + "] /P 10 0 R >>"},
		})
		for _, appearance := range [][]byte{nil, contract()} {
			_, err := prepare(t, b, p.signer, pades.Options{Field: "A", Appearance: appearance})
			if errors.Is(err, pades.ErrAppearance) || !errors.Is(err, ades.ErrUnreadable) {
				t.Errorf("height %.10s: got %v, want %v", height, err, ades.ErrUnreadable)
			}
		}
	}
}

var (
	red    = color.RGBA{255, 0, 0, 255}
	green  = color.RGBA{0, 255, 0, 255}
	blue   = color.RGBA{0, 0, 255, 255}
	yellow = color.RGBA{255, 255, 0, 255}
	white  = color.RGBA{255, 255, 255, 255}
)

// quarters returns pages that all are displayed in the same way: 200 by 100 points, with a red, a green, a blue and a
// yellow quarter from left to right and from top to bottom.
func quarters() map[string][]byte {
	// The colours of the quarters in user space: lower left, lower right, upper left, upper right.
	colours := map[int][4]string{
		0:   {"0 0 1", "1 1 0", "1 0 0", "0 1 0"},
		90:  {"1 0 0", "0 0 1", "0 1 0", "1 1 0"},
		180: {"0 1 0", "1 0 0", "1 1 0", "0 0 1"},
		270: {"1 1 0", "0 1 0", "0 0 1", "1 0 0"},
	}
	return map[string][]byte{
		"plain":                quartersPage("/MediaBox [0 0 200 100]", 0, 0, 100, 50, colours[0]),
		"half as large":        quartersPage("/MediaBox [0 0 100 50]", 0, 0, 50, 25, colours[0]),
		"crop box":             quartersPage("/MediaBox [-900 -900 900 900] /CropBox [120 -70 320 -170]", 120, -170, 100, 50, colours[0]),
		"crop box too large":   quartersPage("/MediaBox [0 0 200 100] /CropBox [-50 -50 900 900]", 0, 0, 100, 50, colours[0]),
		"crop box and rotated": quartersPage("/MediaBox [0 0 900 900] /CropBox [30 40 130 240] /Rotate -90", 30, 40, 50, 100, colours[270]),
		"rotated by 90":        quartersPage("/MediaBox [0 0 100 200] /Rotate 90", 0, 0, 50, 100, colours[90]),
		"rotated by 180":       quartersPage("/MediaBox [0 0 200 100] /Rotate 180", 0, 0, 100, 50, colours[180]),
		"rotated by 270":       quartersPage("/MediaBox [0 0 100 200] /Rotate 270", 0, 0, 50, 100, colours[270]),
	}
}

// quartersPage draws four rectangles of w by h from (x, y) on. Magenta is around them, where it is not displayed. The
// page has two content streams, and the colour space is in its resources.
func quartersPage(entries string, x, y, w, h int, colours [4]string) []byte {
	var quarters strings.Builder
	for i, c := range colours {
		fmt.Fprintf(&quarters, "%s sc %d %d %d %d re f ", c, x+i%2*w, y+i/2*h, w, h)
	}
	return pdftest.Build(pdftest.Options{
		Page: entries + " /Contents [100 0 R 99 0 R 101 0 R] /Resources << /ColorSpace 102 0 R >>",
		Objects: []string{
			streamObject("/Space cs 1 0 1 sc -9000 -9000 18000 18000 re f"), streamObject(quarters.String()),
			"<< /Space 103 0 R /Unused << /Back [1 0 R 2 0 R 10 0 R] >> >>", "/DeviceRGB",
		},
	})
}

func streamObject(content string) string {
	return fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
}

// checkQuarters looks at the middle and the outer corner of each quarter, and around the rectangle.
func checkQuarters(t *testing.T, program string, picture *pixmap, r image.Rectangle) {
	t.Helper()
	w, h := r.Dx(), r.Dy()
	for at, want := range map[image.Point]color.RGBA{
		{w / 4, h / 4}: red, {3 * w / 4, h / 4}: green, {w / 4, 3 * h / 4}: blue, {3 * w / 4, 3 * h / 4}: yellow,
		{2, 2}: red, {w - 3, 2}: green, {2, h - 3}: blue, {w - 3, h - 3}: yellow,
		{-3, h / 2}: white, {w + 2, h / 2}: white, {w / 2, -3}: white, {w / 2, h + 2}: white,
	} {
		if at = at.Add(r.Min); picture.at(at) != want {
			t.Errorf("%s: got %v at %v, want %v", program, picture.at(at), at, want)
		}
	}
}

// pixmap is a picture with three bytes to a pixel.
type pixmap struct {
	image.Rectangle
	pixels []byte
}

func (p *pixmap) at(point image.Point) color.RGBA {
	if !point.In(p.Rectangle) {
		return color.RGBA{}
	}
	rgb := p.pixels[3*(point.Y*p.Dx()+point.X):]
	return color.RGBA{rgb[0], rgb[1], rgb[2], 255}
}

// rendered draws a page with mutool or pdftoppm in 72 dots per inch, and reads the picture in the format P6.
func rendered(t *testing.T, program string, content []byte, page int) *pixmap {
	t.Helper()
	path := tempFile(t, "page.pdf", content)
	args := map[string][]string{
		"mutool":   {"draw", "-q", "-r", "72", "-c", "rgb", "-F", "ppm", "-o", "-", path, fmt.Sprint(page)},
		"pdftoppm": {"-cropbox", "-r", "72", "-f", fmt.Sprint(page), "-l", fmt.Sprint(page), path},
	}
	// Most pictures fit: with the race detector, a buffer that grows takes longer than drawing.
	out := bytes.NewBuffer(make([]byte, 0, 2<<20))
	command := exec.CommandContext(t.Context(), testenv.Program(t, program), args[program]...)
	command.Stdout = out
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	var width, height, most int
	r := bytes.NewReader(out.Bytes())
	if _, err := fmt.Fscanf(r, "P6\n%d %d\n%d\n", &width, &height, &most); err != nil || most != 255 || r.Len() != 3*width*height {
		t.Fatalf("no picture of %d by %d with %d bytes: %v", width, height, r.Len(), err)
	}
	return &pixmap{image.Rect(0, 0, width, height), out.Bytes()[out.Len()-r.Len():]}
}
