package xmldoc_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/xmldoc"
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

// TestZeroNode asks the node that is none.
func TestZeroNode(t *testing.T) {
	var n xmldoc.Node
	_, hasAttribute := n.Attr("", "a")
	_, bound := n.Namespace("")
	_, _, inside := n.Inside()
	start, end := n.Span()
	switch {
	case n.Kind() != 0, n.Is("", ""), n.Name() != xmldoc.Name{}, n.Prefix() != "", n.Text() != "", n.Parent() != n,
		n.Contains(n), hasAttribute, bound, inside, start != 0, end != 0:
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

func TestIdentifiers(t *testing.T) {
	d := parse(t, []byte("<a Id='1'><b ID='2'/><c id='3' ID='3'/><d xml:id='4'/><e iD='5'/><f xmlns:p='u:v' p:Id='6'/>"+
		"<g id='&#x37;'/><h id='8' ID='9'/></a>"))
	for id, want := range map[string]string{"1": "a", "2": "b", "3": "c", "4": "d", "5": "", "6": "", "7": "g", "8": "h", "9": "h", "": ""} {
		n, ok := d.ByID(id)
		if ok != (want != "") || n.Name().Local != want {
			t.Errorf("%q is that of %q", id, n.Name().Local)
		}
	}
	if id, found := d.DuplicateID(); found {
		t.Errorf("%q is one of several elements", id)
	}
}

// TestDuplicateIdentifier: an identifier of two elements is that of none, whatever it is called in
// them.
func TestDuplicateIdentifier(t *testing.T) {
	for _, source := range []string{
		"<a><b Id='x'/><c Id='x'/></a>",
		"<a Id='x'><b id='x'/></a>",
		"<a><b ID='x'/><c xml:id='x'/><d Id='y'/></a>",
		"<a><b Id='x'/><c Id='&#x78;'/></a>",
		"<a><b Id='x' ID='x'/><c Id='x'/></a>",
	} {
		d := parse(t, []byte(source))
		if id, found := d.DuplicateID(); !found || id != "x" {
			t.Errorf("%s: %q, %v", source, id, found)
		}
		if _, ok := d.ByID("x"); ok {
			t.Errorf("%s: one of them is taken", source)
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
