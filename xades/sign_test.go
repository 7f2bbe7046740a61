package xades_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

// utf16 is text in UTF-16 with a byte order mark; all of it is in the basic plane.
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

// latin1 is text in ISO-8859-1.
func latin1(s string) []byte {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return b
}

// shape is a document that has something which a parser would not give back.
type shape struct {
	name  string
	bytes []byte
	head  string // what stays in front of what is wrapped, in UTF-8: an XML declaration
}

func text(name, head, body string) shape { return shape{name, []byte(head + body), head} }

const declaration = `<?xml version="1.0" encoding="UTF-8"?>`

var shapes = []shape{
	text("ordinary", declaration, strings.TrimPrefix(contract, declaration)),
	text("no declaration, no final newline", "", `<a><b/></a>`),
	text("CRLF", "<?xml version='1.0' standalone='yes'?>", "\r\n<a x='1\r\n2'>\r\n\t<b>one\r\ntwo</b>\r\n</a >\r\n"),
	{"byte order mark", []byte("\uFEFF" + declaration + "\n<á>þ</á>"), "\uFEFF" + declaration},
	{"byte order mark alone", []byte("\uFEFF<á>þ</á>"), "\uFEFF"},
	text("instructions and comments around the root", declaration, "\n<?style href=\"a&b\"?>\n<!-- before -->\n<a>\n<!-- inside --><?go on?></a>\n<!-- behind -->\n<?end?>\n\n"),
	text("CDATA", "", "<a><![CDATA[<b>&amp;</b>]]>]]&gt;<![CDATA[]]></a>"),
	text("references and quotes", "", `<a x='"' y="'&#10;&#x9;&lt;"  z = "&quot;">&#13;&#xe6;&gt;></a>`),
	text("odd prefixes", "", `<_:é-1.x xmlns:_="urn:a" xmlns:b="urn:a" b:q="1"><b:x xmlns:_="urn:b" _:y=""/></_:é-1.x>`),
	text("prefixes of signatures bound to something else", "", `<ds:a xmlns:ds="urn:a" xmlns:xades="urn:b"><xades:b xmlns:dsig-filter2="urn:c" dsig-filter2:c=""/></ds:a>`),
	text("prefixes of signatures in use", "", `<a xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:KeyName>þ</ds:KeyName></a>`),
	text("default namespace", "", `<a xmlns="urn:a"><b xmlns=""><c xmlns="http://www.w3.org/2000/09/xmldsig#"/></b></a>`),
	text("empty root", "", `<a/>`),
	text("empty root with attributes", declaration, "\n<þ:a xmlns:þ='urn:a'\n x='/>' />\n"),
	text("identifiers of its own", "", `<a Id="a"><b xml:id="b"/><c ID="c"/><d id="d"/></a>`),
	text("identifiers that occur twice", "", `<a Id="a"><b xml:id="a"/><c id="1"/><c id="1"/></a>`),
	text("supplementary characters", "", `<a b="🖋">𝔄</a>`),
	{"UTF-16LE", utf16(`<?xml version="1.0" encoding="UTF-16"?><þ a="ð"><b>ő</b></þ>`, true), `<?xml version="1.0" encoding="UTF-16"?>`},
	{"UTF-16BE", utf16(`<?xml version="1.0" encoding="UTF-16"?><þ a="ð"/>`, false), `<?xml version="1.0" encoding="UTF-16"?>`},
	{"UTF-16LE without a mark", utf16(`<?xml version="1.0" encoding="UTF-16LE"?><a>þ</a>`, true)[2:], `<?xml version="1.0" encoding="UTF-16LE"?>`},
	{"ISO-8859-1", latin1(`<?xml version="1.0" encoding="ISO-8859-1"?><þ a="ð">é</þ>`), `<?xml version="1.0" encoding="ISO-8859-1"?>`},
	{"ISO-8859-1, empty root", latin1(`<?xml version="1.0" encoding="ISO-8859-1"?><þ a="ð" />`), `<?xml version="1.0" encoding="ISO-8859-1"?>`},
}

// The bytes of a document stand around the signature as they were (issue of the package: a document is
// signed by putting bytes between its bytes), and all who read XML find the signature right.
func TestBytesStand(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	folder, paths, names := t.TempDir(), []string{}, []string{}
	for _, s := range shapes {
		for _, k := range packings {
			signed := sign(t, s.bytes, p, k.options())
			name := s.name + ", " + k.name
			if !stands(s, k, signed) {
				t.Errorf("%s: bytes of the document are others\n%q", name, signed)
			}
			if got := verify(t, signed, p.ca); len(got) != 1 || !got[0].Passed() || got[0].Coverage != ades.WholeDocument {
				t.Errorf("%s: %+v\n%q", name, got, signed)
			}
			path := filepath.Join(folder, fmt.Sprintf("%03d.xml", len(paths)))
			writeFile(t, path, signed)
			paths, names = append(paths, path), append(names, name)
		}
	}
	for i, report := range validators.XMLSec(t, nil, paths...) {
		if len(report.Signatures) != 1 || !report.Signatures[0].Valid {
			t.Errorf("XML Security Library: %s: %+v", names[i], report)
		}
	}
}

