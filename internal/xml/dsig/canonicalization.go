package dsig

import (
	"fmt"
	"slices"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// canonicalizations are the six methods, of which each may keep comments (xmldsig-core1 6.5).
var canonicalizations = []struct {
	method        xmldoc.Method
	uri, comments string
}{
	{xmldoc.C14N10, "http://www.w3.org/TR/2001/REC-xml-c14n-20010315", "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments"},
	{xmldoc.C14N11, "http://www.w3.org/2006/12/xml-c14n11", "http://www.w3.org/2006/12/xml-c14n11#WithComments"},
	{xmldoc.Exclusive, exclusive, exclusive + "WithComments"},
}

// exclusive is the URI of Exclusive XML Canonicalization, and the namespace of its parameter.
const exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"

// CanonicalizationMethod is the URI of a method; "" for none. Its Prefixes are not in it.
func CanonicalizationMethod(c xmldoc.Canonicalization) string {
	for _, m := range canonicalizations {
		if m.method == c.Method && c.Comments {
			return m.comments
		} else if m.method == c.Method {
			return m.uri
		}
	}
	return ""
}

// ReadCanonicalization reads a ds:CanonicalizationMethod or a ds:Transform of that kind;
// [ErrTransform] when the algorithm is none, [ErrFormat] when its parameters are not.
func ReadCanonicalization(n xmldoc.Node) (xmldoc.Canonicalization, error) {
	uri, _ := n.Attr("", "Algorithm")
	for _, m := range canonicalizations {
		if uri == m.uri || uri == m.comments {
			c := xmldoc.Canonicalization{Method: m.method, Comments: uri == m.comments}
			err := readPrefixes(n, &c)
			return c, err
		}
	}
	return xmldoc.Canonicalization{}, fmt.Errorf("%w: not a canonicalization", ErrTransform)
}

// maxPrefixes bounds the prefixes of a list, which all are looked for at every element.
const maxPrefixes = 100

// readPrefixes reads the InclusiveNamespaces of Exclusive XML Canonicalization (section 4 there). The other
// methods have no parameters.
func readPrefixes(n xmldoc.Node, c *xmldoc.Canonicalization) error {
	in := sequenceOf(n)
	if c.Method == xmldoc.Exclusive {
		if list := in.maybe(exclusive, "InclusiveNamespaces"); list != (xmldoc.Node{}) {
			prefixes, _ := list.Attr("", "PrefixList")
			c.Prefixes = strings.Fields(prefixes)
		}
	}
	if len(c.Prefixes) > maxPrefixes {
		return fmt.Errorf("%w: %d prefixes of a canonicalization", ErrLimit, len(c.Prefixes))
	}
	if i := slices.Index(c.Prefixes, "#default"); i >= 0 {
		c.Prefixes[i] = ""
	}
	return in.end()
}
