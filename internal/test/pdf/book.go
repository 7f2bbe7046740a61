package pdf

import (
	"fmt"
	"strings"
)

// A Leaf is an A4 page of a [Book]: lines of text in Latin-1, or a scanned image.
type Leaf struct {
	Text          []string
	Scan          []byte // a JPEG in YCbCr; nil: none
	Width, Height int    // of Scan, in pixels
}

// Book makes a file with a page for each leaf.
func Book(leaves []Leaf) []byte {
	b := builder{offsets: make(map[int]int)}
	b.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	objects := map[int]string{
		1: "<< /Type /Catalog /Pages 2 0 R >>",
		3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	}
	kids := ""
	for i, leaf := range leaves {
		page, content, scan := 10+3*i, 11+3*i, 12+3*i
		kids += fmt.Sprintf("%d 0 R ", page)
		resources := "/Font << /F 3 0 R >>"
		if leaf.Scan != nil {
			resources = fmt.Sprintf("/XObject << /Scan %d 0 R >>", scan)
			b.stream(scan, fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode",
				leaf.Width, leaf.Height), leaf.Scan)
		}
		b.stream(content, "", []byte(leaf.content()))
		objects[page] = fmt.Sprintf("<< /Type /Page /Parent 2 0 R /Contents %d 0 R /Resources << %s >> >>", content, resources)
	}
	objects[2] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d /MediaBox [0 0 595 842] >>", kids, len(leaves))
	return b.finishTable(objects)
}

func (l Leaf) content() string {
	if l.Scan != nil {
		return "595 0 0 842 0 0 cm /Scan Do"
	}
	var out strings.Builder
	out.WriteString("BT /F 11 Tf 14 TL 50 790 Td\n")
	for _, line := range l.Text {
		latin := make([]byte, 0, len(line))
		for _, letter := range line {
			latin = append(latin, byte(letter))
		}
		fmt.Fprintf(&out, "<%x> '\n", latin)
	}
	out.WriteString("ET")
	return out.String()
}
