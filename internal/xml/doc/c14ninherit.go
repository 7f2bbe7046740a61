package doc

import (
	"fmt"
	"slices"
	"strings"
)

// inherit adds to the apex what it inherits from its ancestors. Exclusive inherits only the
// namespaces of its PrefixList.
func (c *canonicalizer) inherit(apex int32) {
	around := c.tree.nodes.at(apex).parent
	if around == none {
		return
	}
	if c.method != Exclusive || len(c.listed) > 0 {
		c.inheritNamespaces(apex)
	}
	if c.method == Exclusive {
		return
	}
	c.inheritAttributes(around)
	if c.method == C14N11 {
		c.inheritBase(apex)
	}
}

// inheritNamespaces makes the apex declare the namespaces in scope.
func (c *canonicalizer) inheritNamespaces(apex int32) {
	declared := make(map[int32]bool)
	for i := apex; i != none; i = c.tree.nodes.at(i).parent {
		t := c.tagOf(i)
		for a, ok := t.attribute(); ok; a, ok = t.attribute() {
			name := &c.names[a.name]
			if name.kind != declarationName || declared[name.binds] || !c.rendersDeclaration(name.binds) {
				continue
			}
			declared[name.binds] = true
			c.bind(name.binds, c.namespace(a))
		}
	}
}

// inheritAttributes adds the nearest attributes in the XML namespace that the apex does not have:
// in 1.0 all of them (Canonical XML 1.0, 2.4), in 1.1 only those that are inherited unchanged,
// xml:lang and xml:space (1.1, 2.4).
func (c *canonicalizer) inheritAttributes(around int32) {
	has := make(map[string]bool)
	for _, a := range c.attributesOut {
		if name := &c.names[a.name]; name.space == xmlSpace {
			has[name.local] = true
		}
	}
	for i := around; i != none; i = c.tree.nodes.at(i).parent {
		t := c.tagOf(i)
		for a, ok := t.attribute(); ok; a, ok = t.attribute() {
			name := &c.names[a.name]
			if name.space == xmlSpace && c.inherits(name.local) && !has[name.local] {
				has[name.local] = true
				c.attributesOut = append(c.attributesOut, a)
			}
		}
	}
}

func (c *canonicalizer) inherits(local string) bool {
	return c.method == C14N10 || local == "lang" || local == "space"
}

// namespaceNode is the binding of a prefix to a namespace, by their numbers.
type namespaceNode struct{ prefix, space int32 }

// rendered are the namespace bindings in scope at the current place of the canonical form.
type rendered struct {
	of      []int32         // by prefix, its namespace
	earlier []namespaceNode // the bindings that the declarations in scope replaced
}

// restoreTo removes all declarations after the first count.
func (b *rendered) restoreTo(count int) {
	for last := len(b.earlier) - 1; last >= count; last-- {
		b.of[b.earlier[last].prefix] = b.earlier[last].space
		b.earlier = b.earlier[:last]
	}
}

// bind makes the current element declare a prefix, unless the canonical form has that binding in
// scope. Since a subset has no gaps between an element and its descendants, this implements both
// the rule of Canonical XML 1.0, 2.3, on namespace nodes that the output parent has too, and that
// of Exclusive XML Canonicalization, 3.
func (c *canonicalizer) bind(prefix, space int32) {
	before := c.rendered.of[prefix]
	if before == space || prefix == prefixXML {
		return
	}
	if uri := c.tree.bound.uris[space]; uri != "" && !hasScheme(uri) {
		c.err = ErrNamespace
	}
	c.rendered.earlier = append(c.rendered.earlier, namespaceNode{prefix, before})
	c.rendered.of[prefix] = space
	c.newNamespaces = append(c.newNamespaces, namespaceNode{prefix, space})
}

// rendersDeclaration reports whether a declaration is rendered even if its prefix is not used.
func (c *canonicalizer) rendersDeclaration(prefix int32) bool {
	return c.method != Exclusive || len(c.listed) > 0 && c.listed[prefix]
}

// namespace returns the namespace of a declaration. It copies nothing if the prefix is already
// bound to it.
func (c *canonicalizer) namespace(a attribute) int32 {
	raw := c.text[a.start:a.end]
	known := c.rendered.of[c.names[a.name].binds]
	if string(raw) == c.tree.bound.uris[known] {
		return known
	}
	return c.tree.bound.spaces[c.value(a)]
}

// hasScheme reports whether a URI reference is not relative (RFC 3986, 4.1).
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

// joinedXMLBase is an attribute xml:base whose value is not in the document.
type joinedXMLBase struct {
	attribute
	value string
}

