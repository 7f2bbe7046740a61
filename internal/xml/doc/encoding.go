package doc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
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

// coding is how the text is written in the source. A source in UTF-8 is the text, after its byte
// order mark; others are decoded once, and marks say where to decode again to find out where a byte
// of the text comes from.
type coding struct {
	mark    int                          // the length of the byte order mark
	order   byteOrder                    // of UTF-16; else nil
	decoder func() transform.Transformer // nil for UTF-8
	marks   []landmark
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// landmark is a byte of the text with the byte of the source that it comes from.
type landmark struct{ text, source int }

const landmarkDistance = 1024

// decode finds out how the source is written and makes the text of it (XML 1.0 4.3.3, appendix F).
func (d *Document) decode() error {
	if d.sniff(); d.coding.order != nil {
		return d.decodeWide()
	}
	declared, _, err := parseDeclaration(d.source[d.coding.mark:])
	if err != nil {
		return fmt.Errorf("%w: XML declaration: %w", ErrMalformed, err)
	}
	if declared == "" || strings.EqualFold(declared, "UTF-8") {
		d.text = d.source[d.coding.mark:]
	} else if err := d.decodeCharset(declared); err != nil {
		return err
	}
	if !utf8.Valid(d.text) {
		return fmt.Errorf("%w: not UTF-8", ErrEncoding)
	}
	return nil
}

// sniff looks for a byte order mark, and for "<?" in UTF-16 where there is none.
func (d *Document) sniff() {
	for _, s := range []struct {
		start string
		mark  int
		order byteOrder
	}{
		{"\xEF\xBB\xBF", 3, nil},
		{"\xFF\xFE", 2, binary.LittleEndian},
		{"\xFE\xFF", 2, binary.BigEndian},
		{"<\x00?\x00", 0, binary.LittleEndian},
		{"\x00<\x00?", 0, binary.BigEndian},
	} {
		if bytes.HasPrefix(d.source, []byte(s.start)) {
			d.coding.mark, d.coding.order = s.mark, s.order
			return
		}
	}
}

// decodeWide decodes UTF-16. Its declaration can be read only then; without a byte order mark it has
// to say so, and it cannot say something else.
func (d *Document) decodeWide() error {
	order := d.coding.order
	d.coding.decoder = func() transform.Transformer { return wide{order: order} }
	if err := d.transform(); err != nil {
		return err
	}
	declared, _, err := parseDeclaration(d.text)
	if err != nil {
		return fmt.Errorf("%w: XML declaration: %w", ErrMalformed, err)
	}
	ordered := "UTF-16BE"
	if order == binary.LittleEndian {
		ordered = "UTF-16LE"
	}
	switch {
	case declared == "" && d.coding.mark > 0, strings.EqualFold(declared, "UTF-16"), strings.EqualFold(declared, ordered):
		return nil
	}
	return fmt.Errorf("%w: UTF-16 is declared as something else", ErrEncoding)
}

// transform makes the text, and a landmark for each piece of it.
func (d *Document) transform() error {
	decoder, at := d.coding.decoder(), d.coding.mark
	d.text = make([]byte, 0, len(d.source))
	var piece [landmarkDistance]byte
	for at < len(d.source) {
		written, read, err := decoder.Transform(piece[:], d.source[at:], true)
		if err != nil && !errors.Is(err, transform.ErrShortDst) || read == 0 {
			return fmt.Errorf("%w: byte %d is not in the encoding of the document", ErrEncoding, at+read)
		}
		d.coding.marks = append(d.coding.marks, landmark{len(d.text), at})
		d.text = append(d.text, piece[:written]...)
		at += read
	}
	return nil
}

// charsets are those beside Unicode's that are read, by their names in the registry of IANA. Each byte
// stands for the same character to Java and to libxml2, or is refused: what is signed has to be the
// same text to all who read it. Charsets of East Asia, in which their tables differ, are not among them.
var charsets = map[string]*charmap.Charmap{
	"ISO-8859-1":   charmap.ISO8859_1,
	"ISO-8859-2":   charmap.ISO8859_2,
	"ISO-8859-3":   charmap.ISO8859_3,
	"ISO-8859-4":   charmap.ISO8859_4,
	"ISO-8859-5":   charmap.ISO8859_5,
	"ISO-8859-6":   charmap.ISO8859_6,
	"ISO-8859-7":   charmap.ISO8859_7,
	"ISO-8859-8":   charmap.ISO8859_8,
	"ISO-8859-9":   charmap.ISO8859_9,
	"ISO-8859-13":  charmap.ISO8859_13,
	"ISO-8859-15":  charmap.ISO8859_15,
	"ISO-8859-16":  charmap.ISO8859_16,
	"WINDOWS-1250": charmap.Windows1250,
	"WINDOWS-1251": charmap.Windows1251,
	"WINDOWS-1252": charmap.Windows1252,
	"WINDOWS-1253": charmap.Windows1253,
	"WINDOWS-1254": charmap.Windows1254,
	"WINDOWS-1256": charmap.Windows1256,
	"WINDOWS-1257": charmap.Windows1257,
	"KOI8-R":       charmap.KOI8R,
	"IBM866":       charmap.CodePage866,
}

// decodeCharset decodes a charset that is not Unicode's.
func (d *Document) decodeCharset(label string) error {
	if d.coding.mark > 0 {
		return fmt.Errorf("%w: a byte order mark of UTF-8, and another encoding declared", ErrEncoding)
	}
	label = strings.ToUpper(label)
	if label == "US-ASCII" {
		d.text = d.source
		return d.checkASCII()
	}
	charset, ok := charsets[label]
	if !ok {
		return fmt.Errorf("%w: the encoding that is declared is not read", ErrEncoding)
	}
	d.coding.decoder = func() transform.Transformer { return charset.NewDecoder() }
	if err := d.transform(); err != nil {
		return err
	}
	if bytes.ContainsRune(d.text, utf8.RuneError) {
		return fmt.Errorf("%w: not in the encoding that is declared", ErrEncoding)
	}
	return nil
}

func (d *Document) checkASCII() error {
	for i, b := range d.source {
		if b >= utf8.RuneSelf {
			return fmt.Errorf("%w: byte %d is not of ASCII", ErrEncoding, i)
		}
	}
	return nil
}

// wide decodes UTF-16, and refuses half of a surrogate pair where the decoder of golang.org/x/text
// replaces it.
type wide struct {
	transform.NopResetter
	order byteOrder
}

var errSurrogate = errors.New("half of a surrogate pair")

func (w wide) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		r, n := w.character(src[nSrc:])
		switch {
		case n == 0 && !atEOF:
			return nDst, nSrc, transform.ErrShortSrc
		case n == 0:
			return nDst, nSrc, errSurrogate
		case nDst+utf8.RuneLen(r) > len(dst):
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc += n
	}
	return nDst, nSrc, nil
}

// character is the first character with its length in bytes; 0 when it is not complete.
func (w wide) character(src []byte) (r rune, n int) {
	if len(src) < 2 {
		return 0, 0
	}
	r = rune(w.order.Uint16(src))
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(src) < 4 {
		return 0, 0
	}
	if r = utf16.DecodeRune(r, rune(w.order.Uint16(src[2:]))); r == utf8.RuneError {
		return 0, 0
	}
	return r, 4
}
