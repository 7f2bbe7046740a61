package doc_test

import "github.com/innsigli/innsigli/internal/test/validators"

// canonicalTest is a rule with its result. The zero form is that of Canonical XML 1.0 of the whole
// document, without comments.
type canonicalTest struct {
	rule     string
	document string
	form     validators.CanonicalForm
	want     string
	mistaken bool // libxml2 is; the rule says why
}

func element(number int, method string) validators.CanonicalForm {
	return validators.CanonicalForm{Method: method, Apex: number}
}

func exclusive(number int, prefixes ...string) validators.CanonicalForm {
	return validators.CanonicalForm{Method: "exclusive", Apex: number, Prefixes: prefixes}
}

var withComments = validators.CanonicalForm{Method: "1.0", Comments: true}

// clauses are those of Canonical XML 1.0 (C14N), 1.1 (C14N11), Exclusive XML Canonicalization
// (EXC) and XML 1.0 (XML).
var clauses = []canonicalTest{
	{
		rule:     "C14N 2.3: nothing of the declaration, no white space outside of the root, no empty-element tags",
		document: "<?xml version='1.0' standalone='yes'?>\r\n<a ><b\n/> <c></c\t></a>\n\n",
		want:     "<a><b></b> <c></c></a>",
	}, {
		rule:     "C14N 2.3: a line for each instruction and comment outside of the root",
		document: "<!--1--> <?p 2?><a><!--3--><?p?></a><!--4\r\n--><?p    5 \r?>\n",
		form:     withComments,
		want:     "<!--1-->\n<?p 2?>\n<a><!--3--><?p?></a>\n<!--4\n-->\n<?p 5 \n?>",
	}, {
		rule:     "C14N 2.1: and no line for comments that are left out",
		document: "<!--1--> <?p 2?><a><!--3--><?p?></a><!--4--><?p 5?>",
		want:     "<?p 2?>\n<a><?p?></a>\n<?p 5?>",
	}, {
		rule:     "C14N 2.3: the characters of text nodes",
		document: "<a>\"'&gt;>&lt;&amp;&#13;\t\n]] > &#x1F58B;\U0001F58B</a>",
		want:     "<a>\"'&gt;&gt;&lt;&amp;&#xD;\t\n]] &gt; \U0001F58B\U0001F58B</a>",
	}, {
		rule:     "C14N 2.3: the characters of attribute nodes",
		document: `<a b='"&apos;>&lt;&amp;&#9;&#10;&#13;&#32;'/>`,
		want:     `<a b="&quot;'>&lt;&amp;&#x9;&#xA;&#xD; "></a>`,
	}, {
		rule:     "XML 3.3.3: white space in a value is spaces, and a value of an undeclared attribute keeps them all",
		document: "<a b='\t1\n2\r3\r\n4  '/>",
		want:     `<a b=" 1 2 3 4  "></a>`,
	}, {
		rule:     "XML 2.11: line ends",
		document: "<a>1\r\n2\r3\n4\r\r\n5&#13;\n</a>",
		want:     "<a>1\n2\n3\n4\n\n5&#xD;\n</a>",
	}, {
		rule:     "C14N 2.1: CDATA sections are their content",
		document: "<a>1<![CDATA[<&>\"\r\n&#13;]]>2<![CDATA[]]><![CDATA[]]]]><![CDATA[>]]></a>",
		want:     "<a>1&lt;&amp;&gt;\"\n&amp;#13;2]]&gt;</a>",
	}, {
		rule:     "C14N 2.2: attributes by the name of their namespace, and not by prefix",
		document: `<r xmlns:a='urn:2' xmlns:b='urn:1' a:y='1' a:x='2' b:z='3' z='4' B='5' xml:lang='is'/>`,
		want:     `<r xmlns:a="urn:2" xmlns:b="urn:1" B="5" z="4" xml:lang="is" b:z="3" a:x="2" a:y="1"></r>`,
	}, {
		rule:     "C14N 2.2: declarations by prefix, the default first, in the order of code points",
		document: "<r xmlns:\U00010400='urn:1' xmlns:\uFA0E='urn:2' xmlns:b='urn:3' xmlns:B='urn:4' xmlns='urn:5'/>",
		want:     "<r xmlns=\"urn:5\" xmlns:B=\"urn:4\" xmlns:b=\"urn:3\" xmlns:\uFA0E=\"urn:2\" xmlns:\U00010400=\"urn:1\"></r>",
	}, {
		rule:     "C14N 2.3: a declaration that says what is said already",
		document: `<a:r xmlns:a='urn:1'><a:b xmlns:a='urn:&#49;'><a:c xmlns:a='urn:2'><a:d xmlns:a='urn:1'/></a:c><a:e/></a:b></a:r>`,
		want:     `<a:r xmlns:a="urn:1"><a:b><a:c xmlns:a="urn:2"><a:d xmlns:a="urn:1"></a:d></a:c><a:e></a:e></a:b></a:r>`,
	}, {
		rule:     "C14N 4.6: a declaration that takes another back, and none of nothing",
		document: `<r xmlns=''><b xmlns='urn:1'><c xmlns=''><d xmlns=''/></c><e/></b></r>`,
		want:     `<r><b xmlns="urn:1"><c xmlns=""><d></d></c><e></e></b></r>`,
	}, {
		rule:     "C14N 2.3: nothing is said of the prefix xml",
		document: `<r xmlns:xml='http://www.w3.org/XML/1998/namespace' xml:space='preserve'/>`,
		want:     `<r xml:space="preserve"></r>`,
	}, {
		rule:     "C14N 2.3: the name of a namespace is written as the value of an attribute; libxml2 leaves its & as it is",
		document: `<r xmlns='urn:a?b=1&amp;c="'/>`,
		want:     `<r xmlns="urn:a?b=1&amp;c=&quot;"></r>`,
		mistaken: true,
	}, {
		rule:     "C14N 2.4: an apex has all namespaces in scope, and all nearest attributes in that of xml",
		document: `<a xmlns='urn:1' xmlns:p='urn:2' xml:lang='is' xml:id='i' xml:any='1'><b xmlns:p='urn:3' xml:lang='en'><c xmlns:q='urn:4' xml:base='x'/></b></a>`,
		form:     element(3, "1.0"),
		want:     `<c xmlns="urn:1" xmlns:p="urn:3" xmlns:q="urn:4" xml:any="1" xml:base="x" xml:id="i" xml:lang="en"></c>`,
	}, {
		rule:     "C14N11 2.4: it has no identifier of others, nor what the namespace of xml may have one day",
		document: `<a xmlns='urn:1' xml:lang='is' xml:id='i' xml:any='1' xml:space='preserve'><b xml:lang='en'><c xml:any='2'/></b></a>`,
		form:     element(3, "1.1"),
		want:     `<c xmlns="urn:1" xml:any="2" xml:lang="en" xml:space="preserve"></c>`,
	}, {
		rule:     "C14N 2.4: a declaration around the apex that another takes back",
		document: `<a xmlns='urn:1'><b xmlns=''><c/></b></a>`,
		form:     element(3, "1.0"),
		want:     `<c></c>`,
	}, {
		rule:     "C14N11 2.4: values of xml:base become one",
		document: `<a xml:base='http://example.org/x/y'><b xml:base='../z/'><c xml:base='w'/></b></a>`,
		form:     element(3, "1.1"),
		want:     `<c xml:base="http://example.org/z/w"></c>`,
	}, {
		rule:     "C14N11 2.4: of relative values too",
		document: `<a><b xml:base='x/'><c xml:base='y?&lt;"&#9;'/></b></a>`,
		form:     element(3, "1.1"),
		want:     `<c xml:base="x/y?&lt;&quot;&#x9;"></c>`,
		mistaken: true, // what is no URI is not joined there; it is none, and somebody has to write something
	}, {
		rule:     "C14N11 2.4: one of them stays as it is",
		document: `<a xml:base='..'><b><c/></b></a>`,
		form:     element(3, "1.1"),
		want:     `<c xml:base=".."></c>`,
	}, {
		rule:     "C14N11 2.4: leading segments .. stay",
		document: `<a><b xml:base='..'><c xml:base='..'><d xml:base='x'/></c></b></a>`,
		form:     element(4, "1.1"),
		want:     `<d xml:base="../../x"></d>`,
	}, {
		rule:     "C14N11 2.4: nothing is left of them",
		document: `<a xml:base='abc/'><b xml:base='../'/></a>`,
		form:     element(2, "1.1"),
		want:     `<b></b>`,
	}, {
		rule:     "C14N11 2.4: an empty value stays where nothing around it is left out; libxml2 drops it",
		document: `<a xml:base='x/'><b xml:base=''/></a>`,
		form:     element(0, "1.1"),
		want:     `<a xml:base="x/"><b xml:base=""></b></a>`,
		mistaken: true,
	}, {
		rule:     "EXC 3: the namespaces that names use, each where it is first used",
		document: `<a xmlns='urn:1' xmlns:p='urn:2' xmlns:q='urn:3' xml:lang='is'><b p:x='1'><p:c/><q:d/></b><q:d/></a>`,
		form:     exclusive(2),
		want:     `<b xmlns="urn:1" xmlns:p="urn:2" p:x="1"><p:c></p:c><q:d xmlns:q="urn:3"></q:d></b>`,
	}, {
		rule:     "EXC 3: an attribute without a prefix uses no default namespace",
		document: `<p:a xmlns='urn:1' xmlns:p='urn:2' x='1'><b xmlns=''/></p:a>`,
		form:     exclusive(0),
		want:     `<p:a xmlns:p="urn:2" x="1"><b></b></p:a>`,
	}, {
		rule:     "EXC 3: a default namespace is taken back where it was written and is not meant",
		document: `<a xmlns='urn:1'><p:b xmlns='' xmlns:p='urn:2'><c/><d xmlns='urn:1'/></p:b></a>`,
		form:     exclusive(0),
		want:     `<a xmlns="urn:1"><p:b xmlns:p="urn:2"><c xmlns=""></c><d></d></p:b></a>`,
	}, {
		rule:     "EXC 3: a prefix means something else on the way, where nothing uses it",
		document: `<p:a xmlns:p='urn:1'><b xmlns:p='urn:2'><p:c xmlns:p='urn:1'/><p:d/></b></p:a>`,
		form:     exclusive(0),
		want:     `<p:a xmlns:p="urn:1"><b><p:c></p:c><p:d xmlns:p="urn:2"></p:d></b></p:a>`,
	}, {
		rule:     "EXC 3: prefixes of the list are treated as in C14N",
		document: `<a xmlns='urn:1' xmlns:p='urn:2' xmlns:q='urn:3'><q:b><c xmlns:p='urn:4' xmlns='urn:5'/></q:b></a>`,
		form:     exclusive(2, "p", "none"),
		want:     `<q:b xmlns:p="urn:2" xmlns:q="urn:3"><c xmlns="urn:5" xmlns:p="urn:4"></c></q:b>`,
	}, {
		rule:     "EXC 3: so is #default",
		document: `<a xmlns='urn:1' xmlns:p='urn:2'><p:b><p:c xmlns=''/></p:b></a>`,
		form:     exclusive(2, ""),
		want:     `<p:b xmlns="urn:1" xmlns:p="urn:2"><p:c xmlns=""></p:c></p:b>`,
	}, {
		rule:     "elements are left out with all that is in them, and nothing else",
		document: `<a xmlns:s='urn:s'> <s:x><b/>1<!--2--></s:x> <c xmlns='urn:s'><x><s:x/></x>3</c></a>`,
		form:     validators.CanonicalForm{Method: "1.0", Comments: true, Without: [][2]string{{"urn:s", "x"}}},
		want:     `<a xmlns:s="urn:s">  <c xmlns="urn:s">3</c></a>`,
	}, {
		rule:     "the apex may be left out itself",
		document: `<a><b><c/></b></a>`,
		form:     validators.CanonicalForm{Method: "1.0", Apex: 2, Without: [][2]string{{"", "b"}}},
		want:     ``,
	}, {
		rule:     "C14N 2: UTF-8, whatever the source is",
		document: "\xFE\xFF\x00<\x00a\x00>\x00\xE9\xD8\x3D\xDD\x8B\x00<\x00/\x00a\x00>",
		want:     "<a>é\U0001F58B</a>",
	},
}