// stands says whether a document is in the signed one where the packing has it.
func stands(s shape, k packing, signed []byte) bool {
	if k.base64 {
		return bytes.Contains(signed, []byte(">"+base64.StdEncoding.EncodeToString(s.bytes)+"</ds:Object>"))
	}
	if k.packing != xades.Enveloped {
		head := headSize(s)
		return bytes.HasPrefix(signed, s.bytes[:head]) && bytes.Contains(signed[head:], s.bytes[head:])
	}
	front, back := alike(s.bytes, signed)
	if strings.Contains(s.name, "empty root") || s.name == "UTF-16BE" { // all but the slash
		return front+back >= len(s.bytes)-2
	}
	return front+back >= len(s.bytes)
}

// headSize is the length in bytes of what stays in front.
func headSize(s shape) int {
	switch {
	case s.name == "UTF-16LE without a mark":
		return 2 * len(s.head)
	case strings.HasPrefix(s.name, "UTF-16"):
		return 2 + 2*len(s.head)
	}
	return len(s.head)
}

// alike is how many bytes of a are at the beginning and at the end of b.
func alike(a, b []byte) (front, back int) {
	for front < len(a) && a[front] == b[front] {
		front++
	}
	for back < len(a) && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return front, back
}

// An empty-element tag becomes two, with nothing else changed.
func TestEmptyRoot(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for original, want := range map[string]string{
		`<a/>`:                       `<a>|</a>`,
		"<x:a xmlns:x='urn:u'\n/>\n": "<x:a xmlns:x='urn:u'\n>|</x:a>\n",
		`<þ b="/>" />`:               `<þ b="/>" >|</þ>`,
	} {
		signed := string(sign(t, []byte(original), p, xades.Options{}))
		start, end := strings.Index(signed, "<ds:Signature "), strings.LastIndex(signed, "</ds:Signature>")
		if got := signed[:start] + "|" + signed[end+len("</ds:Signature>"):]; got != want {
			t.Errorf("%q became %q", original, got)
		}
	}
}

// A container takes further signatures over what it contains, if there is nothing else that they would not
// sign; else it is a document like others.
func TestContainer(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	o := packings[3].options()
	container := string(sign(t, []byte("<a/>"), p, o))
	other := string(sign(t, []byte("<a/>"), p, packings[1].options()))
	const end = "</internally-detached>"
	for name, tt := range map[string]struct {
		b     string
		again bool // a container in a container
	}{
		"as it is":              {container, false},
		"with white space":      {container + "\n<!-- end -->\n", false},
		"with a comment in it":  {strings.Replace(container, end, "<!-- -->"+end, 1), true},
		"with text in it":       {strings.Replace(container, end, "a"+end, 1), true},
		"with an element":       {strings.Replace(container, end, "<a/>"+end, 1), true},
		"with an instruction":   {"<?style it?>" + container, true},
		"with an attribute":     {strings.Replace(container, "<internally-detached", "<internally-detached a=''", 1), true},
		"without an identifier": {`<internally-detached><signed-document/>` + other + end, true},
		"with an XPointer":      {`<internally-detached><signed-document Id="xpointer(/)"/>` + other + end, true},
		"without a signature":   {`<internally-detached><signed-document Id="a"/></internally-detached>`, true},
		"without a document":    {`<internally-detached/>`, true},
	} {
		signed := string(sign(t, []byte(tt.b), p, o))
		if got := strings.Count(signed, "<signed-document") > strings.Count(tt.b, "<signed-document"); got != tt.again {
			t.Errorf("%s: %s", name, signed)
		}
		for _, s := range verify(t, []byte(signed), p.ca) {
			if !s.Intact {
				t.Errorf("%s: %v", name, s.Problems)
			}
		}
	}
}

// Everything that is claimed reads as it was given.
func TestClaims(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 17, 12, 30, 15, 999, time.FixedZone("", 3600))
	p := newPersonAt(t, newAuthority(t), p256(t), at)
	signed := sign(t, []byte(contract), p, xades.Options{
		Time: at, City: "Reykjavík", Country: "Ísland",
		Reason: "Undirritun <&>\"'\r\n\t]]> 🖋 \x00\x1f\ufffe",
	})
	got := verify(t, signed, p.ca)
	if len(got) != 1 {
		t.Fatalf("%d signatures", len(got))
	}
	s := got[0]
	want := ades.SignatureReport{
		ClaimedTime: at.UTC().Truncate(time.Second), Location: "Reykjavík, Ísland",
		Reason: "Undirritun <&>\"'\r\n\t]]> 🖋 \ufffd\ufffd\ufffd",
	}
	if diff := cmp.Diff(want, ades.SignatureReport{ClaimedTime: s.ClaimedTime, Location: s.Location, Reason: s.Reason}); diff != "" {
		t.Error(diff)
	}
	front, back := alike([]byte(contract), signed)
	for _, c := range signed[front : len(signed)-back] {
		if c > '~' {
			t.Fatal("the signature is not in ASCII")
		}
	}
}
