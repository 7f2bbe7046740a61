package doc_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// rule is a rule of XML, with documents that obey or violate it.
type rule struct {
	name      string
	want      error  // of Parse
	libxml2   string // why libxml2 decides otherwise; "" if it decides alike
	documents []string
}

func accepted(name string, documents ...string) rule { return rule{name, nil, "", documents} }

func malformed(name string, documents ...string) rule {
	return rule{name, xmldoc.ErrMalformed, "", documents}
}

// Reasons for which libxml2 decides otherwise.
const (
	readsDoctype   = "libxml2 reads document type declarations"
	laxEncoding    = "libxml2 prefers the byte order mark to the declared encoding"
	laxVersion     = "libxml2 reads later versions as if they were 1.0 (XML 1.0, fifth edition, 2.8)"
	otherCharsets  = "libxml2 supports more charsets"
	looseReference = "libxml2 accepts any number of leading zeros"
)

var rules = []rule{
	// XML 1.0 (fifth edition) 2.1: documents
	accepted("one root", "<a/>", " \r\n\t<a></a>\r\n", "<!--c--><?p q?><a/><?p?><!---->"),
	malformed("no root", "", "\n", "<!--c-->", "<![CDATA[]]>"),
	malformed("two roots", "<a/><b/>"),
	malformed("text outside of the root", "<a/>x", "x<a/>", "<a/>&#32;", "<a/><![CDATA[]]>"),
	malformed("no end tag", "<a>"),
	malformed("end tag of another name", "<a></b>", "<a></ab>", "<ab></a>", "<a><b></a></b>"),
	malformed("end tag without a start tag", "<a/></a>", "</a>"),

	// 2.2: characters
	accepted("characters of all planes", "<a>\t\n\r \u007F\u0085\uD7FF\uE000\uFFFD\U00010000\U0010FFFF</a>"),
	malformed("control character", "<a>\x01</a>", "<a>\x00</a>", "<a><!--\x1F--></a>", "<a><?p \x1F?></a>",
		"<a><![CDATA[\x0B]]></a>", "<a b='\x0C'/>", "<a/>\x0C"),
	malformed("noncharacter", "<a>\uFFFE</a>", "<a><!--\uFFFF--></a>"),

	// 2.3: names
	accepted("letters of all kinds in names", "<Þ·́.-9_ é='1'/>", "<\U00010400/>"),
	malformed("character that cannot begin a name", "<1a/>", "<-a/>", "<\u0301a/>"),
	malformed("character that cannot occur in a name", "<a×/>", "<\U000F0000/>"),
	malformed("no element name", "<>", "< a/>"),

	// 2.4: character data
	accepted("greater-than and brackets", "<a>></a>", "<a>]] ]]&gt; ]></a>", "<a b=']]>'/>"),
	malformed("end of a CDATA section in text", "<a>]]></a>"),
	malformed("ampersand or less-than in text", "<a>a & b</a>", "<a>1 < 2</a>"),

	// 2.5: comments
	accepted("markup in a comment", "<a><!-- <&>]]> - -a --></a>"),
	malformed("two hyphens in a comment", "<a><!-- -- --></a>", "<a><!-----></a>"),
	malformed("comment without an end", "<a><!-- </a>", "<a><!--></a>"),
	malformed("comment in a tag", "<a <!-- --> />"),

	// 2.6: processing instructions
	accepted("markup in an instruction", "<a><?p <&>--]]> ? > ??></a>", "<?xml-stylesheet href='a'?><a/>"),
	malformed("no white space after the target", "<a><?p+?></a>"),
	malformed("instruction without a target or without an end", "<a><? p?></a>", "<a><?p ></a>"),
	malformed("reserved target", "<a><?xml version='1.0'?></a>", " <?xml version='1.0'?><a/>", "<a><?XML p?></a>", "<a><?xml?></a>"),

	// 2.7: CDATA sections
	accepted("CDATA sections", "<a>x<![CDATA[<b>&c;]]]]><![CDATA[>]]>y</a>", "<a><![CDATA[]]></a>"),
	malformed("CDATA section without an end", "<a><![CDATA[]]</a>"),
	malformed("CDATA section in lower case", "<a><![cdata[]]></a>"),

	// 2.8: prolog
	accepted("XML declaration", "<?xml version='1.0' encoding='utf-8' standalone='no'?><a/>", "<?xml\tversion = \"1.0\"\r\n?><a/>"),
	malformed("no version, or version 2.0", "<?xml encoding='UTF-8'?><a/>", "<?xml version='2.0'?><a/>"),
	{"version 1.1", xmldoc.ErrMalformed, laxVersion, []string{"<?xml version='1.1'?><a/>"}},
	malformed("no white space between pseudo-attributes", "<?xml version='1.0'encoding='UTF-8'?><a/>"),
	malformed("pseudo-attributes in another order", "<?xml version='1.0' standalone='yes' encoding='UTF-8'?><a/>"),
	malformed("unknown pseudo-attribute", "<?xml version='1.0' other='1'?><a/>"),
	malformed("pseudo-attribute without proper quotes", "<?xml version=1.0?><a/>", "<?xml version='1.0\"?><a/>"),
	malformed("declaration without an end", "<?xml version='1.0'><a/>"),
	malformed("declaration in capitals", "<?XML version='1.0'?><a/>"),
	malformed("standalone is neither yes nor no", "<?xml version='1.0' standalone='1'?><a/>", "<?xml version='1.0' standalone='YES'?><a/>"),
	{"document type declaration", xmldoc.ErrDoctype, readsDoctype, []string{"<!DOCTYPE a><a/>",
		"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "<?xml version='1.0'?><!--c--><!DOCTYPE a SYSTEM 'file:///dev/null'><a/>"}},
	{"document type declaration in the root", xmldoc.ErrDoctype, "", []string{"<a><!DOCTYPE a></a>"}},
	malformed("document type declaration in lower case", "<!doctype a><a/>"),

	// 3.1: tags
	accepted("quotes and white space in tags", "<a b='\"' c=\"'\" d = 'x'\n/>", "<a ></a >", "<a b='>'/>"),
	malformed("markup in a value", "<a b='<'/>", "<a b='&'/>"),
	malformed("the same attribute twice", "<a b='1' b='2'/>"),
	malformed("attribute without quotes, value or name", "<a b=1/>", "<a b/>", "<a ='1'/>", "<a b='1/>"),
	malformed("no white space between attributes", "<a b='1'c='2'/>"),
	malformed("attribute of an end tag", "<a></a b='1'>"),
	malformed("white space in a delimiter", "<a / >", "<a></ a>"),
	malformed("tag without an end", "<a", "<a <b/></a>"),

	// 4.1, 4.6: references
	accepted("predefined entities", "<a b='&lt;&quot;'>&amp;&apos;&gt;</a>"),
	accepted("character references", "<a b='&#9;'>&#x10FFFF;&#xd;&#10;&#x00041;</a>"),
	malformed("undefined entity", "<a>&nbsp;</a>", "<a>&;</a>", "<a b='&c;'/>"),
	malformed("reference without an end", "<a>&amp</a>", "<a>&am<b/>p;</a>"),
	malformed("reference to no character of XML", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#xFFFE;</a>", "<a>&#x110000;</a>", "<a>&#4294967361;</a>"),
	malformed("reference without digits, or with other characters", "<a>&#;</a>", "<a>&#x;</a>", "<a>&#X41;</a>", "<a>&#4A;</a>", "<a>&#+65;</a>"),
	{"reference with many zeros", xmldoc.ErrMalformed, looseReference, []string{"<a>&#" + strings.Repeat("0", 40) + "65;</a>"}},

	// Namespaces in XML 1.0 (third edition) 2.2, 3: declarations
	accepted("prefix and default", "<a xmlns='u' xmlns:p='v'><p:b p:c='1' c='2'/></a>", "<p:a p:b='1' xmlns:p='u:v'/>"),
	accepted("prefix xml", "<a xml:lang='is' xml:id='b' xmlns:xml='http://www.w3.org/XML/1998/namespace'/>"),
	accepted("default namespace undeclared", "<a xmlns='u:v'><b xmlns=''/></a>"),
	accepted("prefix declared again", "<p:a xmlns:p='u:v'><p:b xmlns:p='u:w'/><p:c/></p:a>"),
	accepted("prefix that begins with xml", "<xmla:b xmlns:xmla='u:v'/>"),
	malformed("undeclared prefix", "<p:a/>", "<a p:b='1'/>"),
	malformed("prefix out of scope", "<a><b xmlns:p='u:v'/><p:c/></a>", "<a><b xmlns:p='u:v'></b><p:c/></a>"),
	malformed("prefix undeclared", "<a xmlns:p=''/>"),
	malformed("prefix xml or its namespace bound otherwise", "<a xmlns:xml='u:v'/>",
		"<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>", "<a xmlns='http://www.w3.org/XML/1998/namespace'/>"),
	malformed("prefix xmlns or its namespace used", "<a xmlns:xmlns='http://www.w3.org/2000/xmlns/'/>",
		"<a xmlns:p='http://www.w3.org/2000/xmlns/'/>", "<a xmlns='http://www.w3.org/2000/xmlns/'/>", "<xmlns:a/>"),
	malformed("prefix or default declared twice", "<a xmlns:p='u:v' xmlns:p='u:v'/>", "<a xmlns='u:v' xmlns='u:v'/>"),

	// 4: qualified names
	malformed("colon in a wrong place", "<a xmlns:p='u:v'><p:b:c/></a>", "<:a/>", "<a:/>", "<a xmlns:p='u:v'><p:1/></a>",
		"<a :b='1'/>", "<a xmlns:='u:v'/>", "<a><?p:q r?></a>"),

	// 6.3: uniqueness of attributes
	accepted("one local name in several namespaces", "<a xmlns:p='u:v' xmlns:q='u:w' p:b='' q:b='' b=''/>", "<a xmlns='u:v' xmlns:p='u:v' p:b='' b=''/>"),
	malformed("one expanded name twice", "<a xmlns:p='u:v' xmlns:q='u:v' p:b='' q:b=''/>",
		"<a xmlns:p='u:v'><b xmlns:q='u:v' q:b='' p:b=''/></a>", "<a xmlns:p='u:v' xmlns:q='u&#58;v' p:b='' q:b=''/>"),

	// The limit of libxml2, and so of xmlsec1.
	accepted("257 nested elements", nested(257)),
	{"258 nested elements", xmldoc.ErrLimit, "", []string{nested(258), strings.Repeat("<a>", 257) + "<a/>" + strings.Repeat("</a>", 257)}},
}

// TestParse checks the decision on each document of the rules.
func TestParse(t *testing.T) {
	for _, r := range slices.Concat(rules, encodingRules) {
		t.Run(r.name, func(t *testing.T) {
			for _, source := range r.documents {
				d, err := xmldoc.Parse([]byte(source))
				if !errors.Is(err, r.want) {
					t.Errorf("%.100q: got %v, want %v", source, err, r.want)
				}
				if err == nil && d.Root().Kind() != xmldoc.Element {
					t.Errorf("%.100q has no root", source)
				}
			}
		})
	}
}

// TestCommonNames checks names of the fourth edition of XML 1.0 (appendix B) and names that only the
// fifth edition allows.
func TestCommonNames(t *testing.T) {
	for _, tc := range []struct {
		names string
		want  bool
	}{
		{"a _ a-b.1 é Þóra жук 中 한 ぁ 〇 a々 Ω א ア ĸ a\u0300 a\u00B7 a\u0661", true},
		{"Ĳ Ŀ ŉ ſ Ǆ Ș 㐀 ﬁ Ａ a\u203F a\u2040 \u200C 々 \U00010000 a\U0002F800", false},
		{strings.Repeat("é", 1000), true},
		{strings.Repeat("a", 1001), false},
	} {
		for name := range strings.FieldsSeq(tc.names) {
			for _, source := range []string{
				"<N/>", "<a N=''/>", "<p:N xmlns:p='u:v'/>", "<N:a xmlns:N='u:v'/>", "<a xmlns:N='u:v'/>", "<a><?N?></a>",
			} {
				source = strings.ReplaceAll(source, "N", name)
				if got := parse(t, source).HasPortableNames(); got != tc.want {
					t.Errorf("%+.40q: got %t, want %t", source, got, tc.want)
				}
			}
		}
	}
}

// FuzzParse parses arbitrary documents. In a document that Parse accepts, the children of a node fill
// it, and the root has the same tree when it is the whole document.
func FuzzParse(f *testing.F) {
	for _, r := range slices.Concat(rules, encodingRules) {
		for _, source := range r.documents {
			f.Add([]byte(source))
		}
	}
	for seed := range uint64(20) {
		document, _ := generate(seed)
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		if len(source) > 1<<12 {
			t.Skip("longer than the interesting inputs")
		}
		d, err := xmldoc.Parse(source)
		if err != nil {
			return
		}
		start, end := d.Root().Span()
		if d.Declaration() > start || end > int64(len(source)) {
			t.Fatalf("the root is at %d to %d, the declaration ends at %d, the source at %d", start, end, d.Declaration(), len(source))
		}
		checkNesting(t, d.Root())
		alone := string(source[:d.Declaration()]) + string(source[start:end])
		if diff := cmp.Diff(outline(d.Root()), outline(parse(t, alone).Root())); diff != "" {
			t.Error(diff)
		}
		if id, found := d.DuplicateID(); found {
			if _, ok := d.ByID(id); ok {
				t.Errorf("ByID returns one of the elements with the identifier %q", id)
			}
		}
	})
}

// checkNesting checks that the children of a node fill it without gaps.
func checkNesting(t *testing.T, n xmldoc.Node) {
	at, end, ok := n.ContentRange()
	for child := range n.Children() {
		childStart, childEnd := child.Span()
		if !ok || childStart != at || childEnd <= childStart || child.Parent() != n {
			t.Fatalf("a child is at %d to %d, want one from %d", childStart, childEnd, at)
		}
		at = childEnd
		checkNesting(t, child)
	}
	if ok && at != end {
		t.Fatalf("no child from %d to %d", at, end)
	}
}

// outline describes a node and its content, one node or attribute a line.
func outline(n xmldoc.Node) (lines []string) {
	kinds := [...]string{xmldoc.Element: "element", xmldoc.Text: "text", xmldoc.Comment: "comment", xmldoc.Instruction: "instruction"}
	line := fmt.Sprintf("%s {%s}%s %s", kinds[n.Kind()], n.Name().Space, n.Name().Local, n.Prefix())
	if n.Kind() == xmldoc.Text {
		line = "text " + n.Text()
	}
	lines = append(lines, line)
	for name, value := range n.Attributes() {
		lines = append(lines, fmt.Sprintf("attribute {%s}%s=%s", name.Space, name.Local, value))
	}
	for child := range n.Children() {
		lines = append(lines, outline(child)...)
	}
	return lines
}

func parse(t testing.TB, source string) *xmldoc.Document {
	t.Helper()
	d, err := xmldoc.Parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// elementsOf returns the elements of a document in document order.
func elementsOf(d *xmldoc.Document) []xmldoc.Node {
	return append([]xmldoc.Node{d.Root()}, slices.Collect(d.Root().Descendants())...)
}
