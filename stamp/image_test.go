package stamp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestImageColours checks that viewers show each kind of image in its colours, and what is
// transparent on white.
func TestImageColours(t *testing.T) {
	for _, k := range imageKinds(t) {
		for _, opaque := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, opaque %v", k.name, opaque), func(t *testing.T) {
				content := drawImage(t, k.encoded, k.format, Size{140, 100}, Drawing{Opaque: opaque})
				transparent := slices.ContainsFunc(k.quarters[:], func(c color.NRGBA) bool { return c.A < 255 })
				if got, want := bytes.Contains(content, []byte("/SMask")), transparent && !opaque; got != want {
					t.Errorf("got a soft mask %v, want %v", got, want)
				}
				inViewers(t, content, 72, func(t *testing.T, page image.Image) {
					checkQuarters(t, page, page.Bounds(), k.quarters)
				})
			})
		}
	}
}

// TestPixels checks that each pixel is drawn in its place and colour, in rows that end within a byte
// too.
func TestPixels(t *testing.T) {
	many := noise(37, 23)
	two := image.NewPaletted(many.Rect, color.Palette{colours[0], color.NRGBA{0, 0, 255, 99}})
	for i := range two.Pix {
		two.Pix[i] = many.Pix[i] & 1
	}
	for name, want := range map[string]image.Image{"many colours": many, "two colours": two} {
		for _, opaque := range []bool{false, true} {
			content := drawImage(t, encode(t, PNG, want), PNG, Size{37, 23}, Drawing{Scaling: Center, Opaque: opaque})
			t.Run(name, func(t *testing.T) {
				inViewers(t, content, 8*72, func(t *testing.T, page image.Image) {
					for y := range 23 {
						for x := range 37 {
							c := color.NRGBAModel.Convert(want.At(x, y)).(color.NRGBA)
							for _, fault := range wrongPixel(page, image.Pt(8*x+4, 8*y+4), c, 2) {
								t.Error(fault)
							}
						}
					}
				})
			})
		}
	}
}

// TestOrientations checks that a JPEG is displayed in the orientation of its Exif metadata, with all
// its pixels or reduced.
func TestOrientations(t *testing.T) {
	// For each quarter that is stored, from left to right and from top to bottom, the quarter in which
	// it is displayed (Exif 2.32 4.6.4 A).
	displayedAt := [9][4]int{
		1: {0, 1, 2, 3}, 2: {1, 0, 3, 2}, 3: {3, 2, 1, 0}, 4: {2, 3, 0, 1},
		5: {0, 2, 1, 3}, 6: {1, 3, 0, 2}, 7: {3, 1, 2, 0}, 8: {2, 0, 3, 1},
	}
	for value := 1; value <= 8; value++ {
		var stored [4]color.NRGBA
		for i, at := range displayedAt[value] {
			stored[i] = colours[at]
		}
		for _, reduced := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, reduced %v", value, reduced), func(t *testing.T) {
				original, drawn := image.Pt(48, 32), image.Pt(48, 32)
				if reduced {
					original, drawn = original.Mul(20), image.Pt(400, 267) // 600 dots per inch
				}
				if value >= 5 {
					original, drawn = image.Pt(original.Y, original.X), image.Pt(drawn.Y, drawn.X)
				}
				order := []string{"II", "MM"}[value%2]
				encoded := withExif(encode(t, JPEG, quarters(original.X, original.Y, stored)), tiffOrientation(order, uint16(value)))
				content := drawImage(t, encoded, JPEG, Size{68, 32}, Drawing{Scaling: ZoomAndCenter})
				if want := fmt.Sprintf("/Width %d /Height %d ", drawn.X, drawn.Y); !bytes.Contains(content, []byte(want)) {
					t.Errorf("the image object does not have %s", want)
				}
				inViewers(t, content, 144, func(t *testing.T, page image.Image) {
					checkQuarters(t, page, image.Rect(20, 0, 116, 64), colours)
				})
			})
		}
	}
}

// TestMalformedOrientation checks that an image is upright if its metadata has no valid orientation.
func TestMalformedOrientation(t *testing.T) {
	good := tiffOrientation("MM", 6)
	if got := exifOrientation(good); got != orientations[6] {
		t.Fatalf("got %v, want %v", got, orientations[6])
	}
	malformed := map[string][]byte{
		"no metadata":                nil,
		"unknown byte order":         append([]byte("XX"), good[2:]...),
		"directory outside the file": append([]byte("MM\x00*\xff\xff\xff\xff"), good[8:]...),
		"value 0":                    tiffOrientation("MM", 0),
		"value 9":                    tiffOrientation("MM", 9),
		"value of another type":      bytes.Replace(good, []byte{0x01, 0x12, 0, 3}, []byte{0x01, 0x12, 0, 2}, 1),
	}
	for n := range len(good) - 4 { // the last entry is followed by the offset of the next directory
		malformed[fmt.Sprintf("truncated after %d bytes", n)] = good[:n]
	}
	for name, tiff := range malformed {
		if got := exifOrientation(tiff); got != upright {
			t.Errorf("%s: got %v, want %v", name, got, upright)
		}
	}
}

