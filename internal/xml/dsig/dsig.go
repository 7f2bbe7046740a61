// Package dsig is the core of XML Signature 1.1 (W3C xmldsig-core1) as far as XAdES needs it: the
// algorithms by their URIs, a Signature element that is read strictly, references that are resolved in
// the document alone and transformed by a short list of transforms, and whether digests and value are
// right.
//
//	for _, element := range xmldsig.Find(document) {
//		s, err := xmldsig.Read(document, element)
//		...
//		for _, r := range s.References {
//			err := s.VerifyReference(ctx, r)
//		}
//		err = s.VerifyValue(certificate)
//	}
//
// What a signature says is only looked for in the elements that the schema has for it, which are there
// once: whoever wraps a signed element into another document must not find a reader who takes the one
// for the other. No address is asked, no stylesheet and no other expression than the few that leave
// signatures out is evaluated, and no key is shared with a signer.
package dsig

import (
	"crypto"
	"crypto/x509"
	"errors"
	"strings"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// Namespace is that of XML Signature.
const Namespace = "http://www.w3.org/2000/09/xmldsig#"

var (
	// ErrFormat: the element is not what the schema and this package know.
	ErrFormat = errors.New("xmldsig: format")
	// ErrReference: a reference leads nowhere, to several elements, or out of the document.
	ErrReference = errors.New("xmldsig: reference")
	// ErrTransform: a transform that is not on the list.
	ErrTransform = errors.New("xmldsig: transform")
	// ErrDigest: what a reference leads to is not what was signed.
	ErrDigest = errors.New("xmldsig: digest does not match")
	// ErrLimit: too many references, or too much work for them.
	ErrLimit = errors.New("xmldsig: limit exceeded")
)

// Signature is a ds:Signature element. It remembers what it has digested, so one goroutine at a time may
// use it and the others of its [Reader].
type Signature struct {
	Document                                     *xmldoc.Document
	Element, SignedInfo, SignatureValue, KeyInfo xmldoc.Node // KeyInfo may be zero
	Objects                                      []xmldoc.Node
	ID                                           string
	Canonicalization                             xmldoc.Canonicalization // of SignedInfo
	// Algorithm may be one that nobody should rely on.
	Algorithm ades.Algorithm
	// Value is as [ades.Algorithm.Verify] takes it: ECDSA in DER. What cannot be a value of the algorithm
	// is nil.
	Value        []byte
	References   []Reference
	Certificates []*x509.Certificate // of KeyInfo/X509Data, in their order
	Unparsed     [][]byte            // those among them that cannot be parsed

	octets []byte // SignatureValue as it stands
	*namespaces
}

// Reference is a ds:Reference of SignedInfo.
type Reference struct {
	Element       xmldoc.Node
	ID, URI, Type string
	HasURI        bool
	Hash          crypto.Hash // 0: not known
	Digest        []byte
	Transforms    []Transform

	fault error // a transform that is not on the list: where the reference leads cannot be told
}

// IsManifest says whether the reference leads to a list of further references (xmldsig-core1 5.1). Only the
// list is signed by what this package verifies, and not what the list leads to.
func (r Reference) IsManifest() bool { return r.Type == Namespace+"Manifest" }

// Transform is a transform of the list.
type Transform struct {
	Kind             TransformKind
	Canonicalization xmldoc.Canonicalization // of Canonicalize
}

// TransformKind is what a transform does.
type TransformKind uint8

const (
	EnvelopedSignature    TransformKind = iota + 1 // leaves the signature itself out
	WithoutSignatures                              // leaves all ds:Signature elements out, by XPath or XPath Filter 2.0
	WithoutRootSignatures                          // leaves those that are children of the root out, by XPath Filter 2.0
	Base64
	Canonicalize
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
