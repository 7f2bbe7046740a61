package doc_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

const (
	utf8Mark = "\xEF\xBB\xBF"
	leMark   = "\xFF\xFE"
	beMark   = "\xFE\xFF"
)

// wide is text in UTF-16.
func wide(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

func le(text string) string { return wide(binary.LittleEndian, text) }
func be(text string) string { return wide(binary.BigEndian, text) }

// declared is a document in the encoding that it declares.
func declared(label, content string) string {
	return fmt.Sprintf("<?xml version='1.0' encoding='%s'?><a>%s</a>", label, content)
}

// XML 1.0 4.3.3 and appendix F.
var encoded = []judgement{
	{"UTF-8 with a mark", utf8Mark + "<a>é</a>", nil, ""},
	{"UTF-8 with a mark and a declaration", utf8Mark + declared("UTF-8", "é"), nil, ""},
	{"ASCII", declared("US-ASCII", "e"), nil, ""},
	{"Latin 1", declared("ISO-8859-1", "\xE9\x85"), nil, ""},
	{"Latin 9 in lower case", declared("iso-8859-15", "\xA4"), nil, ""},
	{"Windows 1252", declared("windows-1252", "\x80"), nil, ""},
	{"UTF-16 LE with a mark", leMark + le("<a>é\U0001F58B</a>"), nil, ""},
	{"UTF-16 BE with a mark", beMark + be("<a>é\U0001F58B</a>"), nil, ""},
	{"UTF-16 with a mark and a declaration", leMark + le(declared("UTF-16", "é")), nil, ""},
	{"UTF-16 BE without a mark", be(declared("UTF-16BE", "é")), nil, ""},
	{"UTF-16 LE without a mark", le(declared("UTF-16", "é")), nil, ""},

	{"not UTF-8", "<a>\xE9</a>", xmldoc.ErrEncoding, ""},
	{"an overlong form", "<a>\xC0\xBC</a>", xmldoc.ErrEncoding, ""},
	{"half of a pair in UTF-8", "<a>\xED\xA0\x80</a>", xmldoc.ErrEncoding, ""},
	{"not UTF-8 after the root", "<a/>\xFF", xmldoc.ErrEncoding, ""},
	{"not ASCII", declared("US-ASCII", "é"), xmldoc.ErrEncoding, ""},
	{"a mark of UTF-8 and Latin 1 declared", utf8Mark + declared("ISO-8859-1", "e"), xmldoc.ErrEncoding, laxEncoding},
	{"a mark of UTF-16 and UTF-8 declared", leMark + le(declared("UTF-8", "e")), xmldoc.ErrEncoding, laxEncoding},
	{"UTF-16 declared in UTF-8", declared("UTF-16", "e"), xmldoc.ErrEncoding, ""},
	{"UTF-16 of the other order declared", beMark + be(declared("UTF-16LE", "e")), xmldoc.ErrEncoding, ""},
	{"UTF-16 without mark and declaration", le("<a/>"), xmldoc.ErrMalformed, ""},
	{"half of a pair in UTF-16", leMark + le("<a>") + "\x00\xD8" + le("</a>"), xmldoc.ErrEncoding, ""},
	{"the second half of a pair first", leMark + le("<a>") + "\x00\xDC\x00\xD8" + le("</a>"), xmldoc.ErrEncoding, ""},
	{"half of a code unit", leMark + le("<a/>") + "\n", xmldoc.ErrEncoding, laxEncoding},
	{"UTF-32", "\xFF\xFE\x00\x00<\x00\x00\x00a\x00\x00\x00/\x00\x00\x00>\x00\x00\x00", xmldoc.ErrMalformed, ""},
	{"EBCDIC", "\x4C\x6F\xA7\x94\x93", xmldoc.ErrEncoding, ""},
	{"EBCDIC declared", declared("IBM037", "e"), xmldoc.ErrEncoding, ""},
	{"ISO 2022 declared", declared("ISO-2022-JP", "e"), xmldoc.ErrEncoding, otherCharsets},
	{"HZ declared", declared("HZ-GB-2312", "e"), xmldoc.ErrEncoding, otherCharsets},
	{"Shift_JIS", declared("Shift_JIS", "\x83\x5C"), xmldoc.ErrEncoding, otherCharsets},
	{"EUC-JP", declared("EUC-JP", "\xA4\xA2"), xmldoc.ErrEncoding, otherCharsets},
	{"GB18030", declared("GB18030", "\xB0\xA1"), xmldoc.ErrEncoding, otherCharsets},
	{"Windows 1255", declared("windows-1255", "\xE0"), xmldoc.ErrEncoding, otherCharsets},
	{"Latin 6", declared("ISO-8859-10", "\xE0"), xmldoc.ErrEncoding, otherCharsets},
	{"Latin 1 by another name", declared("csISOLatin1", "\xE9"), xmldoc.ErrEncoding, otherCharsets},
	{"UTF-7 declared", declared("UTF-7", "e"), xmldoc.ErrEncoding, otherCharsets},
	{"an encoding that nobody has", declared("x-none", "e"), xmldoc.ErrEncoding, ""},
	{"no name of an encoding", declared("-", "e"), xmldoc.ErrMalformed, ""},
	{"an empty name of an encoding", declared("", "e"), xmldoc.ErrMalformed, ""},
}

func TestParseJudgesEncodings(t *testing.T) {
	for _, tc := range encoded {
		t.Run(tc.name, func(t *testing.T) {
			_, err := xmldoc.Parse([]byte(tc.source))
			if !errors.Is(err, tc.want) || tc.want == nil && err != nil {
				t.Fatalf("%v, want %v", err, tc.want)
			}
		})
	}
}

// TestPositionsAreOfTheSource splices into documents that are not in UTF-8: what Span, Inside
// and Declaration say is cut out of the source, and read again.
func TestPositionsAreOfTheSource(t *testing.T) {
	filler := strings.Repeat("<f>\u00E9</f>", 900) // past some landmarks
	for _, tc := range []struct {
		name, mark, label, filler string
		encode                    func(string) string
	}{
		{"UTF-8", "", "UTF-8", filler, same},
		{"UTF-8 with a mark", utf8Mark, "UTF-8", filler, same},
		{"UTF-16LE", leMark, "UTF-16", filler + "\U0001F58B", le},
		{"UTF-16BE", beMark, "UTF-16", filler + "\U0001F58B", be},
		{"UTF-16BE without a mark", "", "UTF-16BE", filler, be},
		{"Latin 1", "", "ISO-8859-1", filler, in(charmap.ISO8859_1)},
		{"Windows 1252", "", "windows-1252", filler + "€", in(charmap.Windows1252)},
		{"KOI8-R", "", "KOI8-R", strings.ReplaceAll(filler, "\u00E9", "ж"), in(charmap.KOI8R)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			declaration := fmt.Sprintf("<?xml version=\"1.0\" encoding=\"%s\"?>", tc.label)
			body := "<a>" + tc.filler + "<b c='d'>" + tc.filler + "</b ><e />" + tc.filler + "</a>"
			source := []byte(tc.mark + tc.encode(declaration+body+"\n"))
			d := parse(t, source)
			if got := int(d.Declaration()); got != len(tc.mark)+len(tc.encode(declaration)) {
				t.Errorf("declaration ends at %d", got)
			}
			for i, e := range slices.Collect(elementsOf(d)) {
				if !e.Is("", "f") || i%50 == 0 {
					checkPositions(t, d, source, e, tc.encode)
				}
			}
			if got := string(d.Encoding().Encode("<b/>&#233;")); got != tc.encode("<b/>&#233;") {
				t.Errorf("encoded as %q", got)
			}
		})
	}
}