// TestMetadataIsLeftOut checks that a drawn JPEG has no metadata of the file, such as where, when and
// with which device a photo was taken.
func TestMetadataIsLeftOut(t *testing.T) {
	b := encode(t, JPEG, quarters(48, 32, colours))
	secrets := []string{"64.1466 N 21.9426 W", "ns.adobe.com/xap", "name of a phone", "ICC_PROFILE", "after the image"}
	b = withExif(b, append(tiffOrientation("II", 1), secrets[0]...))
	b = withSegment(b, 0xe1, "http://"+secrets[1])
	b = withSegment(b, 0xfe, secrets[2])
	b = append(withSegment(b, 0xe2, secrets[3]), secrets[4]...)
	content := drawImage(t, b, JPEG, Size{48, 32}, Drawing{})
	for _, secret := range append(secrets, "Exif") {
		if !bytes.Contains(b, []byte(secret)) || bytes.Contains(content, []byte(secret)) {
			t.Errorf("%q is in the PDF, or was not in the JPEG", secret)
		}
	}
	inViewers(t, content, 144, func(t *testing.T, page image.Image) { checkQuarters(t, page, page.Bounds(), colours) })
}

// TestReadImageErrors checks that images of another type and images that are too large or damaged are
// refused, with the reason.
func TestReadImageErrors(t *testing.T) {
	p, j := encode(t, PNG, quarters(14, 10, greys)), encode(t, JPEG, quarters(48, 32, colours))
	wide := bytes.Clone(j)
	copy(wide[bytes.Index(wide, []byte{0xff, 0xc0})+5:], []byte{0xff, 0xff, 0xff, 0xff})
	scans := bytes.Replace(j, []byte{0xff, 0xd9}, append(bytes.Repeat([]byte("\xff\xda\x00\x02"), 5000), 0xff, 0xd9), 1)
	cmyk := testenv.ReadFile(t, "testdata/cmyk.jpg")
	for name, test := range map[string]struct {
		encoded []byte
		format  ImageType
		reason  string
	}{
		"empty file":                        {nil, PNG, "not a Png"},
		"PNG as JPEG":                       {p, JPEG, "not a Jpeg"},
		"JPEG as PNG":                       {j, PNG, "not a Png"},
		"no type":                           {p, "", "must be Png or Jpeg"},
		"unknown type":                      {[]byte("GIF89a"), "Gif", "must be Png or Jpeg"},
		"too many bytes":                    {append(bytes.Clone(p), make([]byte, 2<<20)...), PNG, "bytes"},
		"PNG of 60000 by 60000":             {withSize(p, 60000, 60000), PNG, "60000 by 60000 pixels"},
		"PNG of 3001 by 3000":               {withSize(p, 3001, 3000), PNG, "more than 9000000"},
		"PNG of 20000 by 1":                 {withSize(p, 20000, 1), PNG, "in a line"},
		"PNG of 1 by 20000":                 {withSize(p, 1, 20000), PNG, "in a line"},
		"JPEG of 65535 by 65535":            {wide, JPEG, "65535 by 65535 pixels"},
		"PNG with a damaged chunk":          {bytes.Replace(p, []byte("IDAT"), []byte("IDBT"), 1), PNG, "checksum"},
		"CMYK without the Adobe marker":     {bytes.Replace(cmyk, []byte("Adobe"), []byte("adobe"), 1), JPEG, "color model"},
		"progressive JPEG with 5,000 scans": {scans, JPEG, "scans"},
	} {
		if _, err := ReadImage(test.encoded, test.format); !errors.Is(err, ErrImage) || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: got error %v, want ErrImage with %q", name, err, test.reason)
		}
	}
	for _, k := range imageKinds(t) {
		for n := range len(k.encoded) - 1 {
			if _, err := ReadImage(k.encoded[:n], k.format); !errors.Is(err, ErrImage) && n < len(k.encoded)-12 {
				t.Errorf("%s, %d of %d bytes: got error %v, want ErrImage", k.name, n, len(k.encoded), err)
			}
		}
	}
}

