package doc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

const xmlSpace = "http://www.w3.org/XML/1998/namespace"

// TestTree checks the kinds, names, prefixes, attributes and texts of all nodes of a document.
func TestTree(t *testing.T) {
	for _, tc := range []struct {
		name, document, text string
		want                 []string
	}{
		{
			"all kinds of nodes",
			"<?before it?><!-- c --><p:a xmlns:p='u:v' xmlns='u:w' b='1' p:b=' 2' xml:lang='is'>one<b>two<!-- three --><![CDATA[<four>]]></b>" +
				"<c/><?do it?>five</p:a><!-- d -->",
			"onetwo<four>five",
			[]string{
				"element {u:v}a p", "attribute {}b=1", "attribute {u:v}b= 2", "attribute {" + xmlSpace + "}lang=is",
				"text one", "element {u:w}b ", "text two", "comment {} ", "text <four>", "element {u:w}c ", "instruction {}do ", "text five",
			},
		},
		{
			"xmlns as the name of an element and of an instruction",
			"<xmlns xmlns='u:v'><?xmlns xmlns='u:w'?></xmlns>", "",
			[]string{"element {u:v}xmlns ", "instruction {}xmlns "},
		},
	} {
		d := parse(t, tc.document)
		if diff := cmp.Diff(tc.want, outline(d.Root())); diff != "" || d.Root().Text() != tc.text {
			t.Errorf("%s: text %q, want %q; nodes (-want +got):\n%s", tc.name, d.Root().Text(), tc.text, diff)
		}
	}
}

