package doc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

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
