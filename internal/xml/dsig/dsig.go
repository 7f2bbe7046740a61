// Package dsig is the core of XML Signature 1.1 (W3C xmldsig-core1) as far as XAdES needs it: the
// URIs of algorithms, a strict reader of Signature elements, references into the same document, a
// short list of transforms, and the verification of digests and signature values.
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
// The package reads the parts of a signature only from the elements that the schema names, and each
// of them occurs once. An attacker who wraps a signed element into another document (signature
// wrapping) therefore finds no reader that takes one element for the other. The package fetches
// nothing, evaluates no stylesheet and no expression but the few that leave out signatures, and
// accepts no shared keys (HMAC).
package dsig

import (
	"crypto"
	"crypto/x509"
	"errors"
	"strings"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// Namespace is the namespace of XML Signature.
const Namespace = "http://www.w3.org/2000/09/xmldsig#"

var (
	// ErrFormat: the element violates the schema, or has a form that this package does not support.
	ErrFormat = errors.New("xmldsig: format")
	// ErrReference: a reference leads to no element, to several elements, or out of the document.
	ErrReference = errors.New("xmldsig: reference")
	// ErrTransform: the package does not support a transform.
	ErrTransform = errors.New("xmldsig: transform")
	// ErrDigest: the referenced data is not the signed data.
	ErrDigest = errors.New("xmldsig: digest does not match")
	// ErrLimit: there are too many references, or processing them takes too much work.
	ErrLimit = errors.New("xmldsig: limit exceeded")
)

// Signature is a ds:Signature element. It caches digests, so only one goroutine at a time may use
// it and the other signatures of its [Reader].
type Signature struct {
	Document                                     *xmldoc.Document
	Element, SignedInfo, SignatureValue, KeyInfo xmldoc.Node // KeyInfo may be zero
	Objects                                      []xmldoc.Node
	ID                                           string
	Canonicalization                             xmldoc.Canonicalization // of SignedInfo
	// Algorithm may be a weak algorithm.
	Algorithm ades.Algorithm
	// Value is the signature value in the form of [ades.Algorithm.Verify]: DER for ECDSA. It is nil
	// if SignatureValue cannot be a value of the algorithm.
	Value        []byte
	References   []Reference
	Certificates []*x509.Certificate // of KeyInfo/X509Data, in their order
	Unparsed     [][]byte            // those that cannot be parsed, in DER

	octets []byte                 // SignatureValue, decoded from base64
	given  map[xmldoc.Node][]byte // states of hashes by ds:Reference, of GiveHash
	*namespaces
}

// Reference is a ds:Reference of SignedInfo.
type Reference struct {
	Element       xmldoc.Node
	ID, URI, Type string
	HasURI        bool
	Hash          crypto.Hash // 0: unknown
	Digest        []byte
	Transforms    []Transform

	fault error // unsupported transform: the referenced data is not known
}

// IsManifest reports whether the reference leads to a Manifest, a list of further references
// (xmldsig-core1 5.1). Verifying the reference covers only the list, not the data to which its
// references lead.
func (r Reference) IsManifest() bool { return r.Type == Namespace+"Manifest" }

// Transform is a supported transform.
type Transform struct {
	Kind             TransformKind
	Canonicalization xmldoc.Canonicalization // if Kind is Canonicalize
}

// TransformKind is the kind of a transform. WithoutSignatures is written in XPath or XPath Filter
// 2.0, WithoutRootSignatures in XPath Filter 2.0.
type TransformKind uint8

const (
	EnvelopedSignature    TransformKind = iota + 1 // leaves out the signature itself
	WithoutSignatures                              // leaves out all ds:Signature elements
	WithoutRootSignatures                          // leaves out those that are children of the root
	Base64
	Canonicalize
)

// Find returns the ds:Signature elements of a document in document order, without
// counter-signatures and other signatures in the unsigned properties of a signature. Those sign
// that other signature.
func Find(d *xmldoc.Document) []xmldoc.Node {
	found, _ := find(d)
	return found
}

// FindUnsigned returns the ds:Signature elements that [Find] leaves out, in document order. Anyone
// can add such an element to a document without breaking a signature.
func FindUnsigned(d *xmldoc.Document) []xmldoc.Node {
	_, unsigned := find(d)
	return unsigned
}

func find(d *xmldoc.Document) (found, unsigned []xmldoc.Node) {
	var within xmldoc.Node // the UnsignedProperties that contain n
	matches := func(n xmldoc.Name) bool { return n == signatureName || isUnsignedPropertiesName(n) }
	for n := range d.Named(matches) {
		inside := within != (xmldoc.Node{}) && within.Contains(n)
		switch {
		case n.Name() == signatureName && inside:
			unsigned = append(unsigned, n)
		case n.Name() == signatureName:
			found = append(found, n)
		case !inside && isUnsignedProperties(n):
			within = n
		}
	}
	return found, unsigned
}

var signatureName = xmldoc.Name{Space: Namespace, Local: "Signature"}

// Countersigned returns the signature whose unsigned properties contain n as a counter-signature
// (EN 319 132-1 5.2.7.2), or the zero Node if n is not a counter-signature. The references of n
// state whether it signs that signature.
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

// isUnsignedProperties reports whether an element is the UnsignedProperties of a signature, in any
// version of XAdES. It checks all elements between the signature and the properties (EN 319 132-1
// 4.3).
func isUnsignedProperties(n xmldoc.Node) bool {
	if !isUnsignedPropertiesName(n.Name()) {
		return false
	}
	qualifying := n.Parent()
	object := qualifying.Parent()
	return qualifying.Is(n.Name().Space, "QualifyingProperties") && object.Is(Namespace, "Object") &&
		object.Parent().Is(Namespace, "Signature")
}

func isUnsignedPropertiesName(n xmldoc.Name) bool {
	return n.Local == "UnsignedProperties" && strings.HasPrefix(n.Space, "http://uri.etsi.org/01903/v")
}
