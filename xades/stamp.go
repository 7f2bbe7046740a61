package xades

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// stamped is a SignatureTimeStamp, if the signature has none (EN 319 132-1 5.3).
func (e *extension) stamped(s *carriedSignature) (string, error) {
	if len(s.tokens) > 0 {
		return "", nil
	}
	h := s.stampHash()
	sum, err := s.signedSum(e.ctx, exclusive, h)
	if err != nil {
		return "", readError(err)
	}
	token, markup, err := e.stamp(s, "xades", "SignatureTimeStamp", h, sum)
	if err != nil {
		return "", err
	}
	s.tokens = []carriedStamp{{c14n: exclusive, der: token.Raw, token: token}}
	s.known = append(s.known, token.Certificates...)
	return markup, nil
}

// archivedBy is a further ArchiveTimeStamp (EN 319 132-1 5.5.2).
func (e *extension) archivedBy(s *carriedSignature) (string, error) {
	if e.read.growsIn(s) {
		return "", fmt.Errorf("%w: the evidence of one signature would change what the archive timestamp of another is over", ades.ErrForbidden)
	}
	added, err := canonicalProperties(s.added)
	if err != nil {
		return "", err
	}
	h := s.stampHash()
	sum, err := s.archivedSum(e.ctx, exclusive, h, none, added)
	if err != nil {
		return "", readError(err)
	}
	_, markup, err := e.stamp(s, "xades141", "ArchiveTimeStamp", h, sum)
	return markup, err
}

// canonicalProperties is the canonical form of properties that are to be added, one after another. It is the
// same where they will stand, because it is exclusive, and their prefixes are bound to the same there.
func canonicalProperties(markup string) ([]byte, error) {
	var bound attributes
	for _, prefix := range []string{"ds", "xades", "xades141"} {
		bound = append(bound, "xmlns:"+prefix, namespaceOf(prefix))
	}
	d, err := xmldoc.Parse([]byte(element("properties", bound, markup)))
	if err != nil {
		return nil, fmt.Errorf("xades: reading unsigned properties: %w", err)
	}
	var b bytes.Buffer
	for property := range d.Root().Elements() {
		if err := d.Canonicalize(&b, exclusive, xmldoc.Subset{Apex: property}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// stampHash is the hash of the signature, unless that is not for timestamps of today.
func (s *signature) stampHash() crypto.Hash {
	if _, err := xmldsig.DigestMethod(s.Algorithm.Hash); err == nil {
		return s.Algorithm.Hash
	}
	return crypto.SHA256
}

// stamp gets a timestamp over a sum, and the property that it is in.
func (e *extension) stamp(s *carriedSignature, prefix, name string, h crypto.Hash, sum []byte) (*tsp.Token, string, error) {
	if e.Sources.Time == nil {
		return nil, "", fmt.Errorf("xades: %w: no timestamp authority", ades.ErrTimestamp)
	}
	token, err := tsp.Obtain(e.ctx, e.Sources.Time, h, sum)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	prefixes := []string{"ds", "xades"}
	if prefix != "xades" {
		prefixes = append(prefixes, prefix)
	}
	a := append(declarations(s.growing(), prefixes...), "Id", "timestamp-"+rand.Text())
	return token, timestampProperty(prefix+":"+name, a, token.Raw), nil
}

// timestampProperty is a property with a timestamp.
func timestampProperty(name string, a attributes, token []byte) string {
	return element(name, a,
		element("ds:CanonicalizationMethod", attributes{"Algorithm", xmldsig.CanonicalizationMethod(exclusive)}),
		base64Element("xades:EncapsulatedTimeStamp", nil, token))
}
