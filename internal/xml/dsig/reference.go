package dsig

import (
	"errors"
	"fmt"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// readReferences reads those of SignedInfo or of a Manifest, which have one at least.
func (s *namespaces) readReferences(elements []xmldoc.Node) (all []Reference, err error) {
	if len(elements) == 0 {
		return nil, fmt.Errorf("%w: no Reference", ErrFormat)
	}
	for _, n := range elements {
		r, err := s.readReference(n)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// readReference reads a ds:Reference (xmldsig-core1 4.4.3). A transform that is not known is no fault of the
// signature: what it leads to is not found.
func (s *namespaces) readReference(n xmldoc.Node) (Reference, error) {
	r := Reference{Element: n}
	r.ID, _ = n.Attr("", "Id")
	r.Type, _ = n.Attr("", "Type")
	r.URI, r.HasURI = n.Attr("", "URI")
	in := sequenceOf(n)
	transforms := in.maybe(Namespace, "Transforms")
	method, value := in.one("DigestMethod"), in.one("DigestValue")
	err := in.end()
	if err != nil {
		return r, err
	}
	if err := sequenceOf(method).end(); err != nil {
		return r, err
	}
	uri, _ := method.Attr("", "Algorithm")
	r.Hash = Hash(uri)
	if r.Digest, err = binaryOf(value); err != nil {
		return r, err
	}
	if r.Transforms, err = s.readTransforms(transforms); errors.Is(err, ErrTransform) {
		r.fault, err = err, nil
	}
	return r, err
}

// readTransforms reads a ds:Transforms. Those that leave nodes out come before the one that makes octets:
// octets are not parsed again.
func (s *namespaces) readTransforms(n xmldoc.Node) (all []Transform, err error) {
	if n == (xmldoc.Node{}) {
		return nil, nil
	}
	in := sequenceOf(n)
	elements := in.some("Transform", maxTransforms)
	if err := in.end(); err != nil {
		return nil, err
	}
	if len(elements) == 0 {
		return nil, fmt.Errorf("%w: no Transform in Transforms", ErrFormat)
	}
	for i, element := range elements {
		t, err := s.readTransform(element)
		if err != nil {
			return nil, err
		}
		if t.Kind >= Base64 && i < len(elements)-1 {
			return nil, fmt.Errorf("%w: one more after that to octets", ErrTransform)
		}
		all = append(all, t)
	}
	return all, nil
}

// The algorithms of transforms that are no canonicalization (xmldsig-core1 6.6, XPath Filter 2.0).
const (
	transformEnveloped = Namespace + "enveloped-signature"
	transformBase64    = Namespace + "base64"
	transformXPath     = "http://www.w3.org/TR/1999/REC-xpath-19991116"
	transformFilter2   = "http://www.w3.org/2002/06/xmldsig-filter2"
)

func (s *namespaces) readTransform(n xmldoc.Node) (Transform, error) {
	switch uri, _ := n.Attr("", "Algorithm"); uri {
	case transformEnveloped:
		return Transform{Kind: EnvelopedSignature}, sequenceOf(n).end()
	case transformBase64:
		return Transform{Kind: Base64}, sequenceOf(n).end()
	case transformXPath:
		return s.readXPath(n)
	case transformFilter2:
		return s.readFilter2(n)
	}
	c, err := ReadCanonicalization(n)
	return Transform{Kind: Canonicalize, Canonicalization: c}, err
}
