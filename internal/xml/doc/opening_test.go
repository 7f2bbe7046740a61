package doc_test

import (
	"errors"
	"testing"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// XML 1.0 2.8 and appendix F: what comes before the content, in documents whose rest is not looked at.
func TestOpening(t *testing.T) {
	short := "<?xml version='1.0'?>"
	for _, tc := range []struct {
		name, opening, rest string
		encoding            xmldoc.Encoding
		err                 error
	}{
		{"nothing", "", "<a>", xmldoc.SingleBytes, nil},
		{"an empty document", "", "", xmldoc.SingleBytes, nil},
		{"a declaration", short, "\n<a", xmldoc.SingleBytes, nil},
		{"a mark", utf8Mark, "<a", xmldoc.SingleBytes, nil},
		{"both", utf8Mark + short, "<a", xmldoc.SingleBytes, nil},
		{"another instruction", "", "<?xml-stylesheet href='?>'?><a", xmldoc.SingleBytes, nil},
		{"Latin 1", "<?xml version='1.0' encoding='ISO-8859-1'?>", "<\xE9", xmldoc.SingleBytes, nil},
		{"UTF-16LE with a mark", leMark, le("<a>"), xmldoc.LittleEndian, nil},
		{"UTF-16BE with both", beMark + be("<?xml version='1.0' encoding='UTF-16'?>"), be("<a>"), xmldoc.BigEndian, nil},
		{"UTF-16LE with a declaration", le("<?xml version='1.0' encoding='UTF-16LE'?>"), le("<a>"), xmldoc.LittleEndian, nil},
		{"a declaration without an end, which Parse refuses", "", "<?xml version='1.0'", xmldoc.SingleBytes, nil},
		{"a declaration without a version", "", "<?xml ?><a/>", 0, xmldoc.ErrMalformed},
		{"no such charset", "", "<?xml version='1.0' encoding='x-none'?><a/>", 0, xmldoc.ErrEncoding},
		{"UTF-16BE that says LE", "", beMark + be("<?xml version='1.0' encoding='UTF-16LE'?>"), 0, xmldoc.ErrEncoding},
	} {
		t.Run(tc.name, func(t *testing.T) {
			encoding, end, err := xmldoc.Opening([]byte(tc.opening + tc.rest))
			if !errors.Is(err, tc.err) || tc.err == nil && (err != nil || encoding != tc.encoding || end != int64(len(tc.opening))) {
				t.Errorf("%v, %d, %v; want %v, %d, %v", encoding, end, err, tc.encoding, len(tc.opening), tc.err)
			}
		})
	}
}

// White space is judged as it is written.
func TestIsSpace(t *testing.T) {
	for text, want := range map[string]bool{"": true, " \t\r\n": true, " a": false, "\u00A0": false, "&#32;": false} {
		for e, b := range map[xmldoc.Encoding]string{xmldoc.SingleBytes: text, xmldoc.LittleEndian: le(text), xmldoc.BigEndian: be(text)} {
			if got := e.IsSpace([]byte(b)); got != want {
				t.Errorf("%q in %v: %v", text, e, got)
			}
		}
	}
}
