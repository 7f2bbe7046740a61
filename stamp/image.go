package stamp

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
)

// ImageType is the format of a custom image (spec 3.3).
type ImageType string

const (
	PNG  ImageType = "Png"
	JPEG ImageType = "Jpeg"
)

// What an image may have. Its header says how much memory decoding takes.
const (
	maxImageBytes  = 2 << 20
	maxImagePixels = 9_000_000 // of A4 at 300 dots per inch
	maxImageSide   = 1 << 14   // so that a pixel may be a point within the reals of PDF 1.4, up to 32767
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// Image is an image that can be drawn. It keeps the file and not the pixels, which can be a
// hundred times as much. Its colours are taken for sRGB, whatever profile came with them. It may
// be used by several goroutines.
type Image struct {
	encoded []byte
	format  ImageType
}

// decoded is an image with its pixels.
type decoded struct {
	picture picture
	turn    orientation
	lossy   bool   // it was a JPEG
	jpeg    []byte // what a PDF can have of that file; nil for none
}

// picture is decoded pixels of 8 bits for each component.
type picture interface {
	image.RGBA64Image
	Opaque() bool
}

// ReadImage reads an image, all of it. A PNG (ISO/IEC 15948) may be of any kind. A JPEG
// (ISO/IEC 10918-1) may be sequential or progressive, in 8 bits, grey, RGB or YCbCr, or CMYK or YCCK
// with the marker of Adobe; it is displayed in the orientation that its Exif metadata names.
//
// An image has at most 2 MiB, 9 million pixels, and 16384 of them in a line. Else, and when it
// is damaged or of another type, the error is [ErrImage] and says why. Reading and drawing an
// image each take up to 200 MB for a moment.
func ReadImage(encoded []byte, t ImageType) (*Image, error) {
	if _, err := decode(encoded, t); err != nil {
		return nil, err
	}
	return &Image{bytes.Clone(encoded), t}, nil
}

func decode(encoded []byte, t ImageType) (*decoded, error) {
	i, err := readFormat(encoded, t)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImage, err)
	}
	return i, nil
}

func readFormat(encoded []byte, t ImageType) (*decoded, error) {
	if len(encoded) > maxImageBytes {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(encoded), maxImageBytes)
	}
	switch {
	case t != PNG && t != JPEG:
		return nil, fmt.Errorf("type %q is neither %s nor %s", t, PNG, JPEG)
	case t == PNG && bytes.HasPrefix(encoded, []byte(pngSignature)):
		return readPNG(encoded)
	case t == JPEG && bytes.HasPrefix(encoded, []byte(startOfImage)):
		return readJPEG(encoded)
	}
	return nil, fmt.Errorf("it is no %s", t)
}

func readPNG(encoded []byte) (*decoded, error) {
	config, err := png.DecodeConfig(bytes.NewReader(encoded))
	if err == nil {
		err = checkPixels(config)
	}
	if err != nil {
		return nil, err
	}
	pixels, err := png.Decode(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	return &decoded{picture: eightBits(pixels), turn: upright}, nil
}

func checkPixels(c image.Config) error {
	switch {
	case c.Width <= 0 || c.Height <= 0:
		return errors.New("it has no pixels")
	case c.Width > maxImageSide || c.Height > maxImageSide:
		return fmt.Errorf("it has %d by %d pixels, more than %d in a line", c.Width, c.Height, maxImageSide)
	case c.Width*c.Height > maxImagePixels:
		return fmt.Errorf("it has %d by %d pixels, more than %d", c.Width, c.Height, maxImagePixels)
	}
	return nil
}

// eightBits returns what image/png decodes, with the more significant byte of each sample: images
// of 16 bits came with PDF 1.5 (ISO 32000-2 table 87). It never multiplies a colour by its alpha.
func eightBits(pixels image.Image) picture {
	switch p := pixels.(type) {
	case *image.Gray16:
		return &image.Gray{Pix: everySecond(p.Pix), Stride: p.Stride / 2, Rect: p.Rect}
	case *image.RGBA64:
		return &image.RGBA{Pix: everySecond(p.Pix), Stride: p.Stride / 2, Rect: p.Rect}
	case *image.NRGBA64:
		return &image.NRGBA{Pix: everySecond(p.Pix), Stride: p.Stride / 2, Rect: p.Rect}
	}
	return pixels.(picture) // as all pictures of the standard library are
}

func everySecond(b []byte) []byte {
	out := make([]byte, len(b)/2)
	for i := range out {
		out[i] = b[2*i]
	}
	return out
}
