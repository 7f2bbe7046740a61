package xades_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	"github.com/innsigli/innsigli/xades"
)

// utf16 encodes text of the basic multilingual plane in UTF-16 with a byte order mark.
func utf16(s string, little bool) []byte {
	var b []byte
	for _, r := range "\uFEFF" + s {
		if high, low := byte(r>>8), byte(r); little {
			b = append(b, low, high)
		} else {
			b = append(b, high, low)
		}
	}
	return b
}

// latin1 encodes text in ISO-8859-1.
func latin1(s string) []byte {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return b
}

const (
	declaration = `<?xml version="1.0" encoding="UTF-8"?>`
	inLatin1    = `<?xml version="1.0" encoding="ISO-8859-1"?>`
)

// shapes are documents with syntax that a parser and serializer would not preserve.
var shapes = map[string][]byte{
	"ordinary":                         []byte(contract),
	"no declaration, no final newline": []byte(`<a><b/></a>`),
	"CRLF":                             []byte("<?xml version='1.0' standalone='yes'?>\r\n<a x='1\r\n2'>\r\n\t<b>one\r\ntwo</b>\r\n</a >\r\n"),
	"byte order mark and declaration":  []byte("\uFEFF" + declaration + "\n<á>þ</á>"),
	"byte order mark":                  []byte("\uFEFF<á>þ</á>"),
	"instructions and comments":        []byte(declaration + "\n<?style href=\"a&b\"?>\n<!-- before -->\n<a>\n<!-- inside --><?go on?></a>\n<!-- after -->\n<?end?>\n\n"),
	"CDATA":                            []byte("<a><![CDATA[<b>&amp;</b>]]>]]&gt;<![CDATA[]]></a>"),
	"references and quotes":            []byte(`<a x='"' y="'&#10;&#x9;&lt;"  z = "&quot;">&#13;&#xe6;&gt;></a>`),
	"prefix of an underscore":          []byte(`<_:é-1.x xmlns:_="urn:a" xmlns:b="urn:a" b:q="1"><b:x xmlns:_="urn:b" _:y=""/></_:é-1.x>`),
	"prefixes of signatures, bound to other namespaces": []byte(`<ds:a xmlns:ds="urn:a" xmlns:xades="urn:b"><xades:b xmlns:dsig-filter2="urn:c" dsig-filter2:c=""/></ds:a>`),
	"prefix of signatures in use":                       []byte(`<a xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:KeyName>þ</ds:KeyName></a>`),
	"default namespace":                                 []byte(`<a xmlns="urn:a"><b xmlns=""><c xmlns="http://www.w3.org/2000/09/xmldsig#"/></b></a>`),
	"empty root":                                        []byte(`<a/>`),
	"empty root with attributes":                        []byte(declaration + "\n<þ:a xmlns:þ='urn:a'\n x='/>' />\n"),
	"identifiers":                                       []byte(`<a Id="a"><b xml:id="b"/><c ID="c"/><d id="d"/></a>`),
	"identifiers that occur twice":                      []byte(`<a Id="a"><b xml:id="a"/><c id="1"/><c id="1"/></a>`),
	"supplementary characters":                          []byte(`<a b="🖋">𝔄</a>`),
	"UTF-16LE":                                          utf16(`<?xml version="1.0" encoding="UTF-16"?><þ a="ð"><b>ő</b></þ>`, true),
	"UTF-16BE":                                          utf16(`<?xml version="1.0" encoding="UTF-16"?><þ a="ð"/>`, false),
	"UTF-16LE without a byte order mark":                utf16(`<?xml version="1.0" encoding="UTF-16LE"?><a>þ</a>`, true)[2:],
	"ISO-8859-1":                                        latin1(inLatin1 + `<þ a="ð">é</þ>`),
	"ISO-8859-1, empty root":                            latin1(inLatin1 + `<þ a="ð" />`),
}

// TestDocumentIsKept checks that signing only adds bytes to a document, and that XML Security Library finds the signature
// valid.
func TestDocumentIsKept(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	var documents [][]byte
	for name, b := range shapes {
		for _, k := range packings {
			r, err := xades.Sign(t.Context(), document(b), p.key, p.signer, k.options(), ades.Sources{})
			if err != nil {
				t.Fatalf("%s, %s: %v", name, k.name, err)
			}
			if !keepsDocument(r, b) || k.base64 != hasBase64(r) {
				t.Errorf("%s, %s: the revision changes the document: %+v", name, k.name, r)
			}
			signed := apply(t, b, r)
			report := ades.Report{Signatures: verify(t, signed, p.ca)}
			if got := verdict(&report); !strings.HasPrefix(got, "TRY_LATER WHOLE_DOCUMENT intact") || !report.Passed() {
				t.Errorf("%s, %s: got %s\n%q", name, k.name, got, signed)
			}
			documents = append(documents, signed)
		}
	}
	checkXMLSec(t, documents, func(int) bool { return true })
}

