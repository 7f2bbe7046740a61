package xades

import (
	"bytes"
	"fmt"

	"github.com/innsigli/innsigli/internal/xmldoc"
)

// opening is how a document begins.
type opening struct {
	encoding encoding
	end      int64 // of the byte order mark and the XML declaration, in bytes
}

// maxOpening is the length in bytes up to which an XML declaration is looked for. There is room in it for
// all that may be said, and for white space.
const maxOpening = 4 << 10

// readOpening reads how a document begins, without the rest of it. Where that is nothing that can be read,
// neither is the document.
func readOpening(doc Document) (o opening, err error) {
	b := make([]byte, min(doc.Size, maxOpening))
	if err := readFull(doc, b, 0); err != nil {
		return o, fmt.Errorf("xades: reading the document: %w", err)
	}
	o.encoding = encodingAt(b)
	head := b[:declarationEnd(b, o.encoding)]
	d, err := xmldoc.Parse(append(bytes.Clone(head), o.encoding.encode("<a/>")...))
	if err != nil {
		return o, readError(err)
	}
	return opening{encodingOf(d), d.Declaration()}, nil
}

// encodingAt is the encoding by the first bytes of a document (XML 1.0 appendix F.1).
func encodingAt(b []byte) encoding {
	switch {
	case bytes.HasPrefix(b, []byte("\xFF\xFE")), bytes.HasPrefix(b, []byte("<\x00")):
		return littleEndian
	case bytes.HasPrefix(b, []byte("\xFE\xFF")), bytes.HasPrefix(b, []byte("\x00<")):
		return bigEndian
	}
	return singleBytes
}

// declarationEnd is where a byte order mark and what looks like an XML declaration end.
func declarationEnd(b []byte, e encoding) int {
	mark := 0
	for _, m := range []string{"\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF"} {
		if bytes.HasPrefix(b, []byte(m)) {
			mark = len(m)
		}
	}
	end := e.encode("?>")
	if at := bytes.Index(b[mark:], end); at >= 0 && bytes.HasPrefix(b[mark:], e.encode("<?xml")) {
		return mark + at + len(end)
	}
	return mark
}
