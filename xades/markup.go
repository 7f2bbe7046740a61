package xades

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// exclusive is how everything is canonicalized that this package signs: what stands around it has no
// part in it (EN 319 132-1 6.3, requirement b).
var exclusive = xmldoc.Canonicalization{Method: xmldoc.Exclusive}

// attributes are names and values by turns.
type attributes []string

// element is an element around its content, which is markup too. There is no white space between
// elements: in an enveloped signature it could not be told from the document's.
func element(name string, a attributes, content ...string) string {
	var b strings.Builder
	b.WriteString(startTag(name, a))
	for _, c := range content {
		b.WriteString(c)
	}
	b.WriteString("</" + name + ">")
	return b.String()
}

func startTag(name string, a attributes) string {
	var b strings.Builder
	b.WriteString("<" + name)
	for i := 0; i+1 < len(a); i += 2 {
		fmt.Fprintf(&b, ` %s="%s"`, a[i], escape(a[i+1]))
	}
	b.WriteString(">")
	return b.String()
}

// base64Element is an element with binary content.
func base64Element(name string, a attributes, content []byte) string {
	return element(name, a, base64.StdEncoding.EncodeToString(content))
}

// canonicalPart is the canonical form of the one element of that name in markup that declares its own
// prefixes. It is the same in the document that the markup will stand in, because it is exclusive.
func canonicalPart(markup, space, local string) ([]byte, error) {
	d, err := xmldoc.Parse([]byte(markup))
	if err != nil {
		return nil, fmt.Errorf("xades: reading the signature: %w", err)
	}
	for n := range d.Root().Descendants() {
		if n.Is(space, local) {
			var b bytes.Buffer
			err := d.Canonicalize(&b, exclusive, xmldoc.Subset{Apex: n})
			return b.Bytes(), err
		}
	}
	return nil, fmt.Errorf("xades: signature without %s", local)
}

// isSignature reports whether an element is a signature.
func isSignature(n xmldoc.Node) bool { return n.Is(xmldsig.Namespace, "Signature") }
