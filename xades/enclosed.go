package xades

import (
	"slices"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// covered is what of a document is signed or timestamped, by the element at the top of it (zero: the whole
// document).
type covered map[xmldoc.Node][]xmldoc.Subset

// markEnclosed notes which signatures may get no unsigned properties: where those are, something is signed
// or timestamped. So it is with a signature in the signed content of another one.
func markEnclosed(all []signature) {
	c := make(covered)
	for i := range all {
		if all[i].Signature != nil {
			c.add(&all[i])
		}
	}
	for i := range all {
		all[i].enclosed = c.has(all[i].growing())
	}
}

// growing is the element that unsigned properties are added to, or have been.
func (s *signature) growing() xmldoc.Node {
	for _, n := range []xmldoc.Node{s.unsigned, at(s.qualifying, "UnsignedProperties"), s.qualifying} {
		if n != none {
			return n
		}
	}
	return s.element
}

// part is what a reference leads to. A thousand references may lead to the same.
type part struct {
	apex  xmldoc.Node
	kinds string // of transforms
}

// kindsOf are the kinds of a reference's transforms, each once: they are what leaves something out.
func kindsOf(r xmldsig.Reference) string {
	var kinds []byte
	for _, t := range r.Transforms {
		kinds = append(kinds, byte(t.Kind))
	}
	slices.Sort(kinds)
	return string(slices.Compact(kinds))
}

// add adds what a signature signs, and what its archive timestamps are over beside that.
func (c covered) add(s *signature) {
	seen := make(map[part]bool)
	for _, r := range s.References {
		subset, err := s.Covers(r)
		if err != nil {
			continue // and so it signs nothing
		}
		if p := (part{subset.Apex, kindsOf(r)}); !seen[p] {
			seen[p] = true
			c[subset.Apex] = append(c[subset.Apex], subset)
		}
	}
	if len(s.archives)+len(s.old) == 0 {
		return
	}
	for _, object := range s.otherObjects() {
		c[object] = append(c[object], xmldoc.Subset{Apex: object})
	}
}

// has reports whether a node is covered, by going up from it. What is left out are signatures.
func (c covered) has(n xmldoc.Node) bool {
	var signatures []xmldoc.Node // that it is in
	for {
		if n.Is(xmldsig.Namespace, "Signature") {
			signatures = append(signatures, n)
		}
		stays := func(s xmldoc.Subset) bool { return s.Without == nil || !slices.ContainsFunc(signatures, s.Without) }
		if slices.ContainsFunc(c[n], stays) {
			return true
		}
		if n == none {
			return false
		}
		n = n.Parent()
	}
}
