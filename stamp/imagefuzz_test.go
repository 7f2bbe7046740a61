package stamp

import (
	"bytes"
	"errors"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
)

// FuzzImage draws arbitrary bytes: they are refused, or a PDF of one page of the size comes out.
func FuzzImage(f *testing.F) {
	for _, k := range kinds(f) {
		f.Add(k.encoded, k.of == JPEG, uint8(len(k.encoded)), 0)
	}
	exif := withExif(jpegOf(f, quarters(48, 32, colours)), tiffOrientation("II", 6))
	f.Add(exif, true, uint8(1), 1000)
	f.Fuzz(func(t *testing.T, encoded []byte, isJPEG bool, choice uint8, zoom int) {
		of := PNG
		if isJPEG {
			of = JPEG
		}
		i, err := ReadImage(encoded, of)
		if err != nil {
			if !errors.Is(err, ErrImage) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		d := Drawing{Scaling: []Scaling{Stretch, ZoomAndCenter, Center}[choice%3], Zoom: zoom, Opaque: choice&128 != 0}
		drawn, err := i.Draw(Size{117, 55.5}, d)
		if err != nil {
			if zoom >= 0 && zoom <= 1000 && !errors.Is(err, ErrImage) {
				t.Fatal(err)
			}
			return
		}
		file, err := pdf.Open(bytes.NewReader(drawn), int64(len(drawn)))
		if err != nil {
			t.Fatal(err)
		}
		page, err := file.Page(1)
		if err != nil || page.MediaBox != (pdf.Rect{URX: 117, URY: 55.5}) || len(drawn) > maxDrawn {
			t.Fatalf("%v, %d bytes, %v", page, len(drawn), err)
		}
	})
}
