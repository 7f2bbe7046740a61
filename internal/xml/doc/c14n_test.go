package doc_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

var methods = map[string]xmldoc.Method{"1.0": xmldoc.C14N10, "1.1": xmldoc.C14N11, "exclusive": xmldoc.Exclusive}

// form is the canonical form of an element by its number in document order, or (0) of the document.
func form(method string, apex int, prefixes ...string) validators.CanonicalForm {
	return validators.CanonicalForm{Method: method, Apex: apex, Prefixes: prefixes}
}

var withComments = validators.CanonicalForm{Method: "1.0", Comments: true}

// canonicalTests are rules of Canonical XML 1.0 (C14N) and 1.1 (C14N11), Exclusive XML
// Canonicalization (EXC) and XML 1.0 (XML). otherwise is the reason for which libxml2 has another
// result.
var canonicalTests = []struct {
	rule           string
	form           validators.CanonicalForm
	document, want string
	otherwise      string
}{
	{"C14N 2.3: no declaration, no white space outside of the root, no empty-element tags", form("1.0", 0),
		"<?xml version='1.0' standalone='yes'?>\r\n<a ><b\n/> <c></c\t></a>\n\n", "<a><b></b> <c></c></a>", ""},
	{"C14N 2.3: a line for each instruction and comment outside of the root", withComments,
		"<!--1--> <?p 2?><a><!--3--><?p?></a><!--4\r\n--><?p    5 \r?>\n",
		"<!--1-->\n<?p 2?>\n<a><!--3--><?p?></a>\n<!--4\n-->\n<?p 5 \n?>", ""},
	{"C14N 2.1: no line for a comment that is left out", form("1.0", 0),
		"<!--1--> <?p 2?><a><!--3--><?p?></a><!--4--><?p 5?>", "<?p 2?>\n<a><?p?></a>\n<?p 5?>", ""},
	{"C14N 2.3: escapes in text", form("1.0", 0),
		"<a>\"'&gt;>&lt;&amp;&#13;\t\n]] > &#x1F58B;\U0001F58B</a>", "<a>\"'&gt;&gt;&lt;&amp;&#xD;\t\n]] &gt; \U0001F58B\U0001F58B</a>", ""},
	{"C14N 2.3: escapes in values", form("1.0", 0),
		`<a b='"&apos;>&lt;&amp;&#9;&#10;&#13;&#32;'/>`, `<a b="&quot;'>&lt;&amp;&#x9;&#xA;&#xD; "></a>`, ""},
	{"XML 3.3.3: white space in a value becomes spaces", form("1.0", 0),
		"<a b='\t1\n2\r3\r\n4  '/>", `<a b=" 1 2 3 4  "></a>`, ""},
	{"XML 2.11: line ends become line feeds", form("1.0", 0),
		"<a>1\r\n2\r3\n4\r\r\n5&#13;\n</a>", "<a>1\n2\n3\n4\n\n5&#xD;\n</a>", ""},
	{"C14N 2.1: CDATA sections become their content", form("1.0", 0),
		"<a>1<![CDATA[<&>\"\r\n&#13;]]>2<![CDATA[]]><![CDATA[]]]]><![CDATA[>]]></a>", "<a>1&lt;&amp;&gt;\"\n&amp;#13;2]]&gt;</a>", ""},
	{"C14N 2.2: attributes are ordered by namespace, not by prefix", form("1.0", 0),
		`<r xmlns:a='urn:2' xmlns:b='urn:1' a:y='1' a:x='2' b:z='3' z='4' B='5' xml:lang='is'/>`,
		`<r xmlns:a="urn:2" xmlns:b="urn:1" B="5" z="4" xml:lang="is" b:z="3" a:x="2" a:y="1"></r>`, ""},
	{"C14N 2.2: declarations are ordered by prefix in code points, the default first", form("1.0", 0),
		"<r xmlns:\U00010400='urn:1' xmlns:\uFA0E='urn:2' xmlns:b='urn:3' xmlns:B='urn:4' xmlns='urn:5'/>",
		"<r xmlns=\"urn:5\" xmlns:B=\"urn:4\" xmlns:b=\"urn:3\" xmlns:\uFA0E=\"urn:2\" xmlns:\U00010400=\"urn:1\"></r>", ""},
	{"C14N 2.3: no repeated declarations", form("1.0", 0),
		`<a:r xmlns:a='urn:1'><a:b xmlns:a='urn:&#49;'><a:c xmlns:a='urn:2'><a:d xmlns:a='urn:1'/></a:c><a:e/></a:b></a:r>`,
		`<a:r xmlns:a="urn:1"><a:b><a:c xmlns:a="urn:2"><a:d xmlns:a="urn:1"></a:d></a:c><a:e></a:e></a:b></a:r>`, ""},
	{"C14N 4.6: the default namespace is undeclared only where one is in scope", form("1.0", 0),
		`<r xmlns=''><b xmlns='urn:1'><c xmlns=''><d xmlns=''/></c><e/></b></r>`,
		`<r><b xmlns="urn:1"><c xmlns=""><d></d></c><e></e></b></r>`, ""},
	{"C14N 2.3: no declaration of the prefix xml", form("1.0", 0),
		`<r xmlns:xml='http://www.w3.org/XML/1998/namespace' xml:space='preserve'/>`, `<r xml:space="preserve"></r>`, ""},
	{"C14N 2.3: escapes in the name of a namespace", form("1.0", 0),
		`<r xmlns='urn:a?b=1&amp;c="'/>`, `<r xmlns="urn:a?b=1&amp;c=&quot;"></r>`, "libxml2 does not escape &"},
	{"C14N 2.4: an apex inherits all namespaces in scope and all attributes xml:*", form("1.0", 3),
		`<a xmlns='urn:1' xmlns:p='urn:2' xml:lang='is' xml:id='i' xml:any='1'><b xmlns:p='urn:3' xml:lang='en'><c xmlns:q='urn:4' xml:base='x'/></b></a>`,
		`<c xmlns="urn:1" xmlns:p="urn:3" xmlns:q="urn:4" xml:any="1" xml:base="x" xml:id="i" xml:lang="en"></c>`, ""},
	{"C14N11 2.4: an apex inherits only xml:lang and xml:space unchanged", form("1.1", 3),
		`<a xmlns='urn:1' xml:lang='is' xml:id='i' xml:any='1' xml:space='preserve'><b xml:lang='en'><c xml:any='2'/></b></a>`,
		`<c xmlns="urn:1" xml:any="2" xml:lang="en" xml:space="preserve"></c>`, ""},
	{"C14N 2.4: an apex does not inherit a default namespace that is undeclared", form("1.0", 3),
		`<a xmlns='urn:1'><b xmlns=''><c/></b></a>`, `<c></c>`, ""},
	{"C14N11 2.4: values of xml:base are joined", form("1.1", 3),
		`<a xml:base='http://example.org/x/y'><b xml:base='../z/'><c xml:base='w'/></b></a>`, `<c xml:base="http://example.org/z/w"></c>`, ""},
	{"C14N11 2.4: joined values are escaped", form("1.1", 3),
		`<a><b xml:base='x/'><c xml:base='y?&lt;"&#9;'/></b></a>`, `<c xml:base="x/y?&lt;&quot;&#x9;"></c>`, "libxml2 does not join values that are no URI"},
	{"C14N11 2.4: a single value is unchanged", form("1.1", 3),
		`<a xml:base='..'><b><c/></b></a>`, `<c xml:base=".."></c>`, ""},
	{"C14N11 2.4: leading segments .. are kept", form("1.1", 4),
		`<a><b xml:base='..'><c xml:base='..'><d xml:base='x'/></c></b></a>`, `<d xml:base="../../x"></d>`, ""},
	{"C14N11 2.4: no attribute for an empty joined value", form("1.1", 2),
		`<a xml:base='abc/'><b xml:base='../'/></a>`, `<b></b>`, ""},
	{"C14N11 2.4: an empty value is kept where nothing around it is left out", form("1.1", 0),
		`<a xml:base='x/'><b xml:base=''/></a>`, `<a xml:base="x/"><b xml:base=""></b></a>`, "libxml2 drops it"},
	{"EXC 3: namespaces are declared where a name first uses them", form("exclusive", 2),
		`<a xmlns='urn:1' xmlns:p='urn:2' xmlns:q='urn:3' xml:lang='is'><b p:x='1'><p:c/><q:d/></b><q:d/></a>`,
		`<b xmlns="urn:1" xmlns:p="urn:2" p:x="1"><p:c></p:c><q:d xmlns:q="urn:3"></q:d></b>`, ""},
	{"EXC 3: an attribute without a prefix does not use the default namespace", form("exclusive", 0),
		`<p:a xmlns='urn:1' xmlns:p='urn:2' x='1'><b xmlns=''/></p:a>`, `<p:a xmlns:p="urn:2" x="1"><b></b></p:a>`, ""},
	{"EXC 3: a default namespace is undeclared where it was written", form("exclusive", 0),
		`<a xmlns='urn:1'><p:b xmlns='' xmlns:p='urn:2'><c/><d xmlns='urn:1'/></p:b></a>`,
		`<a xmlns="urn:1"><p:b xmlns:p="urn:2"><c xmlns=""></c><d></d></p:b></a>`, ""},
	{"EXC 3: a declaration that no name uses is not written", form("exclusive", 0),
		`<p:a xmlns:p='urn:1'><b xmlns:p='urn:2'><p:c xmlns:p='urn:1'/><p:d/></b></p:a>`,
		`<p:a xmlns:p="urn:1"><b><p:c></p:c><p:d xmlns:p="urn:2"></p:d></b></p:a>`, ""},
	{"EXC 3: prefixes of the PrefixList are treated as in C14N", form("exclusive", 2, "p", "none"),
		`<a xmlns='urn:1' xmlns:p='urn:2' xmlns:q='urn:3'><q:b><c xmlns:p='urn:4' xmlns='urn:5'/></q:b></a>`,
		`<q:b xmlns:p="urn:2" xmlns:q="urn:3"><c xmlns="urn:5" xmlns:p="urn:4"></c></q:b>`, ""},
	{"EXC 3: so is #default", form("exclusive", 2, ""),
		`<a xmlns='urn:1' xmlns:p='urn:2'><p:b><p:c xmlns=''/></p:b></a>`,
		`<p:b xmlns="urn:1" xmlns:p="urn:2"><p:c xmlns=""></p:c></p:b>`, ""},
	{"elements are left out with their content", validators.CanonicalForm{Method: "1.0", Comments: true, Without: [][2]string{{"urn:s", "x"}}},
		`<a xmlns:s='urn:s'> <s:x><b/>1<!--2--></s:x> <c xmlns='urn:s'><x><s:x/></x>3</c></a>`,
		`<a xmlns:s="urn:s">  <c xmlns="urn:s">3</c></a>`, ""},
	{"the apex is left out", validators.CanonicalForm{Method: "1.0", Apex: 2, Without: [][2]string{{"", "b"}}},
		`<a><b><c/></b></a>`, ``, ""},
	{"C14N 2: UTF-8 whatever the encoding of the source", form("1.0", 0), beMark + be("<a>é\U0001F58B</a>"), "<a>é\U0001F58B</a>", ""},
}

