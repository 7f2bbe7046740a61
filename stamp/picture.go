package stamp

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"slices"
)

// Colours are sRGB (IEC 61966-2-1) by profiles, so that the document may be PDF/A of any output
// intent (ISO 19005-1 6.2.3.3). CalRGB and CalGray would be shorter, but a gamma is not the curve
// of sRGB, and Poppler tints what is CalGray.

// addRGB adds the colour space sRGB and returns its source text.
func (p *onePage) addRGB() string { return p.addProfile("RGB ", 3, rgbProfile()) }

// addGray adds the colour space of the greys of sRGB.
func (p *onePage) addGray() string { return p.addProfile("GRAY", 1, []tag{{"kTRC", curve()}}) }

// addProfile adds an ICC profile (ISO 32000-2 8.6.5.5) of a display, of version 2.1 for PDF 1.4.
func (p *onePage) addProfile(space string, components int, colours []tag) string {
	tags := append([]tag{
		{"desc", description("sRGB")},
		{"cprt", append([]byte("text\x00\x00\x00\x00"), "No copyright, use freely\x00"...)},
		{"wtpt", xyz(0.9642, 1, 0.8249)},
	}, colours...)
	return fmt.Sprintf("[/ICCBased %d 0 R]", p.addStream(fmt.Sprintf("/N %d", components), profile(space, tags)))
}

// rgbProfile has the primaries of sRGB as seen by eyes adapted to D50.
func rgbProfile() []tag {
	c := curve()
	return []tag{
		{"rXYZ", xyz(0.4361, 0.2225, 0.0139)}, {"gXYZ", xyz(0.3851, 0.7169, 0.0971)}, {"bXYZ", xyz(0.1431, 0.0606, 0.7141)},
		{"rTRC", c}, {"gTRC", c}, {"bTRC", c},
	}
}

// tag is a part of a profile (ICC.1:1998-09 6.2).
type tag struct {
	name    string
	content []byte
}

func profile(space string, tags []tag) []byte {
	be := binary.BigEndian
	out := make([]byte, 128, 2048) // the header, 6.1
	be.PutUint32(out[8:], 0x02100000)
	copy(out[12:], "mntr"+space+"XYZ ")
	be.PutUint16(out[24:], 2026) // the year, month and day that the profile is of
	be.PutUint16(out[26:], 1)
	be.PutUint16(out[28:], 1)
	copy(out[36:], "acsp")
	copy(out[68:], xyz(0.9642, 1, 0.8249)[8:])
	out = be.AppendUint32(out, uint32(len(tags)))
	var contents []byte
	for i, t := range tags {
		at := 128 + 4 + 12*len(tags) + len(contents)
		if i > 0 && slices.Equal(t.content, tags[i-1].content) { // one curve for all colours
			at -= len(padded(t.content))
		} else {
			contents = append(contents, padded(t.content)...)
		}
		out = be.AppendUint32(be.AppendUint32(append(out, t.name...), uint32(at)), uint32(len(t.content)))
	}
	out = append(out, contents...)
	be.PutUint32(out, uint32(len(out)))
	return out
}

func padded(b []byte) []byte { return append(b[:len(b):len(b)], make([]byte, -len(b)&3)...) }

// description is a textDescriptionType (6.5.16) without Unicode and script.
func description(text string) []byte {
	out := binary.BigEndian.AppendUint32([]byte("desc\x00\x00\x00\x00"), uint32(len(text)+1))
	return append(append(out, text...), make([]byte, 1+4+4+2+1+67)...)
}

// xyz is an XYZType (6.5.26).
func xyz(x, y, z float64) []byte {
	out := []byte("XYZ \x00\x00\x00\x00")
	for _, v := range []float64{x, y, z} {
		out = binary.BigEndian.AppendUint32(out, uint32(math.Round(v*65536)))
	}
	return out
}

// curve is a curveType (6.5.2) of what light the values of sRGB stand for.
func curve() []byte {
	const n = 256
	out := binary.BigEndian.AppendUint32([]byte("curv\x00\x00\x00\x00"), n)
	for i := range n {
		v := float64(i) / (n - 1)
		light := v / 12.92
		if v > 0.04045 {
			light = math.Pow((v+0.055)/1.055, 2.4)
		}
		out = binary.BigEndian.AppendUint16(out, uint16(math.Round(light*65535)))
	}
	return out
}

// addLossless adds an image as it is to the pixel, with its alpha as a soft mask
// (ISO 32000-2 11.6.5.2), which is grey on any device.
func addLossless(page *onePage, p picture, opaque bool) (int, error) {
	if opaque {
		p = onWhite(p)
	}
	more := ""
	if !p.Opaque() {
		colours, alpha := apart(p)
		mask, err := compress(alpha)
		if err != nil {
			return 0, err
		}
		p, more = colours, fmt.Sprintf("/SMask %d 0 R", mask.add(page, "/DeviceGray", ""))
	}
	pixels, err := compress(p)
	if err != nil {
		return 0, err
	}
	return pixels.add(page, pixels.space(page), more), nil
}

// onWhite is a picture as it looks on white.
func onWhite(p picture) picture {
	if p.Opaque() {
		return p
	}
	if p, ok := p.(*image.Paletted); ok {
		return repainted(p, func(c color.NRGBA) color.Color {
			over := func(v uint8) uint8 { return uint8((int(v)*int(c.A) + 255*(255-int(c.A)) + 127) / 255) }
			return color.NRGBA{over(c.R), over(c.G), over(c.B), 255}
		})
	}
	out := image.NewRGBA(p.Bounds())
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, p, out.Rect.Min, draw.Over)
	return out
}

