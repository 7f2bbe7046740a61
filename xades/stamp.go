package xades

import (
	"crypto"
	"crypto/rand"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/xmldsig"
)

// stamped is a SignatureTimeStamp, if the signature has none (EN 319 132-1 5.3).
func (e *extension) stamped(s carriedSignature) (string, error) {
	if len(s.tokens) > 0 {
		return "", nil
	}
	h := s.stampHash()
	sum, err := s.signedSum(e.ctx, exclusive, h)
	if err != nil {
		return "", err
	}
	return e.stamp(s, "xades", "SignatureTimeStamp", h, sum)
}

// archivedBy is a further ArchiveTimeStamp (EN 319 132-1 5.5.2).
func (e *extension) archivedBy(s carriedSignature) (string, error) {
	h := s.stampHash()
	sum, err := s.archivedSum(e.ctx, exclusive, h, none)
	if err != nil {
		return "", err
	}
	return e.stamp(s, "xades141", "ArchiveTimeStamp", h, sum)
}

// stampHash is the hash of the signature, unless that is not for timestamps of today.
func (s *signature) stampHash() crypto.Hash {
	if _, err := xmldsig.DigestMethod(s.Algorithm.Hash); err == nil {
		return s.Algorithm.Hash
	}
	return crypto.SHA256
}

// stamp gets a timestamp over a sum, as a property.
func (e *extension) stamp(s carriedSignature, prefix, name string, h crypto.Hash, sum []byte) (string, error) {
	if e.Sources.Time == nil {
		return "", fmt.Errorf("xades: %w: no timestamp authority", ades.ErrTimestamp)
	}
	token, err := timestampOver(e.ctx, e.Sources.Time, h, sum)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	prefixes := []string{"ds", "xades"}
	if prefix != "xades" {
		prefixes = append(prefixes, prefix)
	}
	a := append(declarations(s.growing(), prefixes...), "Id", "timestamp-"+rand.Text())
	return timestampProperty(prefix+":"+name, a, token.Raw), nil
}

// timestampProperty is a property with a timestamp.
func timestampProperty(name string, a attributes, token []byte) string {
	return element(name, a,
		element("ds:CanonicalizationMethod", attributes{"Algorithm", xmldsig.CanonicalizationMethod(exclusive)}),
		base64Element("xades:EncapsulatedTimeStamp", nil, token))
}
