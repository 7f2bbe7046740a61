package stamp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"slices"
	"testing"
)

// Exif 2.32 4.6.4 A: where the first row and the first column are displayed.
var displayedAt = [9][2]string{
	1: {"top", "left"}, 2: {"top", "right"}, 3: {"bottom", "right"}, 4: {"bottom", "left"},
	5: {"left", "top"}, 6: {"right", "top"}, 7: {"right", "bottom"}, 8: {"left", "bottom"},
}

// stored is the quarters of a picture that is displayed as red and green above blue and yellow.
func stored(value int) (out [4]color.NRGBA) {
	for row := range 2 {
		for column := range 2 {
			var x, y int
			for i, n := range []int{row, column} {
				switch displayedAt[value][i] {
				case "top":
					y = n
				case "bottom":
					y = 1 - n
				case "left":
					x = n
				case "right":
					x = 1 - n
				}
			}
			out[2*row+column] = colours[2*y+x]
		}
	}
	return out
}

func TestOrientations(t *testing.T) {
	for value := 1; value <= 8; value++ {
		for _, order := range []string{"II", "MM"} {
			// Twenty pixels for each point are more than are needed.
			for _, scale := range []int{1, 20} {
				t.Run(fmt.Sprintf("%d %s, %d pixels a point", value, order, scale), func(t *testing.T) {
					width, height := 48*scale, 32*scale
					if value >= 5 {
						width, height = height, width
					}
					encoded := withExif(jpegOf(t, quarters(width, height, stored(value))), tiffOrientation(order, uint16(value)))
					drawn := drawImage(t, imageOf(t, encoded, JPEG), Size{68, 32}, Drawing{Scaling: ZoomAndCenter})
					if scale > 1 { // 600 dots per inch
						width, height = 400, 267
						if value >= 5 {
							width, height = height, width
						}
					}
					if !bytes.Contains(drawn, fmt.Appendf(nil, "/Width %d /Height %d ", width, height)) {
						t.Errorf("not drawn with %d by %d pixels", width, height)
					}
					inViewers(t, drawn, 144, func(t *testing.T, page image.Image) {
						checkQuarters(t, page, image.Rect(20, 0, 116, 64), colours)
					})
				})
			}
		}
	}
}

// What is no orientation is displayed as it is stored.
func TestNoOrientation(t *testing.T) {
	good := tiffOrientation("MM", 6)
	if got := exifOrientation(good); got != orientations[6] {
		t.Fatalf("got %v", got)
	}
	for name, tiff := range map[string][]byte{
		"none":             nil,
		"another order":    append([]byte("XX"), good[2:]...),
		"no directory":     good[:8],
		"directory beyond": append([]byte("MM\x00*\xff\xff\xff\xff"), good[8:]...),
		"0":                tiffOrientation("MM", 0),
		"9":                tiffOrientation("MM", 9),
		"text":             bytes.Replace(good, []byte{0x01, 0x12, 0, 3}, []byte{0x01, 0x12, 0, 2}, 1),
	} {
		if got := exifOrientation(tiff); got != upright {
			t.Errorf("%s: %v", name, got)
		}
	}
	for n := range len(good) - 4 { // the last entry is followed by the offset of the next directory
		if got := exifOrientation(good[:n]); got != upright {
			t.Errorf("%d bytes: %v", n, got)
		}
	}
}

// Who took a photo, with what and where stays with the photo.
func TestMetadataIsLeftOut(t *testing.T) {
	b := jpegOf(t, quarters(48, 32, colours))
	secrets := []string{"64.1466 N 21.9426 W", "ns.adobe.com/xap", "Jóna's phone", "ICC_PROFILE", "after the image"}
	b = withExif(b, append(tiffOrientation("II", 1), secrets[0]...))
	b = withSegment(b, 0xe1, "http://"+secrets[1])
	b = withSegment(b, 0xfe, secrets[2])
	b = append(withSegment(b, 0xe2, secrets[3]), secrets[4]...)
	drawn := drawImage(t, imageOf(t, b, JPEG), Size{48, 32}, Drawing{})
	for _, secret := range append(secrets, "Exif") {
		if !bytes.Contains(b, []byte(secret)) || bytes.Contains(drawn, []byte(secret)) {
			t.Errorf("%s is in the stamp", secret)
		}
	}
	inViewers(t, drawn, 144, func(t *testing.T, page image.Image) { checkQuarters(t, page, page.Bounds(), colours) })
}

// tiffOrientation is a TIFF file with a tag before the orientation.
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

// withSegment puts a segment in front of the others of a JPEG.
func withSegment(jpeg []byte, marker byte, content string) []byte {
	segment := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(2+len(content)))
	return slices.Concat(jpeg[:2], segment, []byte(content), jpeg[2:])
}
