package stamp

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// onePage writes a PDF of one page, version 1.4. It uses only what PDF/A-1 (ISO 19005-1) allows, so
// a PDF/A document that embeds the page stays PDF/A.
type onePage struct{ objects [][]byte } // numbered from firstObject on

// Numbers of the objects that every PDF has.
const (
	catalogObject = iota + 1
	pagesObject
	pageObject
	contentObject
	firstObject
)

// add adds an object, given as source text, and returns its number.
func (p *onePage) add(body []byte) int {
	p.objects = append(p.objects, body)
	return firstObject + len(p.objects) - 1
}

// addStream adds a stream and compresses it. entries are source text for its dictionary.
func (p *onePage) addStream(entries string, content []byte) int {
	return p.add(compressed(entries, content))
}

// addEncoded adds a stream that is already encoded with the Filter among its entries.
func (p *onePage) addEncoded(entries string, content []byte) int {
	return p.add(streamBody(entries, content))
}

// bytes returns the PDF. resources is the source text of a dictionary.
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

func compressed(entries string, content []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(content) // writing to a bytes.Buffer cannot fail
	w.Close()
	return streamBody(entries+" /Filter /FlateDecode", b.Bytes())
}

func streamBody(entries string, content []byte) []byte {
	b := fmt.Appendf(nil, "<< %s /Length %d >>\nstream\n", entries, len(content))
	return append(append(b, content...), "\nendstream"...)
}

// The colours of images are sRGB (IEC 61966-2-1) by profiles, so that the document may be PDF/A of
// any output intent (ISO 19005-1 6.2.3.3). CalRGB and CalGray would be shorter, but a gamma is not
// the curve of sRGB, and Poppler tints what is CalGray.

// addRGB adds the colour space sRGB and returns its source text.
func (p *onePage) addRGB() string { return p.addProfile("RGB ", 3, rgbProfile()) }

// addGray adds the colour space of the greys of sRGB and returns its source text.
func (p *onePage) addGray() string { return p.addProfile("GRAY", 1, []tag{{"kTRC", curve()}}) }

// addProfile adds an ICC profile for a display (ISO 32000-2 8.6.5.5), of version 2.1, which PDF 1.4
// supports.
func (p *onePage) addProfile(space string, components int, colours []tag) string {
	tags := append([]tag{
		{"desc", description("sRGB")},
		{"cprt", append([]byte("text\x00\x00\x00\x00"), "No copyright, use freely\x00"...)},
		{"wtpt", xyz(0.9642, 1, 0.8249)},
	}, colours...)
	return fmt.Sprintf("[/ICCBased %d 0 R]", p.addStream(fmt.Sprintf("/N %d", components), profile(space, tags)))
}

// rgbProfile returns the primaries of sRGB, adapted to the white point D50.
func rgbProfile() []tag {
	c := curve()
	return []tag{
		{"rXYZ", xyz(0.4361, 0.2225, 0.0139)}, {"gXYZ", xyz(0.3851, 0.7169, 0.0971)}, {"bXYZ", xyz(0.1431, 0.0606, 0.7141)},
		{"rTRC", c}, {"gTRC", c}, {"bTRC", c},
	}
}

// tag is an element of an ICC profile (ICC.1:1998-09 6.2).
type tag struct {
	name    string
	content []byte
}

func profile(space string, tags []tag) []byte {
	be := binary.BigEndian
	out := make([]byte, 128, 2048) // the header, 6.1
	be.PutUint32(out[8:], 0x02100000)
	copy(out[12:], "mntr"+space+"XYZ ")
	be.PutUint16(out[24:], 2026) // year, month and day of the profile
	be.PutUint16(out[26:], 1)
	be.PutUint16(out[28:], 1)
	copy(out[36:], "acsp")
	copy(out[68:], xyz(0.9642, 1, 0.8249)[8:])
	out = be.AppendUint32(out, uint32(len(tags)))
	var contents []byte
	for i, t := range tags {
		at := 128 + 4 + 12*len(tags) + len(contents)
		if i > 0 && slices.Equal(t.content, tags[i-1].content) { // all colours share one curve
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

// description returns a textDescriptionType (6.5.16) without Unicode and script.
func description(text string) []byte {
	out := binary.BigEndian.AppendUint32([]byte("desc\x00\x00\x00\x00"), uint32(len(text)+1))
	return append(append(out, text...), make([]byte, 1+4+4+2+1+67)...)
}

// xyz returns an XYZType (6.5.26).
func xyz(x, y, z float64) []byte {
	out := []byte("XYZ \x00\x00\x00\x00")
	for _, v := range []float64{x, y, z} {
		out = binary.BigEndian.AppendUint32(out, uint32(math.Round(v*65536)))
	}
	return out
}

// curve returns a curveType (6.5.2) with the light intensity of each sRGB value.
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
