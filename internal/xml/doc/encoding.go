package doc

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Encoding is how ASCII stands in a source, for who puts it between the bytes. The numbers are stored by
// others, and stay what they are.
type Encoding int

const (
	SingleBytes  Encoding = iota // UTF-8, and all charsets that have ASCII in single bytes
	LittleEndian                 // UTF-16LE
	BigEndian                    // UTF-16BE
)

// Encoding is that of the document.
func (d *Document) Encoding() Encoding {
	switch d.coding.order {
	case binary.LittleEndian:
		return LittleEndian
	case binary.BigEndian:
		return BigEndian
	}
	return SingleBytes
}

// Width is how many bytes a character of ASCII takes.
func (e Encoding) Width() int64 {
	if e == SingleBytes {
		return 1
	}
	return 2
}

// Encode is ASCII text in bytes.
func (e Encoding) Encode(ascii string) []byte {
	var order byteOrder = binary.BigEndian
	switch e {
	case SingleBytes:
		return []byte(ascii)
	case LittleEndian:
		order = binary.LittleEndian
	}
	encoded := make([]byte, 0, 2*len(ascii))
	for _, b := range []byte(ascii) {
		encoded = order.AppendUint16(encoded, uint16(b))
	}
	return encoded
}

// IsSpace says whether bytes are nothing but white space, as it is written.
func (e Encoding) IsSpace(b []byte) bool {
	for ; len(b) > 0; b = b[e.Width():] {
		white := func(c rune) bool { return bytes.HasPrefix(b, e.Encode(string(c))) }
		if !strings.ContainsFunc(Space, white) {
			return false
		}
	}
	return true
}

// Opening reads by its first bytes how a document is written, and where what comes before its content
// ends: a byte order mark and the XML declaration. The errors are those of [Parse].
func Opening(b []byte) (e Encoding, end int64, err error) {
	d := &Document{source: b}
	d.sniff()
	e, end = d.Encoding(), int64(d.coding.mark)
	if rest := b[end:]; bytes.HasPrefix(rest, e.Encode(declarationStart)) {
		if at := bytes.Index(rest, e.Encode(declarationEnd)); at >= 0 {
			end += int64(at) + e.Width()*int64(len(declarationEnd))
		}
	}
	if d, err = Parse(append(bytes.Clone(b[:end]), e.Encode("<a/>")...)); err != nil {
		return e, 0, err
	}
	return e, d.Declaration(), nil
}