// TestLargeImageTakesNoMemory checks that an image whose header states too many pixels is not decoded.
func TestLargeImageTakesNoMemory(t *testing.T) {
	large := withSize(encode(t, PNG, quarters(14, 10, greys)), 60000, 60000)
	var err error
	if n := testenv.Allocated(func() { _, err = ReadImage(large, PNG) }); n > 64<<10 || !errors.Is(err, ErrImage) {
		t.Errorf("got %d bytes allocated, error %v, want at most 64 KiB and ErrImage", n, err)
	}
}

// TestWhyNotPdfcpu checks the reasons for which this package writes image objects itself. The objects
// of pdfcpu are not allowed in PDF/A (ISO 19005-1 6.2.3.3, 6.2.4) or not in PDF 1.4, and some are
// wrong in any document. The test fails if a release of pdfcpu fixes one of these faults.
func TestWhyNotPdfcpu(t *testing.T) {
	model.ConfigPath = "disable" // keeps pdfcpu from writing into the user's folder
	configuration := model.NewDefaultConfiguration()
	configuration.WriteObjectStream, configuration.WriteXRefStream = false, false
	exif := withExif(encode(t, JPEG, quarters(48, 32, colours)), tiffOrientation("II", 3))
	rotated := [4]color.NRGBA{colours[3], colours[2], colours[1], colours[0]}
	for _, k := range append(imageKinds(t), imageKind{"JPEG with Exif", exif, JPEG, rotated}) {
		t.Run(k.name, func(t *testing.T) {
			var file bytes.Buffer
			err := api.ImportImages(nil, &file, []io.Reader{bytes.NewReader(k.encoded)}, pdfcpu.DefaultImportConfig(), configuration)
			if k.name == "JPEG rgb" {
				if err == nil || !strings.Contains(err.Error(), "unexpected color model for JPEG") {
					t.Errorf("got error %v, want one about the colour model", err)
				}
				return
			} else if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, fault := range []struct{ pattern, name string }{
				{`/ColorSpace/Device|/Indexed/Device`, "device colours"}, {`/Interpolate true`, "interpolation"},
				{`/BitsPerComponent 16`, "16 bits"}, {`Exif\x00\x00`, "metadata"},
			} {
				if regexp.MustCompile(fault.pattern).Match(file.Bytes()) {
					got = append(got, fault.name)
				}
			}
			want := []string{"device colours", "interpolation"}
			switch {
			case strings.Contains(k.name, "16 bits"):
				want = append(want, "16 bits")
			case k.name == "JPEG with Exif":
				want = append(want, "metadata")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("faults of pdfcpu (-want +got):\n%s", diff)
			}
			inViewers(t, file.Bytes(), 10*72, func(t *testing.T, page image.Image) {
				var wantWrong bool
				switch k.name {
				case "JPEG with Exif": // pdfcpu ignores the orientation
					wantWrong = true
				case "JPEG cmyk", "JPEG ycck": // right in MuPDF, wrong in Poppler
					wantWrong = strings.HasSuffix(t.Name(), "/pdftoppm")
				}
				if wrong := len(wrongQuarters(page, page.Bounds(), k.quarters)) > 0; wrong != wantWrong {
					t.Errorf("got wrong colours: %t, want %t", wrong, wantWrong)
				}
			})
		})
	}
}

// FuzzImage checks that arbitrary bytes are refused with ErrImage, or give a PDF of one page of the
// right size.
func FuzzImage(f *testing.F) {
	for _, k := range imageKinds(f) {
		f.Add(k.encoded, k.format == JPEG, uint8(len(k.encoded)), 0)
	}
	f.Add(withExif(encode(f, JPEG, quarters(48, 32, colours)), tiffOrientation("II", 6)), true, uint8(1), 1000)
	f.Fuzz(func(t *testing.T, encoded []byte, isJPEG bool, choice uint8, zoom int) {
		format := PNG
		if isJPEG {
			format = JPEG
		}
		i, err := ReadImage(encoded, format)
		if err != nil {
			if !errors.Is(err, ErrImage) {
				t.Fatalf("got error %v, want ErrImage", err)
			}
			return
		}
		d := Drawing{Scaling: []Scaling{Stretch, ZoomAndCenter, Center}[choice%3], Zoom: zoom, Opaque: choice&128 != 0}
		content, err := i.Draw(Size{117, 55.5}, d)
		if err != nil {
			if zoom >= 0 && zoom <= 1000 && !errors.Is(err, ErrImage) {
				t.Fatalf("got error %v, want ErrImage", err)
			}
			return
		}
		checkPage(t, content, Size{117, 55.5})
		if len(content) > maxDrawn {
			t.Fatalf("got %d bytes, want at most %d", len(content), maxDrawn)
		}
	})
}