// TestRelations checks the order of elements, and their parents, children and ancestors.
func TestRelations(t *testing.T) {
	all := elementsOf(parse(t, "<a><b><c/>x<d><e/></d></b><f/></a>"))
	var got []string
	for i, e := range all {
		line := e.Name().Local + " in " + e.Parent().Name().Local + " contains"
		for j, other := range all {
			if e.Contains(other) {
				line += " " + other.Name().Local
			}
			if e.Precedes(other) != (i < j) {
				t.Errorf("%v precedes %v: got %t", e.Name(), other.Name(), e.Precedes(other))
			}
		}
		got = append(got, fmt.Sprint(line, ", elements ", len(slices.Collect(e.Elements()))))
	}
	want := []string{
		"a in  contains a b c d e f, elements 2", "b in a contains b c d e, elements 2", "c in b contains c, elements 0",
		"d in b contains d e, elements 1", "e in d contains e, elements 0", "f in a contains f, elements 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	b := all[1]
	if !b.Is("", "b") || b.Is("", "c") || b.Is("u:v", "b") || b.Contains(xmldoc.Node{}) {
		t.Error("Is or Contains of b is wrong")
	}
}

// TestInherits checks whether elements use a prefix that is declared outside (Namespaces in XML 1.0 6.1).
func TestInherits(t *testing.T) {
	for content, want := range map[string]bool{
		`<b/>`:        false,
		`<p:b/>`:      true,
		`<b p:c=""/>`: true,
		`<b><c>text<!-- --><?p p?></c><p:d/></b>`:  true,
		`<p:b xmlns:p="u:w" p:c=""><p:d/></p:b>`:   false,
		`<b><c xmlns:p="u:w"><p:d/></c><p:e/></b>`: true,
		`<b><c xmlns:p="u:w"><p:d/></c><e/></b>`:   false,
		`<b p:c=""><c xmlns:p="u:w"/></b>`:         true,
		`<b xmlns:q="u:w"><q:p q:p=""/></b>`:       false,
		`<b xmlns="u:v"/>`:                         false,
		`<b><?p?></b>`:                             false,
	} {
		b := elementsOf(parse(t, `<a xmlns:p="u:v">`+content+`</a>`))[1]
		if got := b.Inherits("p"); got != want {
			t.Errorf("%s: got %t, want %t", content, got, want)
		}
	}
}

// TestZeroNode checks that all methods of the zero Node return zero values.
func TestZeroNode(t *testing.T) {
	var n xmldoc.Node
	_, hasAttribute := n.Attr("", "a")
	_, bound := n.Namespace("")
	_, _, inside := n.ContentRange()
	start, end := n.Span()
	switch {
	case n.Kind() != 0, n.Is("", ""), n.Name() != xmldoc.Name{}, n.Prefix() != "", n.Text() != "", n.Parent() != n, n.AttributeCount() != 0,
		n.Contains(n), n.Inherits(""), hasAttribute, bound, inside, start != 0, end != 0:
		t.Error("a method returns a value")
	}
	for range n.Attributes() {
		t.Error("Attributes returns one")
	}
	for range n.Pieces() {
		t.Error("Pieces returns one")
	}
	if nodes := slices.AppendSeq(slices.Collect(n.Descendants()), n.Children()); nodes != nil {
		t.Errorf("nodes in it: %v", nodes)
	}
}

// TestValues checks the normalized values of attributes and the texts of elements (XML 1.0 2.7, 2.11,
// 3.3.3 and 4.1).
func TestValues(t *testing.T) {
	for _, tc := range []struct{ name, raw, value, text string }{
		{"empty", "", "", ""},
		{"characters of every length", "aé€\U0001F58B", "aé€\U0001F58B", "aé€\U0001F58B"},
		{"white space", " \t\n ", "    ", " \t\n "},
		{"line ends", "\r\n\r\r\n\n", "    ", "\n\n\n\n"},
		{"line end at the end", "a\r", "a ", "a\n"},
		{"references to white space", "&#9;&#10;&#13;&#x20;", "\t\n\r ", "\t\n\r "},
		{"line ends partly from references", "&#13;\n\r&#10;", "\r  \n", "\r\n\n\n"},
		{"entities", "&lt;&amp;lt;&gt;&quot;&apos;", "<&lt;>\"'", "<&lt;>\"'"},
		{"references to characters of every length", "&#x41;&#233;&#x20AC;&#x1F58B;", "Aé€\U0001F58B", "Aé€\U0001F58B"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := parse(t, `<a b="`+tc.raw+`">`+tc.raw+"<c/><![CDATA[&#9;<x>\r\n]]]]>"+tc.raw+`</a>`).Root()
			var pieces strings.Builder
			for n := range root.Children() {
				for piece := range n.Pieces() {
					pieces.Write(piece)
				}
			}
			value, _ := root.Attr("", "b")
			text := tc.text + "&#9;<x>\n]]" + tc.text
			if got, want := [3]string{value, root.Text(), pieces.String()}, [3]string{tc.value, text, text}; got != want {
				t.Errorf("value, text and pieces: got %q, want %q", got, want)
			}
		})
	}
}

// TestNamespace checks the namespaces of prefixes at two elements, and which of them each element
// declares itself.
func TestNamespace(t *testing.T) {
	d := parse(t, "<a xmlns='u:v' xmlns:p='u:w' b=''><b xmlns='' xmlns:p='u:x&amp;y' d=''><c/></b></a>")
	all := elementsOf(d)
	for _, tc := range []struct {
		element         int
		prefix, uri     string
		bound, declared bool
	}{
		{0, "", "u:v", true, true},
		{0, "p", "u:w", true, true},
		{0, "q", "", false, false},
		{0, "b", "", false, false},
		{0, "xml", xmlSpace, true, false},
		{0, "xmlns", "http://www.w3.org/2000/xmlns/", true, false},
		{1, "", "", false, true},
		{1, "p", "u:x&y", true, true},
		{2, "", "", false, false},
		{2, "p", "u:x&y", true, false},
	} {
		uri, bound := all[tc.element].Namespace(tc.prefix)
		own, declared := all[tc.element].Declares(tc.prefix)
		if uri != tc.uri || bound != tc.bound || declared != tc.declared || declared && own != tc.uri {
			t.Errorf("prefix %q at element %d: got %q, %t, declared as %q, %t; want %q, %t, %t",
				tc.prefix, tc.element, uri, bound, own, declared, tc.uri, tc.bound, tc.declared)
		}
	}
	if got, want := [3]int{all[0].AttributeCount(), all[1].AttributeCount(), all[2].AttributeCount()}, [3]int{3, 3, 0}; got != want {
		t.Errorf("widths: got %v, want %v", got, want)
	}
	if _, ok := d.Root().Attr("http://www.w3.org/2000/xmlns/", "p"); ok {
		t.Error("Attr returns a namespace declaration")
	}
	if got, want := d.Prefixes(), []string{"", "p"}; !slices.Equal(got, want) {
		t.Errorf("prefixes: got %q, want %q", got, want)
	}
}

