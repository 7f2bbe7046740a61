package stamp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/png"
)

// Objects of images are our own, and those of pdfcpu are not taken, as TestWhyNotPdfcpu shows:
//
//	every kind                  colours of a device, Interpolate: not in PDF/A (ISO 19005-1 6.2.3.3, 6.2.4)
//	16 bits                     kept, which PDF 1.4 has not
//	JPEG of RGB                 refused
//	JPEG of CMYK and of YCCK    colours differ between viewers
//	JPEG with Exif              metadata comes along, the orientation is lost

// pixels are those of an opaque picture as a PNG without interlacing has them: that is what
// FlateDecode takes with a PNG predictor (ISO 32000-2 7.4.4.4).
type pixels struct{ header, palette, compressed []byte }

// Places in the header, and colour types (ISO/IEC 15948 11.2.2).
const (
	depthByte, colourByte = 8, 9
	trueColour, indexed   = 2, 3
)

func compress(p picture) (pixels, error) {
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, p); err != nil {
		return pixels{}, err
	}
	var out pixels
	for b := encoded.Bytes()[len(pngSignature):]; len(b) > 0; {
		size := binary.BigEndian.Uint32(b)
		switch content := b[8 : 8+size]; string(b[4:8]) {
		case "IHDR":
			out.header = content
		case "PLTE":
			out.palette = content
		case "IDAT":
			out.compressed = append(out.compressed, content...)
		}
		b = b[12+size:]
	}
	return out, nil
}

// space adds the colour space and returns its source text.
func (p pixels) space(page *onePage) string {
	switch p.header[colourByte] {
	case trueColour:
		return page.addRGB()
	case indexed:
		return fmt.Sprintf("[/Indexed %s %d <%x>]", page.addRGB(), len(p.palette)/3-1, p.palette)
	}
	return page.addGray()
}

// add adds an image object with more entries.
func (p pixels) add(page *onePage, space, more string) int {
	width, height, depth := binary.BigEndian.Uint32(p.header), binary.BigEndian.Uint32(p.header[4:]), p.header[depthByte]
	colours := 1
	if p.header[colourByte] == trueColour {
		colours = 3
	}
	return page.addEncoded(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s /BitsPerComponent %d %s"+
		" /Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors %d /BitsPerComponent %d /Columns %d >>",
		width, height, space, depth, more, colours, depth, width), p.compressed)
}
