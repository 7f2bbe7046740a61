package xades

import (
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/xmldoc"
	"github.com/innsigli/innsigli/internal/xmldsig"
)

// noteCoverage says how much of the document the signature signs. One in the content of another signature
// is judged by the document as it was before that.
func (v *verification) noteCoverage() {
	top, within := v.topOf()
	switch {
	case !v.signs.covers(top, within) || v.loose:
		v.report.Problems = append(v.report.Problems, "The signature does not cover the whole document.")
	case within == (xmldoc.Node{}):
		v.report.Coverage = ades.WholeDocument
	default:
		v.report.Coverage = ades.WholeRevision
	}
}

// topOf is the root of the document that the signature was made in, and what of another signature it is in
// now: an Object, or the content of a container that is signed. It is zero when there is none.
func (s *signature) topOf() (top, within xmldoc.Node) {
	for top = s.element; top.Parent() != (xmldoc.Node{}); top = top.Parent() {
		if isObject(top.Parent()) || s.enclosed && isContained(top.Parent()) {
			return top, top.Parent()
		}
	}
	return top, within
}

// isContained says whether an element is around the document in a container.
func isContained(n xmldoc.Node) bool {
	return n.Is("", containedName) && isContainer(n.Parent())
}

// isObject says whether an element is an Object of a signature.
func isObject(n xmldoc.Node) bool {
	return n.Is(xmldsig.Namespace, "Object") && isSignature(n.Parent())
}

// covers says whether all of a document is signed but signatures. Comments say nothing, and are not signed
// by references without XPointer.
func (s *scope) covers(top, within xmldoc.Node) bool {
	if within == (xmldoc.Node{}) && s.signsDocument() {
		return true
	}
	if within == (xmldoc.Node{}) {
		return s.coversNode(top) && !hasInstructions(s.Document)
	}
	for n := range within.Children() {
		if n != top && !isEmpty(n) {
			return false
		}
	}
	return s.coversNode(top)
}

// signsDocument says whether a reference leads to the document itself, and not to an element of it. Where the
// root is a signature, nothing is left of it without signatures.
func (s *scope) signsDocument() bool {
	if isSignature(s.Document.Root()) {
		return false
	}
	for _, r := range s.references {
		if r.ok && r.target == (xmldoc.Node{}) && !isDecoded(r) {
			return true
		}
	}
	return false
}

// coversNode says whether the root of a document, or what is in a container, is signed.
func (s *scope) coversNode(n xmldoc.Node) bool {
	switch {
	case s.signsNode(n):
		return true
	case n == s.element:
		return s.signsObjects()
	}
	return isContainer(n) && s.coversContent(n)
}

func (s *scope) coversContent(container xmldoc.Node) bool {
	signed := false
	for n := range container.Children() {
		switch {
		case s.signsNode(n):
			signed = true
		case !isEmpty(n) && !isSignature(n):
			return false
		}
	}
	return signed
}

// signsObjects says whether there are Objects for data in an enveloping signature. That all are signed is
// asked of all signatures: see hasLoose.
func (s *scope) signsObjects() bool {
	for _, object := range s.otherObjects() {
		if s.signsNode(object) {
			return true
		}
	}
	return false
}

// signsNode says whether a node is in what a reference leads to, as it stands. Of what is decoded only the
// text is signed, so that there may be nothing else, and what is said of it has to be signed elsewhere.
func (s *scope) signsNode(n xmldoc.Node) bool {
	for _, r := range s.references {
		switch {
		case !r.ok:
		case r.target == (xmldoc.Node{}) && !isDecoded(r):
			return !isSignature(n)
		case isDecoded(r) && n == r.target && hasOnlyText(n) && !r.other, !isDecoded(r) && r.target.Contains(n):
			return true
		}
	}
	return false
}

func isDecoded(r signedReference) bool {
	last := len(r.Transforms) - 1
	return last >= 0 && r.Transforms[last].Kind == xmldsig.Base64
}

func hasOnlyText(n xmldoc.Node) bool {
	for child := range n.Children() {
		if child.Kind() != xmldoc.Text {
			return false
		}
	}
	return true
}

// isContainer says whether an element is what [InternallyDetached] puts around a document: itself it is
// not signed, and may say nothing.
func isContainer(n xmldoc.Node) bool {
	if !n.Is("", containerName) {
		return false
	}
	for range n.Attributes() {
		return false
	}
	return true
}

// isEmpty says whether a node is white space or a comment.
func isEmpty(n xmldoc.Node) bool {
	return n.Kind() == xmldoc.Comment || n.Kind() == xmldoc.Text && strings.Trim(n.Text(), " \t\r\n") == ""
}

// hasInstructions says whether instructions stand beside the root, such as that for a stylesheet.
func hasInstructions(d *xmldoc.Document) bool {
	var found sensor
	root := func(n xmldoc.Node) bool { return n == d.Root() }
	err := d.Canonicalize(&found, exclusive, xmldoc.Subset{Without: root})
	return err != nil || bool(found)
}

// sensor notes whether anything is written.
type sensor bool

func (s *sensor) Write(b []byte) (int, error) {
	*s = *s || len(b) > 0
	return len(b), nil
}
