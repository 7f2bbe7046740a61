package pdfium_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"os"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
)

// A page is drawn as it is displayed: the crop box, turned clockwise. UserUnit is a scale,
// which the picture has from who asks for it.
func TestTurnedAndCropped(t *testing.T) {
	r := shared(t)
	for _, test := range []struct {
		rotate        int
		width, height int
		want          image.Rectangle // in points
	}{
		{0, 200, 150, image.Rect(10, 10, 40, 30)},
		{90, 150, 200, image.Rect(120, 10, 140, 40)},
		{180, 200, 150, image.Rect(160, 120, 190, 140)},
		{270, 150, 200, image.Rect(10, 160, 30, 190)},
		{-90, 150, 200, image.Rect(10, 160, 30, 190)},
		{450, 150, 200, image.Rect(120, 10, 140, 40)},
	} {
		for unit := 1; unit <= 2; unit++ {
			t.Run(fmt.Sprintf("%d, UserUnit %d", test.rotate, unit), func(t *testing.T) {
				document := source{
					page:    fmt.Sprintf("/MediaBox [-10 0 250 190] /CropBox [50 20 400 170] /Rotate %d /UserUnit %d", test.rotate, unit),
					content: "60 140 30 20 re f",
				}.bytes()
				picture := drawn(t, r, document, test.width*3, test.height*3)
				want := image.Rectangle{test.want.Min.Mul(3), test.want.Max.Mul(3)}
				if got := inked(picture); got != want {
					t.Errorf("the mark is at %v, want %v", got, want)
				}
			})
		}
	}
}

const (
	page200 = "/MediaBox [0 0 200 100] "
	// box is an appearance that fills its box of 40 x 20, in red.
	box = "/Type /XObject /Subtype /Form /BBox [0 0 40 20]"
	red = "1 0 0 rg 0 0 40 20 re f"
)

// What viewers show of annotations, forms and layers is drawn, and nothing else.
func TestWhatIsDrawn(t *testing.T) {
	r := shared(t)
	at := image.Rect(100, 30, 140, 50) // /Rect [100 50 140 70]
	none := image.Rectangle{}
	annotation := func(entries string) source {
		return source{
			page:    page200 + "/Annots [10 0 R]",
			objects: []string{"<< /Type /Annot /Rect [100 50 140 70] /AP << /N 11 0 R >> " + entries + " >>", stream(box, red)},
		}
	}
	field := func(entries string) source {
		s := annotation("/Subtype /Widget /T (a) " + entries)
		s.catalog = "/AcroForm << /Fields [10 0 R] >>"
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
	withScript := field("/FT /Tx")
	withScript.catalog += " /OpenAction << /S /JavaScript /JS (this.getField('a').display = display.hidden) >>"
	for name, test := range map[string]struct {
		source
		want image.Rectangle
	}{
		"nothing":             {source{page: page200}, none},
		"annotation":          {annotation("/Subtype /Stamp /F 4"), at},
		"hidden annotation":   {annotation("/Subtype /Stamp /F 2"), none},
		"text field":          {field("/FT /Tx /F 4"), at},
		"signature field":     {field("/FT /Sig /F 132"), at},
		"hidden field":        {field("/FT /Tx /F 2"), none},
		"script that hides":   {withScript, at},
		"layer that is shown": {layer("ON"), at},
		"layer that is not":   {layer("OFF"), none},
		"transparent group": {source{
			page:    page200 + "/Group << /S /Transparency /CS /DeviceRGB >> /Resources << /ExtGState << /G << /BM /Multiply /ca 0.5 >> >> >>",
			content: "/G gs 100 50 40 20 re f",
		}, at},
	} {
		t.Run(name, func(t *testing.T) {
			if got := inked(drawn(t, r, test.bytes(), 200, 100)); got != test.want {
				t.Errorf("what is drawn is at %v, want %v", got, test.want)
			}
		})
	}
}

func TestColours(t *testing.T) {
	document := source{page: page200, content: "1 0.5 0 rg 0 0 100 100 re f"}.bytes()
	picture := drawn(t, shared(t), document, 200, 100)
	if got, want := picture.RGBAAt(50, 50), (color.RGBA{255, 128, 0, 255}); got != want {
		t.Errorf("orange is drawn as %v, want %v", got, want)
	}
}

// A field's value is drawn though the file has no appearance for it.
func TestValueWithoutAppearance(t *testing.T) {
	document := source{
		catalog: "/AcroForm << /Fields [10 0 R] /NeedAppearances true /DA (/Helv 12 Tf 0 g) /DR << /Font << /Helv 11 0 R >> >> >>",
		page:    page200 + "/Annots [10 0 R]",
		objects: []string{
			"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (Innsigli) /F 4 /Rect [100 50 180 70] /DA (/Helv 12 Tf 0 g) >>",
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		},
	}.bytes()
	got := inked(drawn(t, shared(t), document, 200, 100))
	if got.Empty() || !got.In(image.Rect(100, 30, 180, 50)) {
		t.Errorf("the value is drawn at %v", got)
	}
}

// Files that are encrypted, and open without a password, are drawn.
func TestEncrypted(t *testing.T) {
	r := shared(t)
	n := 0
	for _, f := range testenv.Expected(t, "pdf") {
		content, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := stamp.ReadPage(bytes.NewReader(content), int64(len(content)), 1)
		if f.Says["encrypted"] != "yes" || f.Says["mutool_info"] != "0" || err != nil {
			continue // needs a password, or is damaged
		}
		if _, err := rendered(t.Context(), r, content, int(page.Width), int(page.Height)); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		n++
	}
	if n == 0 {
		t.Error("there is none")
	}
	t.Logf("figure: %d encrypted files drawn", n)
}
