package xades

import (
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// What has to be left of the bounds of a document, so that it is read with what is put into it.
const (
	// growth is the room in bytes that a document has to leave for what signatures get later: validation
	// data and timestamps.
	reservedBytes = 16 << 20
	// growthNodes is the room for their elements and text, and for their attributes.
	reservedNodes = 1 << 16
	// vocabulary is more than the names and namespaces that this package writes.
	reservedNames = 128
)

func checkSize(made Revision) error {
	if made.size() > maxSize-reservedBytes {
		return fmt.Errorf("%w: %w: signed it has more than %d bytes", ades.ErrUnreadable, ErrLimit, maxSize-reservedBytes)
	}
	return nil
}

// checkRoom reports whether a document with so many signatures can take a further one, and evidence after
// that.
func checkSignatureLimits(d *xmldoc.Document, signatures int) error {
	nodes, attributes, names := d.RemainingLimits()
	switch {
	case signatures >= maxSignatures:
		return fmt.Errorf("%w: %w: it has %d signatures", ades.ErrForbidden, ErrLimit, signatures)
	case min(nodes, attributes) < reservedNodes:
		return fmt.Errorf("%w: %w: too many nodes, or attributes, for a signature to be added", ades.ErrUnreadable, ErrLimit)
	case names < 2*reservedNames: // so that there is room for evidence when this has been added
		return fmt.Errorf("%w: %w: too many names for a signature to be added", ades.ErrUnreadable, ErrLimit)
	}
	return nil
}

// checkNames refuses what others cannot parse: nobody could verify the signature.
func checkXMLNames(d *xmldoc.Document) error {
	if !d.CommonNames() {
		return fmt.Errorf("%w: it has a name that XML 1.0 did not have before its fifth edition, or a very long one", ades.ErrUnreadable)
	}
	return nil
}

// checkRoomFor reports whether markup with so many tags can be added to unsigned properties. Each stands for one
// node at most, as an element has two, and text stands between them; and, one with another, for less than one
// attribute. No evidence is deeper in a signature than
// the digest that names its signer.
func checkPropertyLimits(d *xmldoc.Document, tags int) error {
	if nodes, attributes, names := d.RemainingLimits(); min(nodes, attributes) < tags || names < reservedNames {
		return fmt.Errorf("%w: %w: no room for evidence", ades.ErrUnreadable, ErrLimit)
	}
	return nil
}

// Elements that mean something for the signature when they stand in its Object (xmldsig-core1 4.5, EN 319
// 132-1 4.3.1 and 4.3.2).
var (
	signatureElementNames  = []string{"Manifest", "SignatureProperties"}
	propertiesElementNames = []string{"QualifyingProperties", "QualifyingPropertiesReference"}
)

// editions is what the namespaces of all editions of XAdES begin with.
const editions = "http://uri.etsi.org/01903/v"

// checkEnveloped refuses a document that would be taken for a part of the signature when it stands in its
// Object. EU DSS looks deeper for the properties of the first editions of XAdES.
func checkObjectContent(object xmldoc.Node) error {
	for n := range object.Descendants() {
		name := n.Name()
		switch {
		case n.Parent() == object && name.Space == xmldsig.Namespace && slices.Contains(signatureElementNames, name.Local),
			n.Parent() == object && strings.HasPrefix(name.Space, editions) && slices.Contains(propertiesElementNames, name.Local),
			n.Is(editions+"1.1.1#", "QualifyingProperties"), n.Is(editions+"1.2.2#", "QualifyingProperties"):
			return fmt.Errorf("%w: in an Object the document would be of the signature; in Base64 it is none", ades.ErrForbidden)
		}
	}
	return nil
}