// TestCanonicalize checks the rules, and that libxml2 has the same results.
func TestCanonicalize(t *testing.T) {
	var requests []validators.CanonicalRequest
	for _, tc := range canonicalTests {
		requests = append(requests, validators.CanonicalRequest{Document: []byte(tc.document), Forms: []validators.CanonicalForm{tc.form}})
		got, err := canonical(parse(t, tc.document), tc.form)
		if diff := cmp.Diff(tc.want, string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tc.rule, err, diff)
		}
	}
	t.Run("libxml2", func(t *testing.T) {
		for i, report := range validators.LibXML2(t, requests...) {
			same := report.Error == "" && string(report.Forms[0]) == canonicalTests[i].want
			if same != (canonicalTests[i].otherwise == "") {
				t.Errorf("%s: libxml2 has %q, %s", canonicalTests[i].rule, report.Forms, report.Error)
			}
		}
	})
}

// TestJoinedBases checks the xml:base that an element has instead of that of its parent and its own:
// the examples of Canonical XML 1.1, 2.4, and those of RFC 3986, 5.4, that both standards agree on.
func TestJoinedBases(t *testing.T) {
	for _, tc := range []struct{ outer, inner, want string }{
		{"abc/", "../", ""},
		{"../", "../", "../../"},
		{"..", "..", "../../"},
		{"..", "x", "../x"},
		{"something/else", "bar/", "something/bar/"},
		{"http://a/b/c/d;p?q", "g", "http://a/b/c/g"},
		{"http://a/b/c/d;p?q", "g:h", "g:h"},
		{"http://a/b/c/d;p?q", "//g", "http://g"},
		{"http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y"},
		{"http://a/b/c/d;p?q", "", "http://a/b/c/d;p?q"},
		{"http://a/b/c/d;p?q", "#s", "http://a/b/c/d;p?q"},
		{"http://a/b/c/d;p?q", "g?y#s", "http://a/b/c/g?y"},
		{"http://a/b/c/d;p?q", "/g", "http://a/g"},
		{"http://a/b/c/d;p?q", "../../../g", "http://a/g"},
		{"http://a", "g", "http://a/g"},
		{"http://a/b", "g?y/../x", "http://a/g?y/../x"},
		{"a?b:c", "d", "d"},
		{"./a:b", "c", "c"},
		{"", "d/e", "d/e"},
		{"x", ".", ""},
		{"x", "/..", "/"},
		{"x", "a/../..", "../"},
		{"../../a/", "../..", "../../../"},
		{"x", "a/b/..", "a/"},
		{"x", "/a/b/c/./../../g", "/a/g"},
		{"x", "...a/..b/../..c", "...a/..c"},
		{"x", "a//..//.///b/c/d.e", "b/c/d.e"},
	} {
		want := `<b xml:base="` + tc.want + `"></b>`
		if tc.want == "" {
			want = "<b></b>"
		}
		got, err := canonical(parse(t, "<a xml:base='"+tc.outer+"'><b xml:base='"+tc.inner+"'/></a>"), form("1.1", 2))
		if err != nil || string(got) != want {
			t.Errorf("%q in %q: got %s, %v; want %s", tc.inner, tc.outer, got, err, want)
		}
	}
}

