package stamp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"slices"
)

// maxScans bounds the scans of a progressive JPEG. A few bytes of a scan can go over all pixels,
// so that a small file could take hours; encoders make about ten scans.
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
	// These say what the components are: of JFIF (ISO/IEC 10918-5 10.1), Y or YCbCr; of Adobe with
	// transform 0 (ISO/IEC 10918-6 6.5.3), RGB.
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

// jpegFrame returns what a JPEG is decoded from: all that follows the start of the image but
// comments and what applications put there, which can say who took a photo, with what, and where.
// What Exif put there comes beside it.
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

// nextMarker returns the place of the next marker but those within a scan; -1 for none.
// Decoders skip what is before it.
func nextMarker(b []byte) int {
	for i := 0; i+1 < len(b); i++ {
		if m := b[i+1]; b[i] == 0xff && m != 0 && m != 0xff && (m < firstRestart || m > lastRestart) {
			return i
		}
	}
	return -1
}
