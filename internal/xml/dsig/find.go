package dsig

import (
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// Find returns the ds:Signature elements of a document, in document order, but for counter-signatures
// and whatever else stands in an unsigned property of another: those sign that other.
func Find(d *xmldoc.Document) []xmldoc.Node {
	found, _ := find(d)
	return found
}

// FindUnsigned returns those that [Find] leaves out, in document order. Nobody has to have signed that they
// are there.
func FindUnsigned(d *xmldoc.Document) []xmldoc.Node {
	_, unsigned := find(d)
	return unsigned
}

func find(d *xmldoc.Document) (found, unsigned []xmldoc.Node) {
	root := d.Root()
	if root.Is(Namespace, "Signature") {
		found = append(found, root)
	}
	var within xmldoc.Node // UnsignedProperties that the walk is in
	for n := range root.Descendants() {
		inside := within != (xmldoc.Node{}) && within.Contains(n)
		switch {
		case n.Is(Namespace, "Signature") && inside:
			unsigned = append(unsigned, n)
		case n.Is(Namespace, "Signature"):
			found = append(found, n)
		case !inside && isUnsignedProperties(n):
			within = n
		}
	}
	return found, unsigned
}

// Countersigned is the signature that one stands in as a counter-signature, by the way that leads there
// (EN 319 132-1 5.2.7.2); zero when it is none. Whether it is over that signature its references say.
func Countersigned(n xmldoc.Node) xmldoc.Node {
	property := n.Parent()
	list := property.Parent()
	properties := list.Parent()
	space := properties.Name().Space
	if !isUnsignedProperties(properties) || !list.Is(space, "UnsignedSignatureProperties") || !property.Is(space, "CounterSignature") {
		return xmldoc.Node{}
	}
	return properties.Parent().Parent().Parent()
}

// isUnsignedProperties says whether an element is the UnsignedProperties of a signature, by the way that
// leads to it from the signature (EN 319 132-1 4.3), in any edition of XAdES.
func isUnsignedProperties(n xmldoc.Node) bool {
	if n.Name().Local != "UnsignedProperties" || !strings.HasPrefix(n.Name().Space, "http://uri.etsi.org/01903/v") {
		return false
	}
	qualifying := n.Parent()
	object := qualifying.Parent()
	return qualifying.Is(n.Name().Space, "QualifyingProperties") && object.Is(Namespace, "Object") &&
		object.Parent().Is(Namespace, "Signature")
}