// keepsDocument reports whether the pieces of a revision have all bytes of b in their order, except the slash of an
// empty root element.
func keepsDocument(r xades.Revision, b []byte) bool {
	at := int64(0)
	for _, p := range r.Pieces {
		switch {
		case p.Bytes != nil:
		case p.From == at:
			at = p.To
		case p.From < at: // the name of the empty root, for its end tag
		case !bytes.Equal(bytes.Trim(b[at:p.From], "\x00"), []byte("/")):
			return false
		default:
			at = p.To
		}
	}
	return at == int64(len(b))
}

func hasBase64(r xades.Revision) (some bool) {
	for _, p := range r.Pieces {
		some = some || p.Base64
	}
	return some
}

// TestEmptyRoot checks that an empty-element tag becomes a start tag and an end tag without another change.
func TestEmptyRoot(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	for original, want := range map[string]string{
		`<a/>`:                       `<a>|</a>`,
		"<x:a xmlns:x='urn:u'\n/>\n": "<x:a xmlns:x='urn:u'\n>|</x:a>\n",
		`<þ b="/>" />`:               `<þ b="/>" >|</þ>`,
	} {
		signed := sign(t, []byte(original), p, xades.Options{})
		if got := wholeSignature.ReplaceAllString(string(signed), "|"); got != want {
			t.Errorf("%q: got %q, want %q", original, got, want)
		}
	}
}

// TestContainer checks that a container gets a second signature over the same document only if it has nothing else. Any
// other document is put into a container.
func TestContainer(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	container := sign(t, []byte("<a/>"), p, detached.options())
	other := string(sign(t, []byte("<a/>"), p, enveloping.options()))
	const end = "</internally-detached>"
	for _, test := range []struct {
		name  string
		b     []byte
		outer bool // a container is put around
	}{
		{"unchanged", container, false},
		{"comment after it", []byte(string(container) + "\n<!-- end -->\n"), false},
		{"comment in it", before(end, "<!-- -->")(t, p, container), true},
		{"text in it", before(end, "a")(t, p, container), true},
		{"element in it", before(end, "<a/>")(t, p, container), true},
		{"instruction before it", []byte("<?style it?>" + string(container)), true},
		{"attribute", after("<internally-detached", " a=''")(t, p, container), true},
		{"no Id", []byte("<internally-detached><signed-document/>" + other + end), true},
		{"Id like an XPointer", []byte(`<internally-detached><signed-document Id="xpointer(/)"/>` + other + end), true},
		{"no signature", []byte(`<internally-detached><signed-document Id="a"/></internally-detached>`), true},
		{"empty", []byte(`<internally-detached/>`), true},
	} {
		signed := sign(t, test.b, p, detached.options())
		tag := []byte("<signed-document")
		if got := bytes.Count(signed, tag) > bytes.Count(test.b, tag); got != test.outer {
			t.Errorf("%s: another container is %t, want %t: %s", test.name, got, test.outer, signed)
		}
		for _, s := range verify(t, signed, p.ca) {
			if !s.Intact {
				t.Errorf("%s: not intact: %q", test.name, s.Problems)
			}
		}
	}
}

// TestClaims checks that Verify reports the claims of the signer, and that the signature is in ASCII.
func TestClaims(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 17, 12, 30, 15, 999, time.FixedZone("", 3600))
	p := newPersonAt(t, catest.New(t), p256(t), at)
	for _, test := range []struct{ city, country, location, reason, read string }{
		{"Reykjavík", "Ísland", "Reykjavík, Ísland", "Undirritun <&>\"'\r\n\t]]> 🖋 \x00\x1f\ufffe", "Undirritun <&>\"'\r\n\t]]> 🖋 \ufffd\ufffd\ufffd"},
		{"Reykjavík", "", "Reykjavík", "Þinglýsing <1>", "Þinglýsing <1>"},
		{"", "Ísland", "Ísland", "", ""},
	} {
		o := xades.Options{Time: at, City: test.city, Country: test.country, Reason: test.reason}
		signed := sign(t, []byte(contract), p, o)
		s := verify(t, signed, p.ca)[0]
		if s.Location != test.location || s.Reason != test.read || !s.ClaimedTime.Equal(at.Truncate(time.Second)) || s.Name == "" {
			t.Errorf("got %q, %q, %v, %q; want %q, %q, %v", s.Location, s.Reason, s.ClaimedTime, s.Name, test.location, test.read, at)
		}
		if i := bytes.IndexFunc(wholeSignature.Find(signed), func(r rune) bool { return r > '~' }); i >= 0 {
			t.Errorf("byte %d of the signature is not in ASCII", i)
		}
	}
}

