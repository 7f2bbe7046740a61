package doc_test

import (
	"errors"
	"strings"
	"testing"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// judgement is a document with what Parse says of it.
type judgement struct {
	name, source string
	want         error
	libxml2      string // why libxml2 says something else; empty when it does not
}

const (
	readsDoctype   = "it reads document type declarations"
	laxEncoding    = "it takes the byte order mark for more than what is declared"
	laxVersion     = "it reads later versions as if they were 1.0 (XML 1.0, fifth edition, 2.8)"
	otherCharsets  = "it has more charsets"
	looseReference = "it takes any number of zeros"
)

// Sections of XML 1.0 (fifth edition).
var documents = []judgement{
	// 2.1
	{"an empty element", "<a/>", nil, ""},
	{"white space around", " \r\n\t<a></a>\r\n", nil, ""},
	{"a comment and an instruction on both sides", "<!--c--><?p q?><a/><?p?><!---->", nil, ""},
	{"nothing", "", xmldoc.ErrMalformed, ""},
	{"white space alone", "\n", xmldoc.ErrMalformed, ""},
	{"a comment alone", "<!--c-->", xmldoc.ErrMalformed, ""},
	{"two roots", "<a/><b/>", xmldoc.ErrMalformed, ""},
	{"text after the root", "<a/>x", xmldoc.ErrMalformed, ""},
	{"text before the root", "x<a/>", xmldoc.ErrMalformed, ""},
	{"a reference after the root", "<a/>&#32;", xmldoc.ErrMalformed, ""},
	{"a CDATA section after the root", "<a/><![CDATA[]]>", xmldoc.ErrMalformed, ""},
	{"no end tag", "<a>", xmldoc.ErrMalformed, ""},
	{"the end tag of another", "<a></b>", xmldoc.ErrMalformed, ""},
	{"the end tag of a longer name", "<a></ab>", xmldoc.ErrMalformed, ""},
	{"the end tag of a shorter name", "<ab></a>", xmldoc.ErrMalformed, ""},
	{"elements across each other", "<a><b></a></b>", xmldoc.ErrMalformed, ""},
	{"an end tag too many", "<a/></a>", xmldoc.ErrMalformed, ""},
	{"an end tag alone", "</a>", xmldoc.ErrMalformed, ""},

	// 2.2
	{"characters of all planes", "<a>\t\n\r \u007F\u0085\uD7FF\uE000\uFFFD\U00010000\U0010FFFF</a>", nil, ""},
	{"a control character", "<a>\x01</a>", xmldoc.ErrMalformed, ""},
	{"a zero", "<a>\x00</a>", xmldoc.ErrMalformed, ""},
	{"a control character in a comment", "<a><!--\x1F--></a>", xmldoc.ErrMalformed, ""},
	{"a control character in an instruction", "<a><?p \x1F?></a>", xmldoc.ErrMalformed, ""},
	{"a control character in a CDATA section", "<a><![CDATA[\x0B]]></a>", xmldoc.ErrMalformed, ""},
	{"a control character in a value", "<a b='\x0C'/>", xmldoc.ErrMalformed, ""},
	{"a control character after the root", "<a/>\x0C", xmldoc.ErrMalformed, ""},
	{"U+FFFE", "<a>\uFFFE</a>", xmldoc.ErrMalformed, ""},
	{"U+FFFF in a comment", "<a><!--\uFFFF--></a>", xmldoc.ErrMalformed, ""},

	// 2.3
	{"names of all kinds of letters", "<Þ·́.-9_ é='1'/>", nil, ""},
	{"a name of another plane", "<\U00010400/>", nil, ""},
	{"a name that begins with a digit", "<1a/>", xmldoc.ErrMalformed, ""},
	{"a name that begins with a hyphen", "<-a/>", xmldoc.ErrMalformed, ""},
	{"a name that begins with a combining character", "<\u0301a/>", xmldoc.ErrMalformed, ""},
	{"a name with a multiplication sign", "<a×/>", xmldoc.ErrMalformed, ""},
	{"a name of a plane for private use", "<\U000F0000/>", xmldoc.ErrMalformed, ""},
	{"no name", "<>", xmldoc.ErrMalformed, ""},
	{"white space before the name", "< a/>", xmldoc.ErrMalformed, ""},

	// 2.4
	{"greater-than in text", "<a>></a>", nil, ""},
	{"brackets in text", "<a>]] ]]&gt; ]></a>", nil, ""},
	{"the end of a CDATA section in text", "<a>]]></a>", xmldoc.ErrMalformed, ""},
	{"the end of a CDATA section in a value", "<a b=']]>'/>", nil, ""},
	{"an ampersand", "<a>a & b</a>", xmldoc.ErrMalformed, ""},
	{"less-than in text", "<a>1 < 2</a>", xmldoc.ErrMalformed, ""},

	// 2.5
	{"a comment with markup", "<a><!-- <&>]]> - -a --></a>", nil, ""},
	{"two hyphens in a comment", "<a><!-- -- --></a>", xmldoc.ErrMalformed, ""},
	{"a hyphen before the end of a comment", "<a><!----->", xmldoc.ErrMalformed, ""},
	{"a comment without an end", "<a><!-- </a>", xmldoc.ErrMalformed, ""},
	{"a comment that ends where it begins", "<a><!--></a>", xmldoc.ErrMalformed, ""},
	{"a comment in a tag", "<a <!-- --> />", xmldoc.ErrMalformed, ""},

	// 2.6
	{"an instruction with markup", "<a><?p <&>--]]> ? > ??></a>", nil, ""},
	{"an instruction with a stylesheet", "<?xml-stylesheet href='a'?><a/>", nil, ""},
	{"an instruction without white space", "<a><?p+?></a>", xmldoc.ErrMalformed, ""},
	{"an instruction without a target", "<a><? p?></a>", xmldoc.ErrMalformed, ""},
	{"an instruction without an end", "<a><?p ></a>", xmldoc.ErrMalformed, ""},
	{"a declaration inside", "<a><?xml version='1.0'?></a>", xmldoc.ErrMalformed, ""},
	{"a declaration after white space", " <?xml version='1.0'?><a/>", xmldoc.ErrMalformed, ""},
	{"a target that is XML", "<a><?XML p?></a>", xmldoc.ErrMalformed, ""},
	{"a target that is xml", "<a><?xml?></a>", xmldoc.ErrMalformed, ""},

	// 2.7
	{"CDATA sections with markup", "<a>x<![CDATA[<b>&c;]]]]><![CDATA[>]]>y</a>", nil, ""},
	{"an empty CDATA section", "<a><![CDATA[]]></a>", nil, ""},
	{"a CDATA section without an end", "<a><![CDATA[]]</a>", xmldoc.ErrMalformed, ""},
	{"a CDATA section in lower case", "<a><![cdata[]]></a>", xmldoc.ErrMalformed, ""},
	{"a CDATA section alone", "<![CDATA[]]>", xmldoc.ErrMalformed, ""},

	// 2.8
	{"all of a declaration", "<?xml version='1.0' encoding='utf-8' standalone='no'?><a/>", nil, ""},
	{"white space in a declaration", "<?xml\tversion = \"1.0\"\r\n?><a/>", nil, ""},
	{"a declaration without a version", "<?xml encoding='UTF-8'?><a/>", xmldoc.ErrMalformed, ""},
	{"version 1.1", "<?xml version='1.1'?><a/>", xmldoc.ErrMalformed, laxVersion},
	{"version 2.0", "<?xml version='2.0'?><a/>", xmldoc.ErrMalformed, ""},
	{"no white space in a declaration", "<?xml version='1.0'encoding='UTF-8'?><a/>", xmldoc.ErrMalformed, ""},
	{"a declaration in another order", "<?xml version='1.0' standalone='yes' encoding='UTF-8'?><a/>", xmldoc.ErrMalformed, ""},
	{"a declaration with something else", "<?xml version='1.0' other='1'?><a/>", xmldoc.ErrMalformed, ""},
	{"a declaration without quotes", "<?xml version=1.0?><a/>", xmldoc.ErrMalformed, ""},
	{"a declaration with two kinds of quotes", "<?xml version='1.0\"?><a/>", xmldoc.ErrMalformed, ""},
	{"a declaration with a question mark too few", "<?xml version='1.0'><a/>", xmldoc.ErrMalformed, ""},
	{"a declaration in capitals", "<?XML version='1.0'?><a/>", xmldoc.ErrMalformed, ""},
	{"standalone as a number", "<?xml version='1.0' standalone='1'?><a/>", xmldoc.ErrMalformed, ""},
	{"standalone in capitals", "<?xml version='1.0' standalone='YES'?><a/>", xmldoc.ErrMalformed, ""},
	{"a document type", "<!DOCTYPE a><a/>", xmldoc.ErrDoctype, readsDoctype},
	{"a document type with entities", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", xmldoc.ErrDoctype, readsDoctype},
	{"a document type elsewhere", "<?xml version='1.0'?><!--c--><!DOCTYPE a SYSTEM 'file:///dev/null'><a/>", xmldoc.ErrDoctype, readsDoctype},
	{"a document type in the root", "<a><!DOCTYPE a></a>", xmldoc.ErrDoctype, ""},
	{"a document type in lower case", "<!doctype a><a/>", xmldoc.ErrMalformed, ""},

	// 3.1
	{"an attribute in other quotes", "<a b='\"' c=\"'\" d = 'x'\n/>", nil, ""},
	{"white space at the end of tags", "<a ></a >", nil, ""},
	{"greater-than in a value", "<a b='>'/>", nil, ""},
	{"less-than in a value", "<a b='<'/>", xmldoc.ErrMalformed, ""},
	{"an ampersand in a value", "<a b='&'/>", xmldoc.ErrMalformed, ""},
	{"an attribute twice", "<a b='1' b='2'/>", xmldoc.ErrMalformed, ""},
	{"an attribute without quotes", "<a b=1/>", xmldoc.ErrMalformed, ""},
	{"an attribute without a value", "<a b/>", xmldoc.ErrMalformed, ""},
	{"an attribute without a name", "<a ='1'/>", xmldoc.ErrMalformed, ""},
	{"no white space between attributes", "<a b='1'c='2'/>", xmldoc.ErrMalformed, ""},
	{"a value without an end", "<a b='1/>", xmldoc.ErrMalformed, ""},
	{"an attribute of an end tag", "<a></a b='1'>", xmldoc.ErrMalformed, ""},
	{"white space in the end of an empty element", "<a / >", xmldoc.ErrMalformed, ""},
	{"white space before the name of an end tag", "<a></ a>", xmldoc.ErrMalformed, ""},
	{"a tag without an end", "<a", xmldoc.ErrMalformed, ""},
	{"a tag that another begins in", "<a <b/></a>", xmldoc.ErrMalformed, ""},

	// 4.1, 4.6
	{"the entities that there are", "<a b='&lt;&quot;'>&amp;&apos;&gt;</a>", nil, ""},
	{"references to characters", "<a b='&#9;'>&#x10FFFF;&#xd;&#10;&#x00041;</a>", nil, ""},
	{"an entity of HTML", "<a>&nbsp;</a>", xmldoc.ErrMalformed, ""},
	{"an entity without an end", "<a>&amp</a>", xmldoc.ErrMalformed, ""},
	{"no name of an entity", "<a>&;</a>", xmldoc.ErrMalformed, ""},
	{"a reference to zero", "<a>&#0;</a>", xmldoc.ErrMalformed, ""},
	{"a reference to half of a pair", "<a>&#xD800;</a>", xmldoc.ErrMalformed, ""},
	{"a reference to a noncharacter", "<a>&#xFFFE;</a>", xmldoc.ErrMalformed, ""},
	{"a reference past the last character", "<a>&#x110000;</a>", xmldoc.ErrMalformed, ""},
	{"a reference that overflows", "<a>&#4294967361;</a>", xmldoc.ErrMalformed, ""},
	{"a reference without digits", "<a>&#;</a>", xmldoc.ErrMalformed, ""},
	{"a reference without hexadecimal digits", "<a>&#x;</a>", xmldoc.ErrMalformed, ""},
	{"a reference with a capital X", "<a>&#X41;</a>", xmldoc.ErrMalformed, ""},
	{"a reference with letters", "<a>&#4A;</a>", xmldoc.ErrMalformed, ""},
	{"a reference with a sign", "<a>&#+65;</a>", xmldoc.ErrMalformed, ""},
	{"a reference in a value to what is not defined", "<a b='&c;'/>", xmldoc.ErrMalformed, ""},
	{"a reference that ends in another run", "<a>&am<b/>p;</a>", xmldoc.ErrMalformed, ""},
	{"a reference with many zeros", "<a>&#" + strings.Repeat("0", 40) + "65;</a>", xmldoc.ErrMalformed, looseReference},
}

// Sections of Namespaces in XML 1.0 (third edition).
var namespaced = []judgement{
	// 2.2, 3
	{"a prefix and a default", "<a xmlns='u' xmlns:p='v'><p:b p:c='1' c='2'/></a>", nil, ""},
	{"a prefix that is declared after its use in the tag", "<p:a p:b='1' xmlns:p='u:v'/>", nil, ""},
	{"the prefix xml", "<a xml:lang='is' xml:id='b' xmlns:xml='http://www.w3.org/XML/1998/namespace'/>", nil, ""},
	{"no default any more", "<a xmlns='u:v'><b xmlns=''/></a>", nil, ""},
	{"a prefix that is bound anew", "<p:a xmlns:p='u:v'><p:b xmlns:p='u:w'/><p:c/></p:a>", nil, ""},
	{"a prefix that begins with xml", "<xmla:b xmlns:xmla='u:v'/>", nil, ""},
	{"a prefix of an element that is not declared", "<p:a/>", xmldoc.ErrMalformed, ""},
	{"a prefix of an attribute that is not declared", "<a p:b='1'/>", xmldoc.ErrMalformed, ""},
	{"a prefix that is not declared any more", "<a><b xmlns:p='u:v'/><p:c/></a>", xmldoc.ErrMalformed, ""},
	{"a prefix that is not declared after an element with content", "<a><b xmlns:p='u:v'></b><p:c/></a>", xmldoc.ErrMalformed, ""},
	{"a prefix bound to nothing", "<a xmlns:p=''/>", xmldoc.ErrMalformed, ""},
	{"the prefix xml bound to something else", "<a xmlns:xml='u:v'/>", xmldoc.ErrMalformed, ""},
	{"the namespace of xml bound to another prefix", "<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>", xmldoc.ErrMalformed, ""},
	{"the namespace of xml as the default", "<a xmlns='http://www.w3.org/XML/1998/namespace'/>", xmldoc.ErrMalformed, ""},
	{"the prefix xmlns declared", "<a xmlns:xmlns='http://www.w3.org/2000/xmlns/'/>", xmldoc.ErrMalformed, ""},
	{"the namespace of xmlns bound to a prefix", "<a xmlns:p='http://www.w3.org/2000/xmlns/'/>", xmldoc.ErrMalformed, ""},
	{"the namespace of xmlns as the default", "<a xmlns='http://www.w3.org/2000/xmlns/'/>", xmldoc.ErrMalformed, ""},
	{"an element with the prefix xmlns", "<xmlns:a/>", xmldoc.ErrMalformed, ""},
	{"a namespace declared twice", "<a xmlns:p='u:v' xmlns:p='u:v'/>", xmldoc.ErrMalformed, ""},
	{"the default declared twice", "<a xmlns='u:v' xmlns='u:v'/>", xmldoc.ErrMalformed, ""},
	{"namespaces that a reference makes the same", "<a xmlns:p='u:v' xmlns:q='u&#58;v' p:b='' q:b=''/>", xmldoc.ErrMalformed, ""},

	// 4
	{"two colons", "<a xmlns:p='u:v'><p:b:c/></a>", xmldoc.ErrMalformed, ""},
	{"a colon first", "<:a/>", xmldoc.ErrMalformed, ""},
	{"a colon last", "<a:/>", xmldoc.ErrMalformed, ""},
	{"a colon and a digit", "<a xmlns:p='u:v'><p:1/></a>", xmldoc.ErrMalformed, ""},
	{"a colon first in an attribute", "<a :b='1'/>", xmldoc.ErrMalformed, ""},
	{"a declaration of an empty prefix", "<a xmlns:='u:v'/>", xmldoc.ErrMalformed, ""},
	{"a colon in a target", "<a><?p:q r?></a>", xmldoc.ErrMalformed, ""},

	// 6.3
	{"one local name in two namespaces", "<a xmlns:p='u:v' xmlns:q='u:w' p:b='' q:b='' b=''/>", nil, ""},
	{"one local name in the default namespace and without", "<a xmlns='u:v' xmlns:p='u:v' p:b='' b=''/>", nil, ""},
	{"one expanded name with two prefixes", "<a xmlns:p='u:v' xmlns:q='u:v' p:b='' q:b=''/>", xmldoc.ErrMalformed, ""},
	{"one expanded name with a prefix from outside", "<a xmlns:p='u:v'><b xmlns:q='u:v' q:b='' p:b=''/></a>", xmldoc.ErrMalformed, ""},
}

func TestParseJudges(t *testing.T) {
	for _, tc := range append(documents, namespaced...) {
		t.Run(tc.name, func(t *testing.T) {
			d, err := xmldoc.Parse([]byte(tc.source))
			if !errors.Is(err, tc.want) || tc.want == nil && err != nil {
				t.Fatalf("%v, want %v", err, tc.want)
			}
			if err == nil && d.Root().Kind() != xmldoc.Element {
				t.Error("a document without a root was read")
			}
		})
	}
}
