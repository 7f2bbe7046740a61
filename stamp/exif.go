package stamp

import (
	"bytes"
	"encoding/binary"
)

// orientation is how the rows and columns of a picture are displayed: the matrix (a, b, c, d) of
// ISO 32000-2 8.3.4 about the picture's centre.
type orientation [4]int

var upright = orientation{1, 0, 0, 1}

// sideways: the rows are displayed as columns.
func (o orientation) sideways() bool { return o[0] == 0 }

// orientations are the values of the tag Orientation (Exif 2.32, 4.6.4 A), which name where the
// first row and the first column are displayed.
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

// exifOrientation returns the orientation of a picture from its Exif metadata, which is a TIFF
// file. Viewers take what is not well formed as upright.
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

// from returns what is left of b from an offset on.
func from(b []byte, offset uint32) []byte {
	return b[min(uint64(offset), uint64(len(b))):]
}
