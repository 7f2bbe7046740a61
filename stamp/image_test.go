package stamp

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
)

// Every kind of image looks as it says, with what is behind it showing through, and without.
func TestKindsOfImages(t *testing.T) {
	for _, k := range kinds(t) {
		t.Run(k.name, func(t *testing.T) {
			i := imageOf(t, k.encoded, k.of)
			checkDrawn(t, i, Drawing{}, k.want)
			if !opaque(t, i) {
				t.Run("opaque", func(t *testing.T) { checkDrawn(t, i, Drawing{Opaque: true}, k.want) })
			}
		})
	}
}

func checkDrawn(t *testing.T, i *Image, d Drawing, want [4]color.NRGBA) {
	t.Helper()
	content := drawImage(t, i, Size{140, 100}, d)
	if got := bytes.Contains(content, []byte("/SMask")); got != (!opaque(t, i) && !d.Opaque) {
		t.Errorf("a soft mask: %v", got)
	}
	inViewers(t, content, 72, func(t *testing.T, page image.Image) {
		checkQuarters(t, page, image.Rect(0, 0, 140, 100), want)
	})
}

// Every pixel is in its place and has its colour, in lines that end within a byte too.
func TestPixels(t *testing.T) {
	many := noise(37, 23)
	two := image.NewPaletted(many.Rect, color.Palette{colours[0], color.NRGBA{0, 0, 255, 99}})
	for i := range two.Pix {
		two.Pix[i] = many.Pix[i] & 1
	}
	for name, want := range map[string]image.Image{"colours": many, "two colours": two} {
		for _, opaque := range []bool{false, true} {
			var encoded bytes.Buffer
			if err := png.Encode(&encoded, want); err != nil {
				t.Fatal(err)
			}
			content := drawImage(t, imageOf(t, encoded.Bytes(), PNG), Size{37, 23}, Drawing{Scaling: Center, Opaque: opaque})
			t.Run(name, func(t *testing.T) {
				inViewers(t, content, 8*72, func(t *testing.T, page image.Image) {
					for y := range 23 {
						for x := range 37 {
							for _, fault := range wrongPixel(page, image.Pt(8*x+4, 8*y+4), color.NRGBAModel.Convert(want.At(x, y)).(color.NRGBA), 2) {
								t.Error(fault)
							}
						}
					}
				})
			})
		}
	}
}

func noise(width, height int) *image.NRGBA {
	random := rand.New(rand.NewPCG(1, 2))
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range out.Pix {
		out.Pix[i] = uint8(random.Uint32())
	}
	return out
}

func imageOf(t testing.TB, encoded []byte, of ImageType) *Image {
	t.Helper()
	i, err := ReadImage(encoded, of)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func opaque(t testing.TB, i *Image) bool {
	t.Helper()
	d, err := decode(i.encoded, i.format)
	if err != nil {
		t.Fatal(err)
	}
	return d.picture.Opaque()
}

func drawImage(t testing.TB, i *Image, s Size, d Drawing) []byte {
	t.Helper()
	content, err := i.Draw(s, d)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