func same(text string) string { return text }

func in(e encoding.Encoding) func(string) string {
	return func(text string) string {
		encoded, err := e.NewEncoder().String(text)
		if err != nil {
			panic(err)
		}
		return encoded
	}
}

// checkPositions looks at the tags and the content of an element in the source.
func checkPositions(t *testing.T, d *xmldoc.Document, source []byte, e xmldoc.Node, encode func(string) string) {
	t.Helper()
	start, end := e.Span()
	outside := string(source[start:end])
	if !strings.HasPrefix(outside, encode("<"+e.Name().Local)) || !strings.HasSuffix(outside, encode(">")) {
		t.Fatalf("%s spans %.40q", e.Name().Local, outside)
	}
	first, last, ok := e.Inside()
	if !ok {
		if got := string(source[first:end]); got != encode("/>") {
			t.Fatalf("%s ends with %q", e.Name().Local, got)
		}
		return
	}
	if !strings.HasSuffix(string(source[start:first]), encode(">")) ||
		!strings.HasPrefix(string(source[last:end]), encode("</"+e.Name().Local)) {
		t.Fatalf("%s has %.40q in it", e.Name().Local, source[first:last])
	}
	wrapped := append(append(d.Encoding().Encode("<w>"), source[first:last]...), d.Encoding().Encode("</w>")...)
	if head := source[:d.Declaration()]; e.Text() != parse(t, append(head[:len(head):len(head)], wrapped...)).Root().Text() {
		t.Fatalf("the content of %s reads otherwise by itself", e.Name().Local)
	}
}

func parse(t testing.TB, source []byte) *xmldoc.Document {
	t.Helper()
	d, err := xmldoc.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