// TestRelativeNamespaces checks which namespace names are relative references, for which there is no
// canonical form.
func TestRelativeNamespaces(t *testing.T) {
	for space, want := range map[string]error{
		"a": xmldoc.ErrNamespace, "../a": xmldoc.ErrNamespace, "//host/a": xmldoc.ErrNamespace, "#a": xmldoc.ErrNamespace,
		"?a:b": xmldoc.ErrNamespace, "1a:b": xmldoc.ErrNamespace, "é:b": xmldoc.ErrNamespace, ":a": xmldoc.ErrNamespace,
		"a:": nil, "a+-.1:b": nil, "http://host": nil, "URN:a": nil,
	} {
		d := parse(t, "<p:a xmlns:p='"+space+"'><b/></p:a>")
		for method := range methods {
			if _, err := canonical(d, form(method, 0)); !errors.Is(err, want) {
				t.Errorf("%q, method %s: got %v, want %v", space, method, err, want)
			}
		}
	}
}

// TestCanonicalizeRefuses checks unknown methods, and elements of another document.
func TestCanonicalizeRefuses(t *testing.T) {
	d, other := parse(t, "<a/>"), parse(t, "<a><b/></a>")
	for _, method := range []xmldoc.Method{0, xmldoc.Exclusive + 1} {
		if err := d.Canonicalize(io.Discard, xmldoc.Canonicalization{Method: method}, xmldoc.Subset{}); err == nil {
			t.Errorf("method %d: no error", method)
		}
	}
	if err := d.Canonicalize(io.Discard, xmldoc.Canonicalization{Method: xmldoc.C14N10}, xmldoc.Subset{Apex: elementsOf(other)[1]}); err == nil {
		t.Error("element of another document: no error")
	}
}

