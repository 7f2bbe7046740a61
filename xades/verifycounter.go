package xades

import (
	"errors"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// countersignedType is the Type that the reference of a counter-signature to what it signs may have (EN 319
// 132-1 5.2.7.1).
const countersignedType = "http://uri.etsi.org/01903#CountersignedSignature"

// errCountersigned: a counter-signature is over something else, and whoever reads it there takes it for one of
// the signature around it.
var errCountersigned = errors.New("the counter-signature is not over the signature that it stands in")

// countersigned is the SignatureValue of the signature that another one stands in as a counter-signature, if
// it does. It is zero when there is none, or several.
func countersigned(element xmldoc.Node) (value xmldoc.Node, counter bool) {
	parent := xmldsig.Countersigned(element)
	value, _ = only(parent, xmldsig.Namespace, "SignatureValue")
	return value, parent != none
}

// countersigns reports whether a reference of SignedInfo leads to the value that the counter-signature has to be
// over (EN 319 132-1 5.2.7.2).
func (s *scope) countersigns(r signedReference) bool {
	return r.err == nil && s.over != none && r.target == s.over && r.Element.Parent() == s.SignedInfo
}

// lineage is the signature that is no counter-signature of another, and that this one belongs to.
func lineage(element xmldoc.Node) xmldoc.Node {
	for parent := xmldsig.Countersigned(element); parent != none; parent = xmldsig.Countersigned(element) {
		element = parent
	}
	return element
}
