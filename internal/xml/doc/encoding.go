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

// Encoding is how ASCII is encoded in a source. Other packages store the numbers, which never
// change.
type Encoding int

const (
	SingleBytes  Encoding = iota // UTF-8, and all charsets that have ASCII in single bytes
	LittleEndian                 // UTF-16LE
	BigEndian                    // UTF-16BE
)

// Encoding returns the encoding of the document.
func (d *Document) Encoding() Encoding {
	switch d.coding.order {
	case binary.LittleEndian:
		return LittleEndian
	case binary.BigEndian:
		return BigEndian
	}
	return SingleBytes
}

// Width returns the number of bytes of an ASCII character.
func (e Encoding) Width() int64 {
	if e == SingleBytes {
		return 1
	}
	return 2
}

// Encode encodes ASCII text.
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

// Decode returns ASCII text that Encode has encoded.
func (e Encoding) Decode(encoded []byte) string {
	if e == SingleBytes {
		return string(encoded)
	}
	at := 0 // of the ASCII in each pair of bytes
	if e == BigEndian {
		at = 1
	}
	ascii := make([]byte, 0, len(encoded)/2)
	for ; at < len(encoded); at += 2 {
		ascii = append(ascii, encoded[at])
	}
	return string(ascii)
}

// IsSpace reports whether encoded bytes consist of white space only.
func (e Encoding) IsSpace(b []byte) bool {
	for ; len(b) > 0; b = b[e.Width():] {
		white := func(c rune) bool { return bytes.HasPrefix(b, e.Encode(string(c))) }
		if !strings.ContainsFunc(Space, white) {
			return false
		}
	}
	return true
}

// ReadEncoding reads the encoding of a document from its first bytes, and returns the offset of the end
// of its byte order mark and XML declaration. Errors are those of [Parse].
func ReadEncoding(b []byte) (e Encoding, end int64, err error) {
	d := &Document{source: b}
	d.detectEncoding()
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

// coding describes how the text is encoded in the source. In UTF-8 the text is the source after its
// byte order mark. Another source is decoded once, and marks allow decoding parts again to find the
// source offset of a byte of the text.
type coding struct {
	mark    int                          // the length of the byte order mark
	order   byteOrder                    // for UTF-16; else nil
	decoder func() transform.Transformer // nil for UTF-8
	marks   []sourceMark
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// sourceMark is an offset in the text and the corresponding offset in the source.
type sourceMark struct{ text, source int }

const sourceMarkDistance = 1024

// decode detects the encoding and decodes the text (XML 1.0 4.3.3, appendix F).
func (d *Document) decode() error {
	if d.detectEncoding(); d.coding.order != nil {
		return d.decodeUTF16()
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
	return nil
}

// detectEncoding looks for a byte order mark, or for "<?" in UTF-16 without one.
func (d *Document) detectEncoding() {
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

// decodeUTF16 decodes UTF-16. Then it reads the declaration, which must name UTF-16 if there is no
// byte order mark, and must never name another encoding.
func (d *Document) decodeUTF16() error {
	order := d.coding.order
	d.coding.decoder = func() transform.Transformer { return utf16Decoder{order: order} }
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
	return fmt.Errorf("%w: the XML declaration of a UTF-16 document names another encoding", ErrEncoding)
}

// transform decodes the text, and adds a sourceMark for each piece of it.
func (d *Document) transform() error {
	decoder, at := d.coding.decoder(), d.coding.mark
	d.text = make([]byte, 0, len(d.source))
	var piece [sourceMarkDistance]byte
	for at < len(d.source) {
		written, read, err := decoder.Transform(piece[:], d.source[at:], true)
		if err != nil && !errors.Is(err, transform.ErrShortDst) || read == 0 {
			return fmt.Errorf("%w: byte %d is not in the encoding of the document", ErrEncoding, at+read)
		}
		d.coding.marks = append(d.coding.marks, sourceMark{len(d.text), at})
		d.text = append(d.text, piece[:written]...)
		at += read
	}
	return nil
}

// charsets are the supported charsets other than Unicode's, by their IANA names. Java and libxml2
// decode each byte to the same character, or refuse it, because all readers of signed data have to
// read the same text. East Asian charsets, whose tables differ, are not supported.
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

// decodeCharset decodes a charset other than Unicode's.
func (d *Document) decodeCharset(label string) error {
	if d.coding.mark > 0 {
		return fmt.Errorf("%w: a byte order mark of UTF-8 and a declaration of another encoding", ErrEncoding)
	}
	label = strings.ToUpper(label)
	if label == "US-ASCII" {
		d.text = d.source
		return d.checkASCII()
	}
	charset, ok := charsets[label]
	if !ok {
		return fmt.Errorf("%w: the declared encoding is not supported", ErrEncoding)
	}
	d.coding.decoder = func() transform.Transformer { return charset.NewDecoder() }
	if err := d.transform(); err != nil {
		return err
	}
	if bytes.ContainsRune(d.text, utf8.RuneError) {
		return fmt.Errorf("%w: not in the declared encoding", ErrEncoding)
	}
	return nil
}

func (d *Document) checkASCII() error {
	for i, b := range d.source {
		if b >= utf8.RuneSelf {
			return fmt.Errorf("%w: byte %d is not ASCII", ErrEncoding, i)
		}
	}
	return nil
}

// utf16Decoder decodes UTF-16. It refuses unpaired surrogates, which the decoder of
// golang.org/x/text replaces.
type utf16Decoder struct {
	transform.NopResetter
	order byteOrder
}

var errSurrogate = errors.New("an unpaired surrogate")

func (w utf16Decoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
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

// character returns the first character and its length in bytes, which is 0 if it is incomplete.
func (w utf16Decoder) character(src []byte) (r rune, n int) {
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
