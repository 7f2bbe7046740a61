package page

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
)

// When a picture is one of a scan or a photo: as a PNG it would be several times larger than as a
// JPEG, in which nothing is lost that could be seen. Text is smaller as a PNG, and clearer.
const (
	restless    = 50 // per cent of the pixels are unlike the one to the left, and there are many colours
	heavy       = 3  // a PNG with a palette has a byte for no more than so many pixels
	jpegQuality = 85
)

// The kinds of media of pictures.
const (
	pngKind  = "image/png"
	jpegKind = "image/jpeg"
)

// encoded is a picture as a file.
type encoded struct {
	kind string // of media
	file []byte
}

func (e *encoded) weight() int { return len(e.file) }

// encode makes a file of a picture: a PNG if it is one of text, in which each pixel stays as it is, else
// a JPEG.
func encode(drawn *image.RGBA) (*encoded, error) {
	small, changes := reduced(drawn)
	pixels := len(drawn.Pix) / 4
	_, few := small.(*image.Paletted)
	if few || changes < pixels*restless/100 {
		var out bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestSpeed}
		if err := encoder.Encode(&out, small); err != nil || !few || out.Len() < pixels/heavy {
			return encodedAs(pngKind, &out), err
		}
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, drawn, &jpeg.Options{Quality: jpegQuality})
	return encodedAs(jpegKind, &out), err
}

// encodedAs has the file alone: the room that there was for more of it is not kept.
func encodedAs(kind string, out *bytes.Buffer) *encoded {
	return &encoded{kind, bytes.Clone(out.Bytes())}
}

// reduced is a picture with a palette, if it has few enough colours for one, as text has; and how many
// pixels are unlike the one to the left of them.
func reduced(drawn *image.RGBA) (small image.Image, changes int) {
	out := &image.Paletted{Pix: make([]uint8, len(drawn.Pix)/4), Stride: drawn.Rect.Dx(), Rect: drawn.Rect}
	indexes := make(map[uint32]uint8)
	var last uint32
	var index uint8
	fits := true
	for i := range out.Pix {
		pixel := binary.LittleEndian.Uint32(drawn.Pix[4*i:])
		if pixel != last || i == 0 {
			last = pixel
			changes++
			if fits {
				index, fits = indexOf(pixel, indexes, out)
			}
		}
		out.Pix[i] = index
	}
	if !fits {
		return drawn, changes
	}
	return out, changes
}

// indexOf is the place of a colour in the palette, which it gets if it has none and there is one left.
func indexOf(pixel uint32, indexes map[uint32]uint8, p *image.Paletted) (uint8, bool) {
	index, ok := indexes[pixel]
	switch {
	case ok:
		return index, true
	case len(p.Palette) == 256:
		return 0, false
	}
	index = uint8(len(p.Palette))
	indexes[pixel] = index
	p.Palette = append(p.Palette, color.RGBA{uint8(pixel), uint8(pixel >> 8), uint8(pixel >> 16), uint8(pixel >> 24)})
	return index, true
}
