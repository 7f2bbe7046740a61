package doc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator writes documents with many constructs for which canonicalization has rules. A seed has
// the same document on every machine.
type generator struct {
	*rand.Rand
	strings.Builder
	elements int // so far
}

// generate returns the document of a seed, and the number of its elements.
func generate(seed uint64) (document string, elements int) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 12))}
	if g.chance(3) {
		g.WriteString(pick(g, `<?xml version="1.0"?>`, `<?xml version='1.0' encoding='UTF-8' ?>`, "<?xml version=\"1.0\" standalone=\"yes\"?>\r\n"))
	}
	g.outside()
	g.element(map[string]string{}, 0)
	g.outside()
	return g.String(), g.elements
}

func (g *generator) chance(oneOf int) bool { return g.IntN(oneOf) == 0 }

func pick[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }

// outside writes white space, comments and instructions outside of the root.
func (g *generator) outside() {
	for range g.IntN(3) {
		g.WriteString(pick(g, "", "\n", " \r\n\t", g.comment(), g.instruction()))
	}
}

func (g *generator) comment() string {
	return pick(g, "<!---->", "<!-- a\r\nb -->", "<!-- <&>\"' é -->", "<!--\t- \U0001F58B-->")
}

func (g *generator) instruction() string {
	return pick(g, "<?p?>", "<?p  a\r\n b ?>", "<?xml-stylesheet href=\"a.xsl\"?>", "<?é <&> ??>")
}

var (
	prefixes = []string{"", "a", "b", "c", "é"}
	spaces   = []string{"urn:z", "urn:y", "http://example.org/a?b=1;c", "urn:a%20&#x62;"}
)

// element writes an element. scope are the namespaces of the prefixes that are bound.
func (g *generator) element(scope map[string]string, depth int) {
	g.elements++
	scope = maps.Clone(scope)
	attributes := g.declarations(scope)
	bound := slices.Sorted(maps.Keys(scope))
	name := qualified(pick(g, append(bound, "", "")...), pick(g, "e", "é", "f-1.0", "Signature"))
	attributes = append(attributes, g.attributes(scope, bound)...)
	g.Shuffle(len(attributes), func(i, j int) { attributes[i], attributes[j] = attributes[j], attributes[i] })
	fmt.Fprintf(g, "<%s%s%s", name, strings.Join(attributes, ""), pick(g, "", "", " ", "\r\n"))
	if depth > 5 || g.chance(4) {
		g.WriteString(pick(g, "/>", "></"+name+">", "></"+name+"\t>"))
		return
	}
	g.WriteString(">")
	for range g.IntN(5) {
		g.content(scope, depth)
	}
	fmt.Fprintf(g, "</%s>", name)
}

// declarations binds some prefixes to other namespaces, and repeats some declarations in scope.
func (g *generator) declarations(scope map[string]string) (written []string) {
	for _, prefix := range prefixes {
		switch {
		case g.chance(4):
			scope[prefix] = pick(g, spaces...)
		case prefix == "" && g.chance(6):
			scope[prefix] = ""
		case scope[prefix] == "" || !g.chance(6):
			continue
		}
		name := strings.TrimSuffix("xmlns:"+prefix, ":")
		written = append(written, g.attribute(name, scope[prefix]))
	}
	if g.chance(30) {
		written = append(written, g.attribute("xmlns:xml", "http://www.w3.org/XML/1998/namespace"))
	}
	return written
}

// attributes have different expanded names.
func (g *generator) attributes(scope map[string]string, bound []string) (written []string) {
	used := make(map[string]bool)
	for range g.IntN(4) {
		prefix := pick(g, append(bound, "", "xml")...)
		local := pick(g, "x", "X", "é", "a.b")
		value := g.value()
		if prefix == "xml" {
			local = pick(g, "lang", "space", "base", "id", "other")
			value = pick(g, "en", "http://example.org/x/", "y/z")
		}
		expanded := scope[prefix] + " " + local
		if prefix == "" {
			expanded = " " + local
		}
		if !used[expanded] {
			used[expanded] = true
			written = append(written, g.attribute(qualified(prefix, local), value))
		}
	}
	return written
}

func qualified(prefix, local string) string {
	if prefix == "" {
		return local
	}
	return prefix + ":" + local
}

func (g *generator) attribute(name, value string) string {
	quote := pick(g, `"`, "'")
	value = strings.ReplaceAll(value, quote, "&#x22;")
	return pick(g, " ", "\n", "\t ") + name + pick(g, "=", " = ") + quote + value + quote
}

func (g *generator) value() string {
	return pick(g, "", "v", " a  b ", "a\tb\nc\r\nd\re", "&#9;&#xA;&#13;", "&lt;&gt;>&amp;&quot;&apos;", `"'`, "é\U0001F58B&#x1F58B;")
}

func (g *generator) content(scope map[string]string, depth int) {
	switch g.IntN(8) {
	case 0, 1, 2:
		g.element(scope, depth+1)
	case 3:
		g.WriteString(g.comment())
	case 4:
		g.WriteString(g.instruction())
	default:
		g.WriteString(g.text())
	}
}

func (g *generator) text() string {
	return pick(g, "t", " \n", "a\r\nb\rc\n\r", "&#13;&#10;&#x9;", "&lt;&gt;>&amp;&quot;&apos;\"'", "<![CDATA[<&>]]>",
		"<![CDATA[]]>", "x<![CDATA[]]]]><![CDATA[>\r\n]]>y", "é\U0001F58B&#x1F58B;", "]] >")
}

// tokens are parts of markup, and texts that resemble them. There is no zero byte: for libxml2, one after
// the root ends the document.
var tokens = []string{
	"<", ">", "/>", "</", "</a>", "<a>", "<a/>", "<!--", "-->", "--", "-", "<?", "?>", "<?p", "<![CDATA[", "]]>", "]]", "]",
	"&", ";", "&amp;", "&#", "&#x", "&#9;", "&#0;", "&#xD800;", "&#x110000;", "'", "\"", "=", " ", "\t", "\r", "\r\n", ":", ".",
	"a", "1", "é", "\u00B7", "\u0301", "\u00D7", "\uFFFD", "\uFFFE", "\x01", "\x7F", "\xC0", "\xE9", "\xED\xA0\x80",
	" a='1'", " a:b='1'", " xmlns=''", " xmlns='urn:z'", " xmlns:a=''", " xmlns:a='urn:z'", " xmlns:b='urn:z'", " xml:id='1'",
	" xmlns:xml='urn:z'", " xmlns:xmlns='urn:z'", "xmlns:a", "xml", "<?xml version='1.0'?>", "<!", "<!a>", "&lt", "&nbsp;",
}

// mutate returns a generated document in which one to three places are replaced.
func mutate(seed uint64) string {
	document, _ := generate(seed)
	random := rand.New(rand.NewPCG(seed, 34))
	for range 1 + random.IntN(3) {
		at := random.IntN(len(document) + 1)
		end := at
		if random.IntN(2) == 0 {
			end = min(len(document), at+1+random.IntN(4))
		}
		token := ""
		if at == end || random.IntN(2) == 0 {
			token = tokens[random.IntN(len(tokens))]
		}
		document = document[:at] + token + document[end:]
	}
	return document
}
