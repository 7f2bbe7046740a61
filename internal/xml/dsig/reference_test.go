package dsig

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// TestProcess checks the data to which a reference leads after its transforms (xmldsig-core1 4.4.3.3 and
// 6.6). The signature stands in the place of "$" and has an Object.
func TestProcess(t *testing.T) {
	const other = `<s:Signature xmlns:s="` + Namespace + `"/>`
	const kept = `<s:Signature xmlns:s="` + Namespace + `"></s:Signature>`
	comments := transform(c14nComments)
	k := newECDSASigner(t)
	for name, row := range map[string]struct {
		document, uri, transforms, want string
		err                             error
	}{
		"document":                         {"<?p?><!-- 1 --><a><!-- 2 -->b$</a><?q?>", "", enveloped, "<?p?>\n<a>b</a>\n<?q?>", nil},
		"document, C14N with comments":     {"<!-- 1 --><a><!-- 2 -->b$</a>", "", enveloped + comments, "<a>b</a>", nil},
		"pointer to the document":          {"<!-- 1 --><a><!-- 2 -->b$</a>", "#xpointer(/)", enveloped + comments, "<!-- 1 -->\n<a><!-- 2 -->b</a>", nil},
		"pointer to the document, default": {"<!-- 1 --><a><!-- 2 -->b$</a>", "#xpointer(/)", enveloped, "<a>b</a>", nil},
		"element": {`<a xmlns="urn:u" xml:lang="is">$<b Id="x"><!-- 1 --><?p?>c</b></a>`, "#x", "",
			`<b xmlns="urn:u" Id="x" xml:lang="is"><?p?>c</b>`, nil},
		"element, Exclusive": {`<a xmlns="urn:u" xmlns:v="urn:v" xml:lang="is">$<b Id="x">c</b></a>`, "#x", excC14N, `<b xmlns="urn:u" Id="x">c</b>`, nil},
		"element, #default": {`<a xmlns="urn:u" xmlns:q="urn:q">$<p:b xmlns:p="urn:p" Id="x"/></a>`, "#x", inclusivePrefixes("#default"),
			`<p:b xmlns="urn:u" xmlns:p="urn:p" Id="x"></p:b>`, nil},
		"element, C14N with comments":    {`<a>$<b Id="x"><!-- 1 -->c</b></a>`, "#x", comments, `<b Id="x">c</b>`, nil},
		"pointer to an element":          {`<a>$<b Id="x"><!-- 1 -->c</b></a>`, "#xpointer(id(&quot;x&quot;))", comments, `<b Id="x"><!-- 1 -->c</b>`, nil},
		"enveloped-signature":            {`<a>$` + other + `</a>`, "", enveloped + excC14N, `<a>` + kept + `</a>`, nil},
		"XPath":                          {`<a>$<b>` + other + `</b></a>`, "", xpath, `<a><b></b></a>`, nil},
		"filter":                         {`<a>$<b>` + other + `</b></a>`, "", filter2 + excC14N, `<a><b></b></a>`, nil},
		"filter of the root":             {`<a>$` + other + `<b>` + other + `</b></a>`, "", rootFilter + excC14N, `<a><b>` + kept + `</b></a>`, nil},
		"short filter":                   {`<a>$<b>` + other + `</b></a>`, "", shortFilter + excC14N, `<a><b></b></a>`, nil},
		"enveloped-signature and XPath":  {`<a>$` + other + `</a>`, "", enveloped + xpath + excC14N, `<a></a>`, nil},
		"Object of the signature":        {"<a>$</a>", "#object", excC14N, `<ds:Object xmlns:ds="` + Namespace + `" Id="object"></ds:Object>`, nil},
		"base64":                         {"<a>$<b Id='x'> aGVs\n<!-- c -->bG8<c>=</c> </b></a>", "#x", decode, "hello", nil},
		"base64 without signatures":      {"<a>$<b Id='x'>aGVs" + strings.Replace(kept, "></", ">AAAA</", 1) + "bG8=</b></a>", "#x", filter2 + decode, "hello", nil},
		"base64 of the document":         {"<a>aGVsbG8=$</a>", "", enveloped + decode, "hello", nil},
		"base64, empty":                  {"<a>$<b Id='x'/></a>", "#x", decode, "", nil},
		"base64 in several pieces":       {"<a>$<b Id='x'>" + strings.Repeat("YWJj\n", 5000) + "</b></a>", "#x", decode, strings.Repeat("abc", 5000), nil},
		"base64 with unused bits":        {"<a>$<b Id='x'>aGVsbG9=</b></a>", "#x", decode, "", ErrReference},
		"base64 after padding":           {"<a>$<b Id='x'>" + strings.Repeat("A", decodeAtOnce-1) + "=AAAA</b></a>", "#x", decode, "", ErrReference},
		"identifier like an expression":  {"<a>$<b Id='xpointer(//b)'/></a>", "#xpointer(//b)", "", "", ErrReference},
		"enveloped by another element":   {"<a>$<b Id='x'/></a>", "#x", enveloped, "", ErrReference},
		"only the signature, left out":   {"<a>$</a>", "#sig", enveloped, "", ErrReference},
		"root is the signature":          {"$", "", enveloped, "", ErrReference},
		"only a signature, filtered out": {"<a>$</a>", "#sig", filter2, "", ErrReference},
		"Object of what is filtered out": {"<a>$</a>", "#object", rootFilter, "", ErrReference},
	} {
		t.Run(name, func(t *testing.T) {
			signature := k.signature(t, reference(row.uri, row.transforms), `<ds:Object Id="object"/>`)
			d := parse(t, strings.Replace(row.document, "$", signature, 1))
			s, err := Read(d, Find(d)[0])
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			err = s.Process(&got, s.References[0], xmldoc.Canonicalization{Method: xmldoc.C14N10})
			if !errors.Is(err, row.err) || err == nil && got.String() != row.want {
				t.Errorf("got %q, %v; want %q, %v", got.String(), err, row.want, row.err)
			}
			if _, err := s.Covers(s.References[0]); !strings.HasPrefix(name, "base64") && !errors.Is(err, row.err) {
				t.Errorf("Covers: got %v, want %v", err, row.err)
			}
		})
	}
}

