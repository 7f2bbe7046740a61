package doc

import (
	"fmt"
	"slices"
	"strings"
)

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
