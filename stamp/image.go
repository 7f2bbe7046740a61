package stamp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
)

// ImageType is the format of a custom image.
type ImageType string

const (
	PNG  ImageType = "Png"
	JPEG ImageType = "Jpeg"
)

// Bounds of images. The header of an image states how much memory decoding it takes.
const (
	maxImageBytes  = 2 << 20
	maxImagePixels = 9_000_000 // A4 at 300 dots per inch
	maxImageSide   = 1 << 14   // drawn as points, within the reals of PDF 1.4 (32767)
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// Image is an image that can be drawn. It holds the encoded file and not the pixels, which can take
// a hundred times the memory. Its colours are treated as sRGB, whatever profile the file has.
// Several goroutines may use it at once.
type Image struct {
	encoded []byte
	format  ImageType
}

// decoded is a decoded image.
type decoded struct {
	picture picture
	turn    orientation
	lossy   bool   // the file is a JPEG
	jpeg    []byte // the part of the file that a PDF can embed; nil: none
}

// picture is the decoded pixels, with 8 bits for each component.
type picture interface {
	image.RGBA64Image
	Opaque() bool
}

// ReadImage reads and checks a whole image. A PNG (ISO/IEC 15948) may be of any kind. A JPEG
// (ISO/IEC 10918-1) may be sequential or progressive, in 8 bits, grey, RGB or YCbCr, or CMYK or
// YCCK with the Adobe marker. It is displayed in the orientation that its Exif metadata names.
//
// An image has at most 2 MiB, 9 million pixels, and 16384 pixels on each side. For a larger,
// damaged or different file the error is [ErrImage] and states the reason. Reading an image and
// drawing it each take up to 200 MB for a moment.
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
		return nil, fmt.Errorf("type %q must be %s or %s", t, PNG, JPEG)
	case t == PNG && bytes.HasPrefix(encoded, []byte(pngSignature)):
		return readPNG(encoded)
	case t == JPEG && bytes.HasPrefix(encoded, []byte(startOfImage)):
		return readJPEG(encoded)
	}
	return nil, fmt.Errorf("it is not a %s", t)
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
	return &decoded{picture: to8Bits(pixels), turn: upright}, nil
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

// to8Bits returns what image/png decodes, with the more significant byte of each sample: PDF has
// images of 16 bits only since version 1.5 (ISO 32000-2 table 87). It does not multiply colours by
// alpha.
func to8Bits(pixels image.Image) picture {
	switch p := pixels.(type) {
	case *image.Gray16:
		return &image.Gray{Pix: highBytes(p.Pix), Stride: p.Stride / 2, Rect: p.Rect}
	case *image.RGBA64:
		return &image.RGBA{Pix: highBytes(p.Pix), Stride: p.Stride / 2, Rect: p.Rect}
	case *image.NRGBA64:
		return &image.NRGBA{Pix: highBytes(p.Pix), Stride: p.Stride / 2, Rect: p.Rect}
	}
	return pixels.(picture) // all image types of image/png implement it
}

func highBytes(b []byte) []byte {
	out := make([]byte, len(b)/2)
	for i := range out {
		out[i] = b[2*i]
	}
	return out
}

// maxScans bounds the scans of a progressive JPEG. A few bytes of a scan can affect all pixels, so
// a small file could take hours to decode. Encoders make about ten scans.
const maxScans = 64

// Markers of ISO/IEC 10918-1 table B.1.
const (
	firstRestart     = 0xd0
	lastRestart      = 0xd7
	endOfImage       = 0xd9
	startOfScan      = 0xda
	firstApplication = 0xe0
	exifApplication  = 0xe1
	lastApplication  = 0xef
	comment          = 0xfe
)

const (
	startOfImage = "\xff\xd8"
	// These segments state what the components are: JFIF (ISO/IEC 10918-5 10.1) means Y or YCbCr,
	// Adobe with transform 0 (ISO/IEC 10918-6 6.5.3) means RGB.
	jfifSegment  = "\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
	adobeSegment = "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"
)