// TestPrefixesInValues checks that an enveloped signature also signs the namespaces of prefixes that only values use: EU
// DSS and XML Security Library find a signature invalid if one is bound to another namespace.
func TestPrefixesInValues(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	const amounts = `<?xml version="1.0"?><p:a xmlns:p="urn:p" xmlns:q="urn:good" xmlns="urn:good" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` +
		`<p:amount xsi:type="q:ISK">100</p:amount><p:amount xsi:type="ISK">100</p:amount><p:unit xmlns:þ="urn:good">þ:ISK</p:unit></p:a>`
	signed := sign(t, sign(t, []byte(amounts), p, xades.Options{}), p, xades.Options{})
	if lists := bytes.Count(signed, []byte(`PrefixList="p q #default xsi &#xFE;"`)); lists != 2 {
		t.Errorf("got %d lists of all prefixes, want 2", lists)
	}
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, `<n%d:a xmlns:n%d="urn:%d"/>`, i, i, i)
	}
	documents := [][]byte{
		signed,
		signLevel(t, signed, p, ades.LTA, xades.Options{}),
		signLevel(t, []byte("<a>"+many.String()+"</a>"), p, ades.LTA, xades.Options{}),
	}
	valid := func(i int) bool { return i < 3 }
	for _, c := range []change{
		replace(`xmlns:q="urn:good"`, `xmlns:q="urn:evil"`), replace(`xmlns="urn:good"`, `xmlns="urn:evil"`), replace(`xmlns:þ="urn:good"`, `xmlns:þ="urn:evil"`),
		before(`xsi:type="q:ISK"`, `xmlns:q="urn:evil" `), before(`xsi:type="ISK"`, `xmlns="urn:evil" `),
	} {
		documents = append(documents, c(t, p, signed))
	}
	for i, b := range documents {
		for _, s := range verify(t, b, p.ca) {
			if s.Intact != valid(i) {
				t.Errorf("document %d: intact is %t, want %t: %v", i, s.Intact, valid(i), s.Problems)
			}
		}
	}
	for i, r := range dssReports(t, p.ca, documents...) {
		for _, s := range r.Signatures {
			if (s.Indication == "TOTAL_PASSED") != valid(i) || i == 2 && s.Format != "XAdES-BASELINE-LTA" || len(s.Structure) > 0 {
				t.Errorf("document %d: EU DSS: %s %s %s %v", i, s.Format, s.Indication, s.SubIndication, s.Structure)
			}
		}
	}
	checkXMLSec(t, documents, valid)
}

// TestNames checks that a document with a name that other parsers do not read is signed in Base64 only, and that EU DSS
// and XML Security Library read everything that is signed: such names, and each character of each charset.
func TestNames(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	var documents [][]byte
	for b, common := range map[string]bool{
		"<Þ ж='' 中:ă='' xmlns:中='u:v'><?한?></Þ>": true, "<" + strings.Repeat("é", 1000) + "/>": true, "<a Ĳ=''/>": false,
	} {
		for _, k := range packings {
			err := xades.Check(t.Context(), document([]byte(b)), k.options())
			if want := common || k.base64; (err == nil) != want || err != nil && !errors.Is(err, ades.ErrUnreadable) {
				t.Errorf("%.40q, %s: got %v, accepted is to be %t", b, k.name, err, want)
			}
			if err == nil {
				documents = append(documents, sign(t, []byte(b), p, k.options()))
			}
		}
	}
	for label := range strings.FieldsSeq(charsets) {
		documents = append(documents, sign(t, allCharacters(t, label), p, xades.Options{}))
	}
	for i, r := range dssReports(t, p.ca, documents...) {
		if len(r.Signatures) != 1 || r.Signatures[0].Indication != "TOTAL_PASSED" {
			t.Errorf("EU DSS: %s %+v: %.120s", r.Error, r.Signatures, documents[i])
		}
	}
	checkXMLSec(t, documents, func(int) bool { return true })
}

const charsets = `US-ASCII ISO-8859-1 ISO-8859-2 ISO-8859-3 ISO-8859-4 ISO-8859-5 ISO-8859-6 ISO-8859-7 ISO-8859-8 ISO-8859-9 ISO-8859-13
ISO-8859-15 ISO-8859-16 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1256 windows-1257 KOI8-R IBM866`

// allCharacters returns a document with each byte of a charset that can be signed.
func allCharacters(t *testing.T, label string) []byte {
	head, content := `<?xml version="1.0" encoding="`+label+`"?><a>`, []byte(nil)
	for c := range 0x100 {
		if xades.Check(t.Context(), document([]byte(head+string([]byte{byte(c)})+"</a>")), xades.Options{}) == nil {
			content = append(content, byte(c))
		}
	}
	if len(content) < 96 {
		t.Errorf("%s: got %d characters, want 96 or more", label, len(content))
	}
	return []byte(head + string(content) + "</a>")
}
