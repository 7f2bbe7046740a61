package cms

import (
	"crypto"
	"encoding/asn1"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

var oidPSS = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}

// pssAlgorithm returns the AlgorithmIdentifier of RSASSA-PSS with the parameters that
// CMS requires (RFC 4056 2.2).
func pssAlgorithm(a ades.Algorithm) ([]byte, error) {
	if !a.Hash.Available() {
		return nil, fmt.Errorf("cms: %w: hash %v", ades.ErrAlgorithm, a.Hash)
	}
	salt := a.Salt
	if salt == 0 {
		salt = a.Hash.Size()
	}
	return der.PSS{Hash: a.Hash, Mask: a.Hash, Salt: salt}.Marshal()
}

// parsePSS reads the AlgorithmIdentifier of RSASSA-PSS beside a digest algorithm. A
// hash of its own for the mask is allowed there, but is not known to crypto/rsa.
func parsePSS(digest crypto.Hash, identifier []byte) (ades.Algorithm, error) {
	p, err := der.ParsePSS(identifier)
	switch {
	case errors.Is(err, der.ErrFormat):
		return ades.Algorithm{}, fmt.Errorf("%w: %w", ErrFormat, err)
	case err != nil:
		return ades.Algorithm{}, fmt.Errorf("cms: %w", err)
	case p.Hash != digest:
		return ades.Algorithm{}, fmt.Errorf("%w: digest %v with RSASSA-PSS over %v", ErrFormat, digest, p.Hash)
	case p.Mask != p.Hash || p.Salt < 1:
		return ades.Algorithm{}, fmt.Errorf("cms: %w: RSASSA-PSS with %v, mask by %v and a salt of %d bytes", ades.ErrAlgorithm, p.Hash, p.Mask, p.Salt)
	}
	a := ades.Algorithm{Hash: p.Hash, Scheme: ades.PSS}
	if p.Salt != p.Hash.Size() {
		a.Salt = p.Salt
	}
	return a, nil
}