// Colours of the quarters of a picture, from left to right and from top to bottom.
var (
	colours = [4]color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 0, 255}}
	greys   = [4]color.NRGBA{{0, 0, 0, 255}, {85, 85, 85, 255}, {170, 170, 170, 255}, {255, 255, 255, 255}}
	fading  = [4]color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 128}, {0, 0, 255, 64}, {255, 255, 0, 0}}
)

// imageKind is a kind of image, encoded, and the colours of its quarters.
type imageKind struct {
	name     string
	encoded  []byte
	format   ImageType
	quarters [4]color.NRGBA
}

// imageKinds returns an image for each type of picture that image/png and image/jpeg decode to.
func imageKinds(t testing.TB) (kinds []imageKind) {
	t.Helper()
	area, two := image.Rect(0, 0, 14, 10), [4]color.NRGBA{colours[0], colours[1], colours[1], colours[0]}
	palette := func(quarters [4]color.NRGBA, n int) *image.Paletted {
		var p color.Palette
		for _, c := range quarters[:n] {
			p = append(p, c)
		}
		return image.NewPaletted(area, p)
	}
	for _, k := range []struct {
		name     string
		picture  draw.Image
		quarters [4]color.NRGBA
	}{
		{"grey", image.NewGray(area), greys},
		{"grey in 16 bits", image.NewGray16(area), greys},
		{"RGB", image.NewNRGBA(area), colours},
		{"RGB in 16 bits", image.NewNRGBA64(area), colours},
		{"RGB with alpha", image.NewNRGBA(area), fading},
		{"RGB with alpha in 16 bits", image.NewNRGBA64(area), fading},
		{"palette of two colours", palette(two, 2), two},
		{"palette of four colours", palette(colours, 4), colours},
		{"palette with alpha", palette(fading, 4), fading},
	} {
		paint(k.picture, k.quarters)
		kinds = append(kinds, imageKind{k.name, encode(t, PNG, k.picture), PNG, k.quarters})
	}
	for _, name := range []string{"progressive", "rgb", "cmyk", "ycck"} {
		kinds = append(kinds, imageKind{"JPEG " + name, testenv.ReadFile(t, "testdata/"+name+".jpg"), JPEG, colours})
	}
	grey := image.NewGray(image.Rect(0, 0, 48, 32))
	paint(grey, greys)
	return append(kinds, imageKind{"JPEG grey", encode(t, JPEG, grey), JPEG, greys},
		imageKind{"JPEG YCbCr", encode(t, JPEG, quarters(48, 32, colours)), JPEG, colours})
}

// quarters returns a picture of four quarters.
func quarters(width, height int, colours [4]color.NRGBA) *image.NRGBA {
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	paint(picture, colours)
	return picture
}

func paint(picture draw.Image, colours [4]color.NRGBA) {
	size := picture.Bounds().Size()
	for y := range size.Y {
		for x := range size.X {
			picture.Set(x, y, colours[x*2/size.X+y*2/size.Y*2])
		}
	}
}

func noise(width, height int) *image.NRGBA {
	random := rand.New(rand.NewPCG(1, 2))
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(random.Uint32())
	}
	return picture
}

func encode(t testing.TB, format ImageType, picture image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	if format == PNG {
		err = png.Encode(&b, picture)
	} else {
		err = jpeg.Encode(&b, picture, &jpeg.Options{Quality: 95})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tiffOrientation returns Exif metadata: a TIFF file with the orientation as its second tag.
func tiffOrientation(order string, value uint16) []byte {
	e := map[string]binary.AppendByteOrder{"II": binary.LittleEndian, "MM": binary.BigEndian}[order]
	b := e.AppendUint32(e.AppendUint16([]byte(order), 42), 8)
	b = e.AppendUint16(b, 2)
	for _, entry := range [][3]uint16{{271, 2, 0}, {274, 3, value}} {
		b = e.AppendUint32(e.AppendUint16(e.AppendUint16(b, entry[0]), entry[1]), 1)
		b = e.AppendUint16(e.AppendUint16(b, entry[2]), 0)
	}
	return e.AppendUint32(b, 0)
}

func withExif(jpeg, tiff []byte) []byte { return withSegment(jpeg, 0xe1, "Exif\x00\x00"+string(tiff)) }

// withSegment inserts a segment before the others of a JPEG.
func withSegment(jpeg []byte, marker byte, content string) []byte {
	segment := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(2+len(content)))
	return slices.Concat(jpeg[:2], segment, []byte(content), jpeg[2:])
}

// withSize changes the size in the header of a PNG, not the pixels.
func withSize(png []byte, width, height uint32) []byte {
	out := bytes.Clone(png)
	binary.BigEndian.PutUint32(out[16:], width)
	binary.BigEndian.PutUint32(out[20:], height)
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}
