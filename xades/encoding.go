package xades

import (
	"bytes"

	"github.com/innsigli/innsigli/internal/xmldoc"
)

// encoding is how ASCII text stands in a document. The numbers are stored, and stay what they are.
type encoding int

const (
	singleBytes  encoding = iota // UTF-8, and all charsets that have ASCII in single bytes
	littleEndian                 // UTF-16LE
	bigEndian                    // UTF-16BE
)

// encodingOf is that of a document.
func encodingOf(d *xmldoc.Document) encoding {
	letter := d.Encode("a")
	switch {
	case len(letter) == 1:
		return singleBytes
	case letter[0] == 'a':
		return littleEndian
	}
	return bigEndian
}

// width is how many bytes a character of ASCII takes.
func (e encoding) width() int64 {
	if e == singleBytes {
		return 1
	}
	return 2
}

// encode is ASCII text as bytes of the document.
func (e encoding) encode(ascii string) []byte {
	if e == singleBytes {
		return []byte(ascii)
	}
	b := make([]byte, 2*len(ascii))
	low := 0
	if e == bigEndian {
		low = 1
	}
	for i := range len(ascii) {
		b[2*i+low] = ascii[i]
	}
	return b
}

// isSpace says whether text is white space, as it is written (XML 1.0, production 3).
func (e encoding) isSpace(b []byte) bool {
	for ; len(b) > 0; b = b[e.width():] {
		space := false
		for _, c := range []string{" ", "\t", "\r", "\n"} {
			space = space || bytes.HasPrefix(b, e.encode(c))
		}
		if !space {
			return false
		}
	}
	return true
}
