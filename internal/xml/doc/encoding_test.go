package doc_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// Byte order marks.
const (
	utf8Mark = "\xEF\xBB\xBF"
	leMark   = "\xFF\xFE"
	beMark   = "\xFE\xFF"
)

// encodingRules are those of XML 1.0 4.3.3 and appendix F.
var encodingRules = []rule{
	accepted("UTF-8 with a byte order mark", utf8Mark+"<a>é</a>", utf8Mark+declared("UTF-8", "é")),
	accepted("single-byte charsets", declared("US-ASCII", "e"), declared("ISO-8859-1", "\xE9\x85"), declared("iso-8859-15", "\xA4"),
		declared("windows-1252", "\x80")),
	accepted("UTF-16 with a byte order mark", leMark+le("<a>é\U0001F58B</a>"), beMark+be("<a>é\U0001F58B</a>"), leMark+le(declared("UTF-16", "é"))),
	accepted("UTF-16 without a byte order mark", be(declared("UTF-16BE", "é")), le(declared("UTF-16", "é"))),
	refused("invalid UTF-8", "", "<a>\xE9</a>", "<a>\xC0\xBC</a>", "<a>\xED\xA0\x80</a>", "<a/>\xFF", "\x4C\x6F\xA7\x94\x93"),
	refused("other characters than ASCII", "", declared("US-ASCII", "é")),
	refused("declared encoding differs from the byte order mark", laxEncoding,
		utf8Mark+declared("ISO-8859-1", "e"), leMark+le(declared("UTF-8", "e"))),
	refused("UTF-16 declared in UTF-8, or in the other byte order", "", declared("UTF-16", "e"), beMark+be(declared("UTF-16LE", "e"))),
	malformed("UTF-16 without byte order mark and declaration", le("<a/>")),
	refused("unpaired surrogate", "", leMark+le("<a>")+"\x00\xD8"+le("</a>"), leMark+le("<a>")+"\x00\xDC\x00\xD8"+le("</a>")),
	refused("half of a code unit", laxEncoding, leMark+le("<a/>")+"\n"),
	malformed("UTF-32", "\xFF\xFE\x00\x00<\x00\x00\x00a\x00\x00\x00/\x00\x00\x00>\x00\x00\x00"),
	refused("unknown charset", "", declared("IBM037", "e"), declared("x-none", "e")),
	refused("charset that only libxml2 supports", otherCharsets, declared("ISO-2022-JP", "e"), declared("HZ-GB-2312", "e"),
		declared("Shift_JIS", "\x83\x5C"), declared("EUC-JP", "\xA4\xA2"), declared("GB18030", "\xB0\xA1"), declared("windows-1255", "\xE0"),
		declared("ISO-8859-10", "\xE0"), declared("csISOLatin1", "\xE9"), declared("UTF-7", "e")),
	malformed("malformed name of an encoding", declared("-", "e"), declared("", "e")),
}

func refused(name, libxml2 string, documents ...string) rule {
	return rule{name, xmldoc.ErrEncoding, libxml2, documents}
}

// TestPositions checks Span, Inside, Declaration and Encoding in documents of each encoding that are
// longer than the distance between source marks.
func TestPositions(t *testing.T) {
	letters := strings.Repeat("<f>é</f>", 900)
	for _, tc := range []struct {
		name, mark, label, content string
		encode                     func(string) string
	}{
		{"UTF-8", "", "UTF-8", letters, func(text string) string { return text }},
		{"UTF-8 with a byte order mark", utf8Mark, "UTF-8", letters, func(text string) string { return text }},
		{"UTF-16LE", leMark, "UTF-16", letters + "\U0001F58B", le},
		{"UTF-16BE", beMark, "UTF-16", letters + "\U0001F58B", be},
		{"UTF-16BE without a byte order mark", "", "UTF-16BE", letters, be},
		{"ISO-8859-1", "", "ISO-8859-1", letters, in(charmap.ISO8859_1)},
		{"windows-1252", "", "windows-1252", letters + "€", in(charmap.Windows1252)},
		{"KOI8-R", "", "KOI8-R", strings.ReplaceAll(letters, "é", "ж"), in(charmap.KOI8R)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			declaration := fmt.Sprintf("<?xml version=\"1.0\" encoding=\"%s\"?>", tc.label)
			body := tc.content + "<b c='d'>" + tc.content + "</b ><e />" + tc.content
			source := tc.mark + tc.encode(declaration+"<a>"+body+"</a>\n")
			d := parse(t, source)
			if got, want := int(d.Declaration()), len(tc.mark)+len(tc.encode(declaration)); got != want {
				t.Errorf("the declaration ends at %d, want %d", got, want)
			}
			if got, want := string(d.Encoding().Encode("<b/>&#233;")), tc.encode("<b/>&#233;"); got != want {
				t.Errorf("encoded: got %q, want %q", got, want)
			}
			letter := tc.content[len("<f>"):strings.Index(tc.content, "</f>")]
			want := map[string][3]string{ // start tag, content, end tag
				"a": {"<a>", body, "</a>"}, "b": {"<b c='d'>", tc.content, "</b >"}, "e": {"<e ", "", "/>"}, "f": {"<f>", letter, "</f>"},
			}
			for i, e := range elementsOf(d) {
				parts := want[e.Name().Local]
				if e.Is("", "f") && i%50 != 0 {
					continue
				}
				start, end := e.Span()
				first, last, ok := e.ContentRange()
				got := [3]string{source[start:first], source[first:last], source[last:end]}
				if got != [3]string{tc.encode(parts[0]), tc.encode(parts[1]), tc.encode(parts[2])} || ok != (e.Name().Local != "e") {
					t.Fatalf("parts of %s: got %.40q (%t), want %.40q", e.Name().Local, got, ok, parts)
				}
			}
		})
	}
}