// TestCanonicalizeFailingWriter checks that the error of a writer is returned, and that nothing is
// written after it.
func TestCanonicalizeFailingWriter(t *testing.T) {
	d := parse(t, "<a>"+strings.Repeat("<b>&amp;</b>", 10_000)+strings.Repeat("c", 1_000_000)+"</a>")
	for writes := range 10 {
		w := &failingWriter{writes}
		err := d.Canonicalize(w, xmldoc.Canonicalization{Method: xmldoc.C14N10}, xmldoc.Subset{})
		if !errors.Is(err, errFull) || w.left != -1 {
			t.Errorf("failure after %d writes: got %v, and %d more writes", writes, err, -1-w.left)
		}
	}
}

var errFull = errors.New("full")

// failingWriter fails after a number of writes.
type failingWriter struct{ left int }

func (f *failingWriter) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// FuzzCanonicalize checks that a canonical form of a document, or of an element, is a document and its
// own canonical form.
func FuzzCanonicalize(f *testing.F) {
	for _, tc := range canonicalTests {
		f.Add([]byte(tc.document), uint(tc.form.Apex))
	}
	for seed := range uint64(20) {
		document, elements := generate(seed)
		f.Add([]byte(document), uint(seed)%uint(elements+1))
	}
	f.Fuzz(func(t *testing.T, source []byte, apex uint) {
		d, err := xmldoc.Parse(source)
		if err != nil {
			return
		}
		for _, form := range variants(validators.CanonicalForm{Apex: int(apex % 100)}) {
			once, err := canonical(d, form)
			if errors.Is(err, xmldoc.ErrNamespace) || errors.Is(err, xmldoc.ErrLimit) {
				continue
			}
			if err != nil {
				t.Fatalf("%+v: %v", form, err)
			}
			form.Apex = 0
			twice, err := canonical(parse(t, string(once)), form)
			if diff := cmp.Diff(string(once), string(twice)); err != nil || diff != "" {
				t.Fatalf("%+v: %v (-once +twice):\n%s", form, err, diff)
			}
		}
	})
}

// variants are the six canonicalizations of a part of a document.
func variants(part validators.CanonicalForm) (forms []validators.CanonicalForm) {
	for _, method := range []string{"1.0", "1.1", "exclusive"} {
		for _, comments := range []bool{false, true} {
			part.Method, part.Comments = method, comments
			forms = append(forms, part)
		}
	}
	return forms
}

// canonical returns a canonical form by this package.
func canonical(d *xmldoc.Document, form validators.CanonicalForm) ([]byte, error) {
	c := xmldoc.Canonicalization{Method: methods[form.Method], Comments: form.Comments, Prefixes: form.Prefixes}
	var s xmldoc.Subset
	if all := elementsOf(d); 0 < form.Apex && form.Apex <= len(all) {
		s.Apex = all[form.Apex-1]
	}
	if form.Without != nil {
		s.Without = func(e xmldoc.Node) bool {
			return slices.Contains(form.Without, [2]string{e.Name().Space, e.Name().Local})
		}
	}
	var out bytes.Buffer
	err := d.Canonicalize(&out, c, s)
	return out.Bytes(), err
}