func readJPEG(encoded []byte) (*decoded, error) {
	config, err := jpeg.DecodeConfig(bytes.NewReader(encoded))
	if err == nil {
		err = checkPixels(config)
	}
	if err != nil {
		return nil, err
	}
	frame, exif, err := jpegFrame(encoded)
	if err != nil {
		return nil, err
	}
	pixels, err := jpeg.Decode(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	i := &decoded{picture: pixels.(picture), turn: exifOrientation(exif), lossy: true}
	switch pixels.(type) {
	case *image.Gray, *image.YCbCr:
		i.jpeg = slices.Concat([]byte(startOfImage+jfifSegment), frame)
	case *image.RGBA:
		i.jpeg = slices.Concat([]byte(startOfImage+adobeSegment), frame)
	}
	return i, nil
}

// jpegFrame returns the part of a JPEG from which the pixels are decoded: all after the start of
// the image except comments and application segments, which can state who took a photo, with which
// device, and where. It returns the Exif metadata separately.
func jpegFrame(b []byte) (frame, exif []byte, err error) {
	b = b[len(startOfImage):]
	for scans, marker := 0, byte(0); ; {
		n := nextMarker(b)
		if n < 0 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		if marker == startOfScan {
			frame = append(frame, b[:n]...)
		}
		marker = b[n+1]
		if marker == endOfImage {
			return append(frame, 0xff, endOfImage), exif, nil
		}
		if b = b[n+2:]; len(b) < 2 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		size := int(binary.BigEndian.Uint16(b))
		if size < 2 || size > len(b) {
			return nil, nil, errors.New("a segment has no end")
		}
		switch content := b[2:size]; {
		case marker == exifApplication && exif == nil:
			exif, _ = bytes.CutPrefix(content, []byte("Exif\x00\x00"))
		case marker >= firstApplication && marker <= lastApplication, marker == comment:
		default:
			frame = append(append(frame, 0xff, marker), b[:size]...)
		}
		if marker == startOfScan {
			if scans++; scans > maxScans {
				return nil, nil, fmt.Errorf("it has more than %d scans", maxScans)
			}
		}
		b = b[size:]
	}
}

// nextMarker returns the index of the next marker, without the markers within a scan; -1 if there
// is none. Decoders skip bytes before it.
func nextMarker(b []byte) int {
	for i := 0; i+1 < len(b); i++ {
		if m := b[i+1]; b[i] == 0xff && m != 0 && m != 0xff && (m < firstRestart || m > lastRestart) {
			return i
		}
	}
	return -1
}

// orientation states how the rows and columns of a picture are displayed: the matrix (a, b, c, d)
// of ISO 32000-2 8.3.4 about the picture's centre.
type orientation [4]int

var upright = orientation{1, 0, 0, 1}

// sideways reports whether the rows are displayed as columns.
func (o orientation) sideways() bool { return o[0] == 0 }

// orientations are the orientations by the value of the tag Orientation (Exif 2.32, 4.6.4 A), which
// names where the first row and the first column are displayed.
var orientations = [...]orientation{
	1: upright,        // top, left
	2: {-1, 0, 0, 1},  // top, right
	3: {-1, 0, 0, -1}, // bottom, right
	4: {1, 0, 0, -1},  // bottom, left
	5: {0, -1, -1, 0}, // left, top
	6: {0, -1, 1, 0},  // right, top
	7: {0, 1, 1, 0},   // right, bottom
	8: {0, 1, -1, 0},  // left, bottom
}

// exifOrientation returns the orientation from the Exif metadata, which is a TIFF file. Like
// viewers, it treats malformed metadata as upright.
func exifOrientation(tiff []byte) orientation {
	const orientationTag, short = 274, 3
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(tiff, []byte("II*\x00")):
		order = binary.LittleEndian
	case bytes.HasPrefix(tiff, []byte("MM\x00*")):
		order = binary.BigEndian
	default:
		return upright
	}
	directory := from(tiff, 4)
	if len(directory) < 4 {
		return upright
	}
	entries := from(tiff, order.Uint32(directory))
	if len(entries) < 2 {
		return upright
	}
	count := order.Uint16(entries)
	for entries = entries[2:]; count > 0 && len(entries) >= 12; count, entries = count-1, entries[12:] {
		if order.Uint16(entries) == orientationTag && order.Uint16(entries[2:]) == short {
			if value := int(order.Uint16(entries[8:])); value > 0 && value < len(orientations) {
				return orientations[value]
			}
		}
	}
	return upright
}

// from returns b from an offset on.
func from(b []byte, offset uint32) []byte {
	return b[min(uint64(offset), uint64(len(b))):]
}
