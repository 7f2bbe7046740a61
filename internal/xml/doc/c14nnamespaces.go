package doc

import (
	"cmp"
	"strings"
)

// namespaceNode is a prefix, "" for the default namespace, with the name of a namespace, "" for none.
type namespaceNode struct{ prefix, space string }

func (n namespaceNode) compare(other namespaceNode) int { return cmp.Compare(n.prefix, other.prefix) }

// rendered are the bindings in scope in the canonical form: what its declarations say at a place.
type rendered struct {
	of      map[string]string
	earlier []namespaceNode // what each declaration in scope replaced
}

// back forgets the declarations after the first so many.
func (b *rendered) back(count int) {
	for last := len(b.earlier) - 1; last >= count; last-- {
		b.of[b.earlier[last].prefix] = b.earlier[last].space
		b.earlier = b.earlier[:last]
	}
}

// bind has the element at hand declare a prefix, unless the canonical form says the same without.
// As a part has no gaps, this is the rule of Canonical XML 1.0, 2.3, of namespace nodes that the
// parent in the output has too, and also that of Exclusive XML Canonicalization, 3.
func (c *canonicalizer) bind(prefix, space string) {
	before := c.rendered.of[prefix]
	if before == space || prefix == "xml" {
		return
	}
	if space != "" && !hasScheme(space) {
		c.err = ErrNamespace
	}
	c.rendered.earlier = append(c.rendered.earlier, namespaceNode{prefix, before})
	c.rendered.of[prefix] = space
	c.fresh = append(c.fresh, namespaceNode{prefix, space})
}

// takes says whether a declaration counts by itself, and not because its prefix is used.
func (c *canonicalizer) takes(prefix string) bool { return c.method != Exclusive || c.listed[prefix] }

// namespace is what a declaration says, without a copy of it when the prefix means it already.
func (c *canonicalizer) namespace(a *attribute) string {
	raw := c.text[a.start:a.end]
	if known := c.rendered.of[c.names[a.name].local]; string(raw) == known {
		return known
	}
	return c.value(a)
}

// hasScheme says whether a URI reference is not relative (RFC 3986, 4.1).
func hasScheme(uri string) bool {
	scheme, _, ok := strings.Cut(uri, ":")
	for i, r := range scheme {
		letter := 'a' <= r|0x20 && r|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", r)) {
			return false
		}
	}
	return ok && scheme != ""
}
