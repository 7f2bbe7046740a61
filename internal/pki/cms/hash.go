package cms

import (
	"crypto"
	"fmt"

	"github.com/innsigli/innsigli/ades"
)

// MarshalHash returns the AlgorithmIdentifier of a hash in DER, without parameters
// (RFC 5754 section 2); [ades.ErrAlgorithm] for one that is not known here.
func MarshalHash(h crypto.Hash) ([]byte, error) {
	for _, d := range digestOIDs {
		if d.hash == h {
			return algorithmIdentifier(d.oid, false)
		}
	}
	return nil, fmt.Errorf("cms: %w: hash %v", ades.ErrAlgorithm, h)
}

// ParseHash reads the AlgorithmIdentifier of a hash, whatever its parameters;
// [ades.ErrAlgorithm] for one that is not known here, [ErrFormat] when it is none.
func ParseHash(identifier []byte) (crypto.Hash, error) {
	oid, err := identifierOID(identifier)
	if err != nil {
		return 0, err
	}
	return hashOf(oid)
}