// maxBases bounds the total length of the xml:base values that are joined, because each is read
// again for each outer one.
const maxBases = 8 << 10

// inheritBase gives the apex an xml:base that resolves to the same URI outside of its ancestors
// (Canonical XML 1.1, 2.4).
func (c *canonicalizer) inheritBase(apex int32) {
	own, hasOwn := c.base(apex)
	values, total := c.bases(apex)
	if len(values) == 0 || len(values) == 1 && hasOwn {
		return
	}
	if total > maxBases {
		c.err = fmt.Errorf("%w: values of xml:base", ErrLimit)
		return
	}
	value := c.value(values[0])
	for _, outer := range values[1:] {
		value = joinBase(c.value(outer), value)
	}
	c.attributesOut = slices.DeleteFunc(c.attributesOut, func(a attribute) bool { return hasOwn && a == own })
	if value != "" {
		c.joined = joinedXMLBase{values[0], value}
		c.attributesOut = append(c.attributesOut, c.joined.attribute)
	}
}

// bases returns the xml:base attributes of an element and its ancestors, innermost first, and the
// length of their values.
func (c *canonicalizer) bases(i int32) (values []attribute, total int) {
	for ; i != none; i = c.tree.nodes.at(i).parent {
		if a, ok := c.base(i); ok {
			values = append(values, a)
			total += int(a.end - a.start)
		}
	}
	return values, total
}

func (c *canonicalizer) base(i int32) (base attribute, ok bool) {
	t := c.tagOf(i)
	for a, ok := t.attribute(); ok; a, ok = t.attribute() {
		if name := &c.names[a.name]; name.space == xmlSpace && name.local == "base" {
			return a, true
		}
	}
	return base, false
}

// joinBase is join-URI-References of Canonical XML 1.1, 2.4: the resolution of RFC 3986, 5.2.2, for
// references that may both be relative, without the fragment.
func joinBase(outer, inner string) string {
	base, r := splitReference(outer), splitReference(inner)
	if base.path == ".." || strings.HasSuffix(base.path, "/..") {
		base.path += "/"
	}
	switch {
	case r.scheme != "":
	case r.authority != "":
		r.scheme = base.scheme
	case r.path == "":
		r.scheme, r.authority, r.path = base.scheme, base.authority, base.path
		if r.query == "" {
			r.query = base.query
		}
		return r.String()
	default:
		if !strings.HasPrefix(r.path, "/") {
			r.path = mergePaths(base, r.path)
		}
		r.scheme, r.authority = base.scheme, base.authority
	}
	r.path = removeDotSegments(r.path)
	return r.String()
}

// mergePaths implements RFC 3986, 5.2.3.
func mergePaths(base baseReference, path string) string {
	if base.authority != "" && base.path == "" {
		return "/" + path
	}
	return base.path[:strings.LastIndexByte(base.path, '/')+1] + path
}

// removeDotSegments implements RFC 3986, 5.2.4, with the changes of Canonical XML 1.1: ".."
// segments that lead out of a relative path are kept, several slashes become one, and a final ".."
// is followed by a slash.
func removeDotSegments(path string) string {
	absolute := strings.HasPrefix(path, "/")
	var kept []string
	last := ""
	for last = range strings.SplitSeq(path, "/") {
		switch {
		case last == "" || last == ".":
		case last != "..":
			kept = append(kept, last)
		case len(kept) > 0 && kept[len(kept)-1] != "..":
			kept = kept[:len(kept)-1]
		case !absolute:
			kept = append(kept, last)
		}
	}
	clean := strings.Join(kept, "/")
	if (last == "" || last == "." || last == "..") && clean != "" {
		clean += "/"
	}
	if absolute {
		clean = "/" + clean
	}
	return clean
}

// baseReference is the components of a URI reference with their delimiters: "http:", "//host",
// "?query".
type baseReference struct{ scheme, authority, path, query string }

// splitReference implements RFC 3986, appendix B, without the fragment.
func splitReference(s string) (r baseReference) {
	s, _, _ = strings.Cut(s, "#")
	if i := strings.IndexAny(s, ":/?"); i > 0 && s[i] == ':' {
		r.scheme, s = s[:i+1], s[i+1:]
	}
	if i := strings.IndexByte(s, '?'); i >= 0 {
		s, r.query = s[:i], s[i:]
	}
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		end := len(s)
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			end = i + len("//")
		}
		r.authority, s = s[:end], s[end:]
	}
	r.path = s
	return r
}

func (r baseReference) String() string { return r.scheme + r.authority + r.path + r.query }
