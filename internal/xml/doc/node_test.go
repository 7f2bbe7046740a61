package doc_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

const xmlSpace = "http://www.w3.org/XML/1998/namespace"

func TestTree(t *testing.T) {
	d := parse(t, []byte("<?before it?><!-- c --><p:a xmlns:p='u:v' xmlns='u:w'>one<b>two<!-- three --><![CDATA[<four>]]></b>"+
		"<c/><?do it?>five</p:a><!-- d -->"))
	type entry struct {
		Kind   xmldoc.Kind
		Name   xmldoc.Name
		Prefix string
		Text   string
	}
	describe := func(n xmldoc.Node) entry { return entry{n.Kind(), n.Name(), n.Prefix(), n.Text()} }
	var children []entry
	for n := range d.Root().Children() {
		children = append(children, describe(n))
	}
	want := []entry{
		{xmldoc.Text, xmldoc.Name{}, "", "one"},
		{xmldoc.Element, xmldoc.Name{Space: "u:w", Local: "b"}, "", "two<four>"},
		{xmldoc.Element, xmldoc.Name{Space: "u:w", Local: "c"}, "", ""},
		{xmldoc.Instruction, xmldoc.Name{Local: "do"}, "", ""},
		{xmldoc.Text, xmldoc.Name{}, "", "five"},
	}
	if diff := cmp.Diff(want, children); diff != "" {
		t.Error(diff)
	}
	root := entry{xmldoc.Element, xmldoc.Name{Space: "u:v", Local: "a"}, "p", "onetwo<four>five"}
	if diff := cmp.Diff(root, describe(d.Root())); diff != "" {
		t.Error(diff)
	}
}

// TestRelations walks one document in all directions.
func TestRelations(t *testing.T) {
	d := parse(t, []byte("<a><b><c/>x<d><e/></d></b><f/></a>"))
	var order []string
	all := slices.Collect(elementsOf(d))
	for _, e := range all {
		order = append(order, e.Name().Local)
		for child := range e.Children() {
			if child.Parent() != e || !e.Contains(child) || child.Contains(e) {
				t.Errorf("%v is not in %v alone", child.Name(), e.Name())
			}
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "e", "f"}, order); diff != "" {
		t.Error(diff)
	}
	b, f := all[1], all[5]
	switch {
	case d.Root().Parent() != xmldoc.Node{}:
		t.Error("the root has a parent")
	case !d.Root().Contains(d.Root()), b.Contains(f), f.Contains(b), b.Contains(xmldoc.Node{}):
		t.Error("Contains")
	case !b.Is("", "b"), b.Is("", "c"), b.Is("u:v", "b"), d.Root().Is("", ""):
		t.Error("Is")
	case len(slices.Collect(b.Elements())) != 2:
		t.Error("Elements")
	}
}

// TestInherits: Namespaces in XML 1.0 6.1.
func TestInherits(t *testing.T) {
	for _, tc := range []struct {
		name, content string
		want          bool
	}{
		{"nothing", `<b/>`, false},
		{"an element", `<p:b/>`, true},
		{"an attribute", `<b p:c=""/>`, true},
		{"in it", `<b><c>text<!-- --><?p p?></c><p:d/></b>`, true},
		{"bound by itself", `<p:b xmlns:p="u:w" p:c=""><p:d/></p:b>`, false},
		{"bound beside", `<b><c xmlns:p="u:w"><p:d/></c><p:e/></b>`, true},
		{"bound within", `<b><c xmlns:p="u:w"><p:d/></c><e/></b>`, false},
		{"bound below", `<b p:c=""><c xmlns:p="u:w"/></b>`, true},
		{"another prefix", `<b xmlns:q="u:w"><q:p q:p=""/></b>`, false},
		{"the default namespace", `<b xmlns="u:v"/>`, false},
		{"a target", `<b><?p?></b>`, false},
	} {
		d := parse(t, []byte(`<a xmlns:p="u:v">`+tc.content+`</a>`))
		for b := range d.Root().Elements() {
			if got := b.Inherits("p"); got != tc.want {
				t.Errorf("%s: %t", tc.name, got)
			}
		}
	}
}

// TestZeroNode asks the node that is none.
func TestZeroNode(t *testing.T) {
	var n xmldoc.Node
	_, hasAttribute := n.Attr("", "a")
	_, bound := n.Namespace("")
	_, _, inside := n.Inside()
	start, end := n.Span()
	switch {
	case n.Kind() != 0, n.Is("", ""), n.Name() != xmldoc.Name{}, n.Prefix() != "", n.Text() != "", n.Parent() != n,
		n.Contains(n), n.Inherits(""), hasAttribute, bound, inside, start != 0, end != 0:
		t.Error("something is known of no node")
	}
	for range n.Attributes() {
		t.Error("it has attributes")
	}
	for range n.Descendants() {
		t.Error("it has elements in it")
	}
	for range n.Children() {
		t.Error("it has nodes in it")
	}
	for range n.Pieces() {
		t.Error("it has text")
	}
}

