package stamp

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"
)

// kind is a kind of image: how its quarters are stored, and the colours that they have, from left
// to right and from top to bottom.
type kind struct {
	name    string
	encoded []byte
	of      ImageType
	want    [4]color.NRGBA
}

var (
	colours      = [4]color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 0, 255}}
	greys        = [4]color.NRGBA{{0, 0, 0, 255}, {85, 85, 85, 255}, {170, 170, 170, 255}, {255, 255, 255, 255}}
	lessAndLess  = [4]color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 128}, {0, 0, 255, 64}, {255, 255, 0, 0}}
	holeInGreys  = [4]color.NRGBA{{0, 0, 0, 255}, {85, 85, 85, 0}, {170, 170, 170, 255}, {255, 255, 255, 255}}
	holeInColour = [4]color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 0}, {0, 0, 255, 255}, {255, 255, 0, 255}}
	fadingGreys  = [4]color.NRGBA{{0, 0, 0, 255}, {85, 85, 85, 128}, {170, 170, 170, 64}, {255, 255, 255, 0}}
)

// kinds are those of ISO/IEC 15948 table 11.1 and of ISO/IEC 10918-1, as far as [ReadImage] says.
func kinds(t testing.TB) []kind {
	t.Helper()
	palette := chunk{"PLTE", []byte{255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0}}
	alphas := chunk{"tRNS", []byte{255, 128, 64, 0}}
	indices, levels := samples{{0}, {1}, {2}, {3}}, samples{{0}, {85}, {170}, {255}}
	rgb := samples{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {255, 255, 0}}
	rgba := samples{{255, 0, 0, 255}, {0, 255, 0, 128}, {0, 0, 255, 64}, {255, 255, 0, 0}}
	greyAlpha := samples{{0, 255}, {85, 128}, {170, 64}, {255, 0}}
	var out []kind
	for _, k := range []struct {
		name   string
		header pngHeader
		stored samples
		want   [4]color.NRGBA
		chunks []chunk
	}{
		{"grey 1", pngHeader{depth: 1}, samples{{0}, {1}, {1}, {0}}, [4]color.NRGBA{greys[0], greys[3], greys[3], greys[0]}, nil},
		{"grey 2", pngHeader{depth: 2}, indices, greys, nil},
		{"grey 4", pngHeader{depth: 4}, samples{{0}, {5}, {10}, {15}}, greys, nil},
		{"grey 8", pngHeader{depth: 8}, levels, greys, nil},
		{"grey 16", pngHeader{depth: 16}, levels.times(257), greys, nil},
		{"grey 8 without a level", pngHeader{depth: 8}, levels, holeInGreys, []chunk{{"tRNS", []byte{0, 85}}}},
		{"grey 16 without a level", pngHeader{depth: 16}, levels.times(257), holeInGreys, []chunk{{"tRNS", []byte{85, 85}}}},
		{"RGB 8", pngHeader{8, 2, 0}, rgb, colours, nil},
		{"RGB 16", pngHeader{16, 2, 0}, rgb.times(257), colours, nil},
		{"RGB 8 without a colour", pngHeader{8, 2, 0}, rgb, holeInColour, []chunk{{"tRNS", []byte{0, 0, 0, 255, 0, 0}}}},
		{"palette 1", pngHeader{1, 3, 0}, samples{{0}, {1}, {1}, {0}}, [4]color.NRGBA{colours[0], colours[1], colours[1], colours[0]}, []chunk{{"PLTE", palette.content[:6]}}},
		{"palette 2", pngHeader{2, 3, 0}, indices, colours, []chunk{palette}},
		{"palette 4", pngHeader{4, 3, 0}, indices, colours, []chunk{palette}},
		{"palette 8", pngHeader{8, 3, 0}, indices, colours, []chunk{palette}},
		{"palette 8 with alpha", pngHeader{8, 3, 0}, indices, lessAndLess, []chunk{palette, alphas}},
		{"palette 2 with alpha", pngHeader{2, 3, 0}, indices, lessAndLess, []chunk{palette, alphas}},
		{"grey and alpha 8", pngHeader{8, 4, 0}, greyAlpha, fadingGreys, nil},
		{"grey and alpha 16", pngHeader{16, 4, 0}, greyAlpha.times(257), fadingGreys, nil},
		{"RGB and alpha 8", pngHeader{8, 6, 0}, rgba, lessAndLess, nil},
		{"RGB and alpha 16", pngHeader{16, 6, 0}, rgba.times(257), lessAndLess, nil},
	} {
		out = append(out, kind{k.name, pngOf(14, 10, k.header, k.stored, k.chunks...), PNG, k.want})
		k.header.interlaced = 1
		out = append(out, kind{k.name + " interlaced", pngOf(14, 10, k.header, k.stored, k.chunks...), PNG, k.want})
	}
	for _, name := range []string{"progressive", "rgb", "cmyk", "ycck"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".jpg"))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, kind{name, b, JPEG, colours})
	}
	grey := image.NewGray(image.Rect(0, 0, 48, 32))
	paint(grey, greys)
	return append(out, kind{"YCbCr", jpegOf(t, quarters(48, 32, colours)), JPEG, colours}, kind{"grey", jpegOf(t, grey), JPEG, greys})
}

// quarters is a picture of four quarters.
func quarters(width, height int, colours [4]color.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	paint(out, colours)
	return out
}

func paint(p interface {
	image.Image
	Set(x, y int, c color.Color)
}, colours [4]color.NRGBA) {
	b := p.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			p.Set(x, y, colours[quarter(x, y, b.Dx(), b.Dy())])
		}
	}
}

func quarter(x, y, width, height int) int { return x*2/width + y*2/height*2 }

func jpegOf(t testing.TB, p image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// samples are what the pixels of each quarter have.
type samples [4][]int

func (s samples) times(k int) samples {
	var out samples
	for i, pixel := range s {
		for _, v := range pixel {
			out[i] = append(out[i], v*k)
		}
	}
	return out
}

type chunk struct {
	name    string
	content []byte
}

// pngHeader is what a header says besides the size.
type pngHeader struct{ depth, colour, interlaced byte }

// pngOf encodes quarters in any kind of PNG.
func pngOf(width, height int, h pngHeader, s samples, more ...chunk) []byte {
	passes := [][4]int{{0, 0, 1, 1}}
	if h.interlaced == 1 { // ISO/IEC 15948 8.2
		passes = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
	}
	var raw []byte
	for _, p := range passes {
		for y := p[1]; y < height && p[0] < width; y += p[3] {
			raw = append(raw, 0) // no filter
			bits, n := uint(0), 0
			for x := p[0]; x < width; x += p[2] {
				for _, v := range s[quarter(x, y, width, height)] {
					for bit := int(h.depth) - 1; bit >= 0; bit-- {
						bits = bits<<1 | uint(v)>>bit&1
						if n++; n%8 == 0 {
							raw = append(raw, byte(bits))
						}
					}
				}
			}
			if n%8 != 0 {
				raw = append(raw, byte(bits<<(8-n%8)))
			}
		}
	}
	var pixels bytes.Buffer
	z := zlib.NewWriter(&pixels)
	z.Write(raw)
	z.Close()
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	out := []byte("\x89PNG\r\n\x1a\n")
	for _, c := range append(append([]chunk{{"IHDR", append(header, h.depth, h.colour, 0, 0, h.interlaced)}}, more...), chunk{"IDAT", pixels.Bytes()}, chunk{"IEND", nil}) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(c.content)))
		start := len(out)
		out = append(append(out, c.name...), c.content...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
	}
	return out
}