// apart returns the colours of a picture and its alpha.
func apart(p picture) (colours picture, alpha *image.Gray) {
	alpha = image.NewGray(p.Bounds())
	switch p := p.(type) {
	case *image.Paletted:
		colours = repainted(p, func(c color.NRGBA) color.Color { c.A = 255; return c })
		for i, index := range p.Pix {
			_, _, _, a := p.Palette[index].RGBA()
			alpha.Pix[i] = uint8(a >> 8)
		}
	case *image.NRGBA:
		opaque := &image.NRGBA{Pix: bytes.Clone(p.Pix), Stride: p.Stride, Rect: p.Rect}
		for i := range alpha.Pix {
			alpha.Pix[i], opaque.Pix[4*i+3] = opaque.Pix[4*i+3], 255
		}
		colours = opaque
	}
	return colours, alpha
}

func repainted(p *image.Paletted, paint func(color.NRGBA) color.Color) *image.Paletted {
	palette := make(color.Palette, len(p.Palette))
	for i, c := range p.Palette {
		palette[i] = paint(color.NRGBAModel.Convert(c).(color.NRGBA))
	}
	return &image.Paletted{Pix: p.Pix, Stride: p.Stride, Rect: p.Rect, Palette: palette}
}

// quality is that of a JPEG that is encoded again: nothing is to be seen of it in print.
const quality = 92

// addLossy adds a picture that came as a JPEG: as the file that it was in, or where that is nil,
// encoded again.
func addLossy(page *onePage, p picture, file []byte) (int, error) {
	if file == nil {
		var encoded bytes.Buffer
		if err := jpeg.Encode(&encoded, p, &jpeg.Options{Quality: quality}); err != nil {
			return 0, err
		}
		file = encoded.Bytes()
	}
	b, space := p.Bounds(), page.addRGB
	if _, ok := p.(*image.Gray); ok {
		space = page.addGray
	}
	return page.addEncoded(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s /BitsPerComponent 8 /Filter /DCTDecode",
		b.Dx(), b.Dy(), space()), file), nil
}

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

// shrunk returns a picture of fewer pixels, each the mean of those it stands for. Colours count
// as much as they are to be seen.
func shrunk(p picture, width, height int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	b := p.Bounds()
	for y := range height {
		top, bottom := b.Min.Y+y*b.Dy()/height, b.Min.Y+(y+1)*b.Dy()/height
		for x := range width {
			left, right := b.Min.X+x*b.Dx()/width, b.Min.X+(x+1)*b.Dx()/width
			out.Set(x, y, mean(p, image.Rect(left, top, right, bottom)))
		}
	}
	return out
}

func mean(p picture, r image.Rectangle) color.RGBA64 {
	var red, green, blue, alpha uint64
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := p.RGBA64At(x, y)
			red, green, blue, alpha = red+uint64(c.R), green+uint64(c.G), blue+uint64(c.B), alpha+uint64(c.A)
		}
	}
	n := uint64(r.Dx() * r.Dy())
	return color.RGBA64{uint16(red / n), uint16(green / n), uint16(blue / n), uint16(alpha / n)}
}

// onePage writes a PDF of one page, version 1.4: what PDF/A-1 is made of
// (ISO 19005-1), so that whatever it is drawn into stays what it was.
type onePage struct{ objects [][]byte } // from number firstObject on

// The objects that every page has.
const (
	catalogObject = iota + 1
	pagesObject
	pageObject
	contentObject
	firstObject
)

// add adds an object, given as its source text, and returns its number.
func (p *onePage) add(body []byte) int {
	p.objects = append(p.objects, body)
	return firstObject + len(p.objects) - 1
}

// addStream adds a stream, compressed, with the entries of its dictionary as source text.
func (p *onePage) addStream(entries string, content []byte) int {
	return p.add(compressed(entries, content))
}

// addEncoded adds a stream that is encoded already by the Filter among its entries.
func (p *onePage) addEncoded(entries string, content []byte) int {
	return p.add(streamBody(entries, content))
}

func compressed(entries string, content []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(content) // a bytes.Buffer takes everything
	w.Close()
	return streamBody(entries+" /Filter /FlateDecode", b.Bytes())
}

func streamBody(entries string, content []byte) []byte {
	b := fmt.Appendf(nil, "<< %s /Length %d >>\nstream\n", entries, len(content))
	return append(append(b, content...), "\nendstream"...)
}

// bytes returns the file. resources is source text of a dictionary.
func (p *onePage) bytes(s Size, resources string, content []byte) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	offsets := []int{0}
	write := func(body []byte) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets)-1, body)
	}
	write(fmt.Appendf(nil, "<< /Type /Catalog /Pages %d 0 R >>", pagesObject))
	write(fmt.Appendf(nil, "<< /Type /Pages /Kids [%d 0 R] /Count 1 >>", pageObject))
	write(fmt.Appendf(nil, "<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %g %g] /Resources %s /Contents %d 0 R >>",
		pagesObject, s.Width, s.Height, resources, contentObject))
	write(compressed("", content))
	for _, body := range p.objects {
		write(body)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets))
	for _, offset := range offsets[1:] {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets), catalogObject, start)
	return b.Bytes()
}