// TestCovers checks the target of references, and which signatures their data leaves out.
func TestCovers(t *testing.T) {
	k := newECDSASigner(t)
	s := readAll(t, `<a>`+k.signature(t, reference("#x", excC14N)+reference("", filter2, excC14N)+reference("", enveloped))+
		`<b Id="x"/>`+k.signature(t, reference(""))+`</a>`)[0]
	other := Find(s.Document)[1]
	b, _ := s.Document.ByID("x")
	for i, want := range []struct {
		apex       xmldoc.Node
		own, other bool // left out
	}{{apex: b}, {own: true, other: true}, {own: true}} {
		covered, err := s.Covers(s.References[i])
		target, targetErr := s.Target(s.References[i])
		if err != nil || targetErr != nil || covered.Apex != want.apex || target != want.apex {
			t.Errorf("reference %d: covers %v, %v; target %v, %v", i, covered.Apex, err, target, targetErr)
		}
		out := func(n xmldoc.Node) bool { return covered.Without != nil && covered.Without(n) }
		if out(s.Element) != want.own || out(other) != want.other || out(b) {
			t.Errorf("reference %d leaves out: own %t, other %t, b %t; want %t, %t, false", i, out(s.Element), out(other), out(b), want.own, want.other)
		}
	}
}

// TestManifest checks that a Manifest has to be in an Object of the signature, and that it contains only
// references (xmldsig-core1 5.1).
func TestManifest(t *testing.T) {
	list := `<ds:Manifest xmlns:ds="` + Namespace + `" Id="list">` + reference("#b") + `</ds:Manifest>`
	k := newECDSASigner(t)
	for name, row := range map[string]struct {
		inside, beside string
		want           error
	}{
		"in an Object":                {"<ds:Object>" + list + "</ds:Object>", "", nil},
		"deeper in an Object":         {"<ds:Object><b>" + list + "</b></ds:Object>", "", ErrReference},
		"outside of the signature":    {"", `<ds:Object xmlns:ds="` + Namespace + `">` + list + "</ds:Object>", ErrReference},
		"absent":                      {"", "", ErrReference},
		"element without a namespace": {`<ds:Object><Manifest Id="list"/></ds:Object>`, "", ErrReference},
		"unknown element in it":       {"<ds:Object>" + strings.Replace(list, "</ds:M", "<c/></ds:M", 1) + "</ds:Object>", "", ErrFormat},
		"no reference in it":          {`<ds:Object><ds:Manifest Id="list"/></ds:Object>`, "", ErrFormat},
	} {
		s := readAll(t, `<a>`+k.signature(t, reference("#list"), row.inside)+row.beside+`</a>`)[0]
		got, err := s.Manifest(s.References[0])
		if !errors.Is(err, row.want) || err == nil && (len(got) != 1 || got[0].URI != "#b") {
			t.Errorf("%s: got %+v, %v; want %v", name, got, err, row.want)
		}
	}
}
