package dsig

import (
	"fmt"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// Target is the element that a reference leads to; zero for the whole document. [ErrReference], [ErrTransform].
func (s *Signature) Target(r Reference) (xmldoc.Node, error) {
	target, _, err := s.dereference(r)
	return target, err
}

// dereference finds what a URI leads to in the document itself, and whether comments are among it: they
// are with the forms of XPointer, and not with "" and "#id" (xmldsig-core1 4.4.3.3).
func (s *Signature) dereference(r Reference) (target xmldoc.Node, comments bool, err error) {
	if r.fault != nil {
		return target, false, r.fault
	}
	if !r.HasURI {
		return target, false, fmt.Errorf("%w: without a URI", ErrReference)
	}
	if r.URI == "" {
		return target, false, nil
	}
	fragment, same := strings.CutPrefix(r.URI, "#")
	if !same {
		return target, false, fmt.Errorf("%w: out of the document", ErrReference)
	}
	if fragment == "xpointer(/)" {
		return target, true, nil
	}
	id, comments := pointerID(fragment)
	if id == "" || strings.ContainsAny(id, "()'\"") {
		return target, false, fmt.Errorf("%w: a pointer that is not known", ErrReference)
	}
	target, ok := s.Document.ByID(id)
	if !ok {
		return target, false, fmt.Errorf("%w: not to one element", ErrReference)
	}
	return target, comments, nil
}

// pointerID is the identifier in "xpointer(id('x'))", or the fragment itself.
func pointerID(fragment string) (id string, pointer bool) {
	for _, quote := range []string{"'", `"`} {
		rest, begins := strings.CutPrefix(fragment, "xpointer(id("+quote)
		if id, ends := strings.CutSuffix(rest, quote+"))"); begins && ends {
			return id, true
		}
	}
	return fragment, false
}