// TestOpening checks the encoding and the length of the beginning of documents, whose rest is not
// parsed (XML 1.0 2.8 and appendix F).
func TestOpening(t *testing.T) {
	declaration := "<?xml version='1.0'?>"
	for _, tc := range []struct {
		name, opening, rest string
		encoding            xmldoc.Encoding
		err                 error
	}{
		{"empty document", "", "", xmldoc.SingleBytes, nil},
		{"no declaration", "", "<a>", xmldoc.SingleBytes, nil},
		{"declaration", declaration, "\n<a", xmldoc.SingleBytes, nil},
		{"byte order mark and declaration", utf8Mark + declaration, "<a", xmldoc.SingleBytes, nil},
		{"another instruction", "", "<?xml-stylesheet href='?>'?><a", xmldoc.SingleBytes, nil},
		{"ISO-8859-1", "<?xml version='1.0' encoding='ISO-8859-1'?>", "<\xE9", xmldoc.SingleBytes, nil},
		{"UTF-16LE with a byte order mark", leMark, le("<a>"), xmldoc.LittleEndian, nil},
		{"UTF-16BE with both", beMark + be("<?xml version='1.0' encoding='UTF-16'?>"), be("<a>"), xmldoc.BigEndian, nil},
		{"UTF-16LE with a declaration", le("<?xml version='1.0' encoding='UTF-16LE'?>"), le("<a>"), xmldoc.LittleEndian, nil},
		{"declaration without an end", "", "<?xml version='1.0'", xmldoc.SingleBytes, nil},
		{"declaration without a version", "", "<?xml ?><a/>", 0, xmldoc.ErrMalformed},
		{"unknown charset", "", "<?xml version='1.0' encoding='x-none'?><a/>", 0, xmldoc.ErrEncoding},
		{"UTF-16BE declared as UTF-16LE", "", beMark + be("<?xml version='1.0' encoding='UTF-16LE'?>"), 0, xmldoc.ErrEncoding},
	} {
		t.Run(tc.name, func(t *testing.T) {
			encoding, end, err := xmldoc.ReadEncoding([]byte(tc.opening + tc.rest))
			if !errors.Is(err, tc.err) || tc.err == nil && (encoding != tc.encoding || end != int64(len(tc.opening))) {
				t.Errorf("got %v, %d, %v; want %v, %d, %v", encoding, end, err, tc.encoding, len(tc.opening), tc.err)
			}
		})
	}
}

// TestIsSpace checks encoded white space, and that references and other spaces are none.
func TestIsSpace(t *testing.T) {
	for text, want := range map[string]bool{"": true, " \t\r\n": true, " a": false, "\u00A0": false, "&#32;": false} {
		for e, b := range map[xmldoc.Encoding]string{xmldoc.SingleBytes: text, xmldoc.LittleEndian: le(text), xmldoc.BigEndian: be(text)} {
			if got := e.IsSpace([]byte(b)); got != want {
				t.Errorf("%q in encoding %v: got %t, want %t", text, e, got, want)
			}
		}
	}
}

// declared is a document that declares an encoding.
func declared(label, content string) string {
	return fmt.Sprintf("<?xml version='1.0' encoding='%s'?><a>%s</a>", label, content)
}

func le(text string) string { return encodeUTF16(binary.LittleEndian, text) }
func be(text string) string { return encodeUTF16(binary.BigEndian, text) }

func encodeUTF16(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

func in(charset *charmap.Charmap) func(string) string {
	return func(text string) string {
		encoded, err := charset.NewEncoder().String(text)
		if err != nil {
			panic(err)
		}
		return encoded
	}
}
