package doc

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

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