// TestIdentifiers checks which attributes are identifiers, and that none is the identifier of several
// elements.
func TestIdentifiers(t *testing.T) {
	for _, tc := range []struct {
		document   string
		want       map[string]string // identifier to element
		duplicates string
	}{
		{
			"<a Id='1'><b ID='2'/><c id='3' ID='3'/><d xml:id='4'/><e iD='5'/><f xmlns:p='u:v' p:Id='6'/><g id='&#x37;'/><h id='8' ID='9'/><id id='10'/></a>",
			map[string]string{"1": "a", "2": "b", "3": "c", "4": "d", "5": "", "6": "", "7": "g", "8": "h", "9": "h", "10": "id", "": ""}, "",
		},
		{"<a><b Id='x'/><c Id='x'/></a>", map[string]string{"x": ""}, "x"},
		{"<a><b ID='x'/><c xml:id='x'/><d Id='y'/></a>", map[string]string{"x": "", "y": "d"}, "x"},
		{"<a><b Id='x'/><c Id='&#x78;'/></a>", map[string]string{"x": ""}, "x"},
		{"<a><b Id='x' ID='x'/><c Id='x'/></a>", map[string]string{"x": ""}, "x"},
	} {
		d := parse(t, tc.document)
		for id, want := range tc.want {
			if n, ok := d.ByID(id); n.Name().Local != want || ok != (want != "") {
				t.Errorf("%s: element of %q: got %q, %t; want %q", tc.document, id, n.Name().Local, ok, want)
			}
		}
		if id, found := d.DuplicateID(); id != tc.duplicates || found != (tc.duplicates != "") {
			t.Errorf("%s: duplicate: got %q, %t; want %q", tc.document, id, found, tc.duplicates)
		}
	}
}

// TestManyIdentifiers looks up each of 5,000 identifiers, one of them a duplicate.
func TestManyIdentifiers(t *testing.T) {
	d := parse(t, "<a>"+numbered("<b n='' Id='x%d'><c/></b>text", 0, 4999)+"<d Id='x77'/><d Id='x77'/></a>")
	for i := range 5001 {
		id := fmt.Sprint("x", i)
		n, ok := d.ByID(id)
		if got, _ := n.Attr("", "Id"); ok != (i != 77 && i != 5000) || ok && got != id {
			t.Fatalf("element of %s: got that of %q, %t", id, got, ok)
		}
	}
	if id, _ := d.DuplicateID(); id != "x77" {
		t.Errorf("duplicate: got %q, want x77", id)
	}
}

// TestHasComments checks the whole document, its root, and the root without its elements x.
func TestHasComments(t *testing.T) {
	for document, want := range map[string][3]bool{
		`<a><b>1</b><?go?></a>`:                     {false, false, false},
		`<!-- 1 --><a/>`:                            {true, false, false},
		`<a/><!-- 1 -->`:                            {true, false, false},
		`<a><b>1<!-- 1 --></b></a>`:                 {true, true, true},
		`<a><x><b><!-- 1 --></b></x></a>`:           {true, true, false},
		`<a><x><b><!-- 1 --></b></x><!-- 2 --></a>`: {true, true, true},
	} {
		d := parse(t, document)
		without := func(n xmldoc.Node) bool { return n.Is("", "x") }
		got := [3]bool{
			d.HasComments(xmldoc.Subset{}), d.HasComments(xmldoc.Subset{Apex: d.Root()}),
			d.HasComments(xmldoc.Subset{Apex: d.Root(), Without: without}),
		}
		if got != want {
			t.Errorf("%s: got %v, want %v", document, got, want)
		}
	}
}
