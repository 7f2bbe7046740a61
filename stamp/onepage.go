package stamp

import (
	"bytes"
	"compress/zlib"
	"fmt"
)

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
