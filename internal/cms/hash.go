package cms

import (
	"crypto"
)

// MarshalHash returns the AlgorithmIdentifier of a hash in DER, without parameters
// (RFC 5754 section 2); [ades.ErrAlgorithm] for one that is not known here.
func MarshalHash(h crypto.Hash) ([]byte, error) { return digestAlgorithm(h) }

// ParseHash reads the AlgorithmIdentifier of a hash, whatever its parameters;
// [ades.ErrAlgorithm] for one that is not known here, [ErrFormat] when it is none.
func ParseHash(identifier []byte) (crypto.Hash, error) {
	oid, err := identifierOID(identifier)
	if err != nil {
		return 0, err
	}
	return hashOf(oid)
}
