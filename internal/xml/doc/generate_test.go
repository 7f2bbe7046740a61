package doc_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator writes documents in which what canonicalization has rules for is frequent. The
// same seed has the same document on every machine.
type generator struct {
	*rand.Rand
	strings.Builder
	elements int // so far
}

// generate is the document of a seed, with the number of its elements.
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

// outside writes what may stand before and after the root.
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

// element writes an element in the scope of prefixes that are bound.
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

// declarations binds some prefixes anew, and may say again what is bound.
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

// attributes have different expanded names: no two prefixes of them are bound to one namespace.
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
