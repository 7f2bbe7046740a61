package doc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// inherit gives the apex what elements around it say of what is in them. Exclusive leaves out all of
// it but the namespaces that it is told of.
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

// inheritNamespaces has the apex declare what is in scope around it.
func (c *canonicalizer) inheritNamespaces(apex int32) {
	declared := make(map[string]bool)
	for i := apex; i != none; i = c.tree.nodes.at(i).parent {
		for j, end := c.tree.attributesOf(i); j < end; j++ {
			a := c.tree.attributes.at(j)
			name := &c.names[a.name]
			if name.kind != declarationName || declared[name.local] || !c.takes(name.local) {
				continue
			}
			declared[name.local] = true
			c.bind(name.local, c.namespace(a))
		}
	}
}

// inheritAttributes is of the nearest attributes in the namespace of xml that the apex does
// not have itself: in 1.0 of all (Canonical XML 1.0, 2.4), in 1.1 of those whose value does not
// depend on the place (1.1, 2.4).
func (c *canonicalizer) inheritAttributes(around int32) {
	has := make(map[string]bool)
	for _, a := range c.shown {
		if name := &c.names[a.name]; name.space == xmlSpace {
			has[name.local] = true
		}
	}
	for i := around; i != none; i = c.tree.nodes.at(i).parent {
		for j, end := c.tree.attributesOf(i); j < end; j++ {
			a := c.tree.attributes.at(j)
			name := &c.names[a.name]
			if name.space == xmlSpace && c.inherits(name.local) && !has[name.local] {
				has[name.local] = true
				c.shown = append(c.shown, a)
			}
		}
	}
}

func (c *canonicalizer) inherits(local string) bool {
	return c.method == C14N10 || local == "lang" || local == "space"
}

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

// joinedBase is an attribute xml:base whose value is not in the document.
type joinedBase struct {
	attribute
	value string
}

// maxBases bounds the length of all values of xml:base that make one, as each of them is
// read again with each that is around it.
const maxBases = 8 << 10

// inheritBase gives the apex an xml:base that means what its own does in the place where it stands
// (Canonical XML 1.1, 2.4).
func (c *canonicalizer) inheritBase(apex int32) {
	own := c.base(apex)
	values, total := c.bases(apex)
	if len(values) == 0 || len(values) == 1 && values[0] == own {
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
	c.shown = slices.DeleteFunc(c.shown, func(a *attribute) bool { return a == own })
	if value != "" {
		c.joined = joinedBase{*values[0], value}
		c.shown = append(c.shown, &c.joined.attribute)
	}
}

// bases are the attributes xml:base of an element and of those around it, in this order, and the
// length of their values.
func (c *canonicalizer) bases(i int32) (values []*attribute, total int) {
	for ; i != none; i = c.tree.nodes.at(i).parent {
		if a := c.base(i); a != nil {
			values = append(values, a)
			total += int(a.end - a.start)
		}
	}
	return values, total
}

func (c *canonicalizer) base(i int32) *attribute {
	for j, end := c.tree.attributesOf(i); j < end; j++ {
		a := c.tree.attributes.at(j)
		if name := &c.names[a.name]; name.space == xmlSpace && name.local == "base" {
			return a
		}
	}
	return nil
}

// joinBase is join-URI-References of Canonical XML 1.1, 2.4: the resolution of RFC 3986, 5.2.2, of
// references that may both be relative, with the fragment left out.
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

// mergePaths is RFC 3986, 5.2.3.
func mergePaths(base baseReference, path string) string {
	if base.authority != "" && base.path == "" {
		return "/" + path
	}
	return base.path[:strings.LastIndexByte(base.path, '/')+1] + path
}

// removeDotSegments is RFC 3986, 5.2.4, as Canonical XML 1.1 has it: segments ".." that lead out of
// a relative path stay, several slashes are one, and one follows a last "..".
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

// baseReference has the components of a URI reference with their marks: "http:", "//host", "?query".
type baseReference struct{ scheme, authority, path, query string }

// splitReference is RFC 3986, appendix B, without the fragment.
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
