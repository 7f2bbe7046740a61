package dsig

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// processed is a document with a reference in its first signature, and what that leads to.
type processed struct {
	document string // with a signature where $ is
	uri      string
	transforms,
	want string
	err error
}

const (
	c14n10          = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"
	c14nComments    = c14n10 + "#WithComments"
	otherSignatures = `<s:Signature xmlns:s="` + Namespace + `"/>`
)

func TestProcess(t *testing.T) {
	k := newECDSASigner(t)
	// xmldsig-core1 4.4.3.3 on comments, and 6.6 on transforms.
	for name, row := range map[string]processed{
		"the document":                   {document: "<?p?><!-- 1 --><a><!-- 2 -->b$</a><?q?>", transforms: enveloped, want: "<?p?>\n<a>b</a>\n<?q?>"},
		"comments of the document":       {document: "<!-- 1 --><a><!-- 2 -->b$</a>", transforms: enveloped + transform(c14nComments), want: "<a>b</a>"},
		"the document by a pointer":      {document: "<!-- 1 --><a><!-- 2 -->b$</a>", uri: "#xpointer(/)", transforms: enveloped + transform(c14nComments), want: "<!-- 1 -->\n<a><!-- 2 -->b</a>"},
		"a pointer without comments":     {document: "<!-- 1 --><a><!-- 2 -->b$</a>", uri: "#xpointer(/)", transforms: enveloped + transform(c14n10), want: "<a>b</a>"},
		"a pointer without a method":     {document: "<a><!-- 2 -->b$</a>", uri: "#xpointer(/)", transforms: enveloped, want: "<a>b</a>"},
		"an element":                     {document: `<a xmlns="urn:u" xml:lang="is">$<b Id="x"><!-- 1 --><?p?>c</b></a>`, uri: "#x", want: `<b xmlns="urn:u" Id="x" xml:lang="is"><?p?>c</b>`},
		"an element, exclusive":          {document: `<a xmlns="urn:u" xmlns:v="urn:v" xml:lang="is">$<b Id="x">c</b></a>`, uri: "#x", transforms: excC14N, want: `<b xmlns="urn:u" Id="x">c</b>`},
		"comments of an element":         {document: `<a>$<b Id="x"><!-- 1 -->c</b></a>`, uri: "#x", transforms: transform(c14nComments), want: `<b Id="x">c</b>`},
		"an element by a pointer":        {document: `<a>$<b Id="x"><!-- 1 -->c</b></a>`, uri: "#xpointer(id(&quot;x&quot;))", transforms: transform(c14nComments), want: `<b Id="x"><!-- 1 -->c</b>`},
		"without this signature":         {document: `<a>$` + otherSignatures + `</a>`, transforms: enveloped + excC14N, want: `<a><s:Signature xmlns:s="` + Namespace + `"></s:Signature></a>`},
		"without signatures, by XPath":   {document: `<a>$<b>` + otherSignatures + `</b></a>`, transforms: xpath, want: `<a><b></b></a>`},
		"without signatures, by filter":  {document: `<a>$<b>` + otherSignatures + `</b></a>`, transforms: filter2 + excC14N, want: `<a><b></b></a>`},
		"without signatures of the root": {document: `<a>$` + otherSignatures + `<b>` + otherSignatures + `</b></a>`, transforms: rootFilter + excC14N, want: `<a><b><s:Signature xmlns:s="` + Namespace + `"></s:Signature></b></a>`},
		"without any, by short filter":   {document: `<a>$<b>` + otherSignatures + `</b></a>`, transforms: shortFilter + excC14N, want: `<a><b></b></a>`},
		"what enveloped and XPath leave": {document: `<a>$` + otherSignatures + `</a>`, transforms: enveloped + xpath + excC14N, want: `<a></a>`},
		"base64":                         {document: "<a>$<b Id='x'> aGVs\n<!-- c -->bG8<c>=</c> </b></a>", uri: "#x", transforms: transform(transformBase64), want: "hello"},
		"base64 without signatures":      {document: "<a>$<b Id='x'>aGVs" + strings.Replace(otherSignatures, "/>", ">AAAA</s:Signature>", 1) + "bG8=</b></a>", uri: "#x", transforms: filter2 + transform(transformBase64), want: "hello"},
		"base64 of the document":         {document: "<a>aGVsbG8=$</a>", transforms: enveloped + transform(transformBase64), want: "hello"},
		"base64 of nothing":              {document: "<a>$<b Id='x'/></a>", uri: "#x", transforms: transform(transformBase64), want: ""},
		"long base64":                    {document: "<a>$<b Id='x'>" + strings.Repeat("YWJj\n", 5000) + "</b></a>", uri: "#x", transforms: transform(transformBase64), want: strings.Repeat("abc", 5000)},
		"what is no base64":              {document: "<a>$<b Id='x'>hello</b></a>", uri: "#x", transforms: transform(transformBase64), err: ErrReference},
		"base64 with bits left over":     {document: "<a>$<b Id='x'>aGVsbG9=</b></a>", uri: "#x", transforms: transform(transformBase64), err: ErrReference},
		"a name like an expression":      {document: "<a>$<b Id='xpointer(//b)'/></a>", uri: "#xpointer(//b)", err: ErrReference},
		"the default namespace": {document: `<a xmlns="urn:u" xmlns:q="urn:q">$<p:b xmlns:p="urn:p" Id="x"/></a>`, uri: "#x",
			transforms: transform(exclusive, `<e:InclusiveNamespaces xmlns:e="`+exclusive+`" PrefixList="#default"/>`), want: `<p:b xmlns="urn:u" xmlns:p="urn:p" Id="x"></p:b>`},
		"base64 after its end":                {document: "<a>$<b Id='x'>" + strings.Repeat("A", decodeAtOnce-1) + "=AAAA</b></a>", uri: "#x", transforms: transform(transformBase64), err: ErrReference},
		"enveloped by another element":        {document: "<a>$<b Id='x'/></a>", uri: "#x", transforms: enveloped, err: ErrReference},
		"a signature that envelops itself":    {document: "<a>$</a>", uri: "#sig", transforms: enveloped, err: ErrReference},
		"a document that is the signature":    {document: "$", transforms: enveloped, err: ErrReference},
		"a signature without signatures":      {document: "<a>$</a>", uri: "#sig", transforms: filter2, err: ErrReference},
		"an object without root's signatures": {document: "<a>$</a>", uri: "#object", transforms: rootFilter, err: ErrReference},
		"an object of the signature":          {document: "<a>$</a>", uri: "#object", transforms: excC14N, want: `<ds:Object xmlns:ds="` + Namespace + `" Id="object"></ds:Object>`},
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
			if !errors.Is(err, row.err) {
				t.Fatalf("%v, want %v", err, row.err)
			}
			if diff := cmp.Diff(row.want, got.String()); row.err == nil && diff != "" {
				t.Error(diff)
			}
			if _, err := s.Covers(s.References[0]); row.err != nil && !strings.Contains(name, "base64") && !errors.Is(err, row.err) {
				t.Errorf("covers: %v", err)
			}
		})
	}
}

// What a reference covers is what is digested.
func TestCovers(t *testing.T) {
	k := newECDSASigner(t)
	s := signatures(t, `<a>`+k.signature(t, reference("#x", excC14N)+reference("", filter2, excC14N)+reference("", enveloped))+
		`<b Id="x"/>`+k.signature(t, reference(""))+`</a>`)[0]
	other := Find(s.Document)[1]
	b, _ := s.Document.ByID("x")
	for i, want := range []struct {
		apex       xmldoc.Node
		own, other bool // are left out
	}{{apex: b}, {own: true, other: true}, {own: true}} {
		got, err := s.Covers(s.References[i])
		if err != nil || got.Apex != want.apex {
			t.Errorf("reference %d: %v", i, err)
		}
		out := func(n xmldoc.Node) bool { return got.Without != nil && got.Without(n) }
		if out(s.Element) != want.own || out(other) != want.other || out(b) {
			t.Errorf("reference %d leaves others out", i)
		}
		target, err := s.Target(s.References[i])
		if err != nil || target != want.apex {
			t.Errorf("reference %d leads elsewhere: %v", i, err)
		}
	}
}