// TestValues: XML 1.0 2.11, 3.3.3 and 4.1.
func TestValues(t *testing.T) {
	for _, tc := range []struct{ name, raw, value, text string }{
		{"nothing", "", "", ""},
		{"text", "é \U0001F58B", "é \U0001F58B", "é \U0001F58B"},
		{"white space", " \t\n ", "    ", " \t\n "},
		{"line ends", "\r\n\r\r\n\n", "    ", "\n\n\n\n"},
		{"a line end last", "a\r", "a ", "a\n"},
		{"references", "&#9;&#10;&#13;&#x20;", "\t\n\r ", "\t\n\r "},
		{"a line end from references", "&#13;&#10;", "\r\n", "\r\n"},
		{"half a line end from a reference", "&#13;\n\r&#10;", "\r  \n", "\r\n\n\n"},
		{"entities", "&lt;&amp;lt;&gt;&quot;&apos;", "<&lt;>\"'", "<&lt;>\"'"},
		{"characters of every length", "&#x41;&#233;&#x20AC;&#x1F58B;", "Aé€\U0001F58B", "Aé€\U0001F58B"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := parse(t, []byte(`<a b="`+tc.raw+`">`+tc.raw+`<c/><![CDATA[x]]>`+tc.raw+`</a>`))
			if got, _ := d.Root().Attr("", "b"); got != tc.value {
				t.Errorf("value %q, want %q", got, tc.value)
			}
			if got := d.Root().Text(); got != tc.text+"x"+tc.text {
				t.Errorf("text %q, want %q", got, tc.text)
			}
			var pieces []byte
			for n := range d.Root().Children() {
				for piece := range n.Pieces() {
					pieces = append(pieces, piece...)
				}
			}
			if string(pieces) != tc.text+"x"+tc.text {
				t.Errorf("pieces %q, want %q", pieces, tc.text)
			}
		})
	}
}

// TestSections: what is in a CDATA section is itself, but for line ends.
func TestSections(t *testing.T) {
	d := parse(t, []byte("<a><![CDATA[&#9;<b>\r\n]]]]><![CDATA[>\r]]><![CDATA[]]>&lt;</a>"))
	if got, want := d.Root().Text(), "&#9;<b>\n]]>\n<"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAttributes(t *testing.T) {
	d := parse(t, []byte("<a xmlns='u:v' b='1' xmlns:p='u:w' p:b=' 2' xml:lang='is'/>"))
	type pair struct {
		Name  xmldoc.Name
		Value string
	}
	var got []pair
	for name, value := range d.Root().Attributes() {
		got = append(got, pair{name, value})
	}
	want := []pair{{xmldoc.Name{Local: "b"}, "1"}, {xmldoc.Name{Space: "u:w", Local: "b"}, " 2"}, {xmldoc.Name{Space: xmlSpace, Local: "lang"}, "is"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, ok := d.Root().Attr("http://www.w3.org/2000/xmlns/", "p"); ok {
		t.Error("a declaration is an attribute")
	}
}

func TestNamespace(t *testing.T) {
	d := parse(t, []byte("<a xmlns='u:v' xmlns:p='u:w'><b xmlns='' xmlns:p='u:x&amp;y'><c/></b></a>"))
	c := slices.Collect(elementsOf(d))[2]
	for _, tc := range []struct {
		of          xmldoc.Node
		prefix, uri string
		bound       bool
	}{
		{d.Root(), "", "u:v", true},
		{d.Root(), "p", "u:w", true},
		{d.Root(), "q", "", false},
		{d.Root(), "xml", xmlSpace, true},
		{c, "", "", false},
		{c, "p", "u:x&y", true},
	} {
		if uri, bound := tc.of.Namespace(tc.prefix); uri != tc.uri || bound != tc.bound {
			t.Errorf("%q at %s is %q, %v", tc.prefix, tc.of.Name().Local, uri, bound)
		}
	}
}

// TestNamesThatMeanSomethingElsewhere: "xmlns" declares as an attribute alone.
func TestNamesThatMeanSomethingElsewhere(t *testing.T) {
	d := parse(t, []byte("<xmlns xmlns='u:v'><?xmlns xmlns='u:w'?><id id='1'/></xmlns>"))
	children := slices.Collect(d.Root().Children())
	if !d.Root().Is("u:v", "xmlns") || children[0].Name() != (xmldoc.Name{Local: "xmlns"}) || !children[1].Is("u:v", "id") {
		t.Errorf("%v with %v and %v", d.Root().Name(), children[0].Name(), children[1].Name())
	}
	if n, ok := d.ByID("1"); !ok || n != children[1] {
		t.Error("an element that is called as its identifier does not have it")
	}
}

// TestDeclares: what an element says itself, and how much it says.
func TestDeclares(t *testing.T) {
	d := parse(t, []byte("<a xmlns='u:v' xmlns:p='u:w' b=''><c xmlns='' d=''/></a>"))
	for c := range d.Root().Elements() {
		for _, tc := range []struct {
			of       xmldoc.Node
			prefix   string
			uri      string
			declared bool
		}{{d.Root(), "", "u:v", true}, {d.Root(), "p", "u:w", true}, {d.Root(), "b", "", false}, {c, "", "", true}, {c, "p", "", false}} {
			if uri, declared := tc.of.Declares(tc.prefix); uri != tc.uri || declared != tc.declared {
				t.Errorf("%s declares %q: %q, %v", tc.of.Name().Local, tc.prefix, uri, declared)
			}
		}
		if d.Root().Width() != 3 || c.Width() != 2 || (xmldoc.Node{}).Width() != 0 {
			t.Errorf("%d and %d attributes", d.Root().Width(), c.Width())
		}
		if !d.Root().Precedes(c) || c.Precedes(d.Root()) || c.Precedes(c) {
			t.Error("out of order")
		}
	}
}
