// Package hashstate saves and restores the states of hashes. Digests of data that begins with the
// same bytes then read these bytes once, also in another process.
//
// It uses [encoding.BinaryMarshaler], which all hashes of the standard library implement. Those of
// GOFIPS140=v1.0.0 do not implement [hash.Cloner].
package hashstate

import (
	"crypto"
	"encoding"
	"fmt"
	"hash"

	"github.com/innsigli/innsigli/ades"
)

// Save returns the state of a hash. The error is [ades.ErrAlgorithm] if the hash has no state that
// can be saved.
func Save(h hash.Hash) ([]byte, error) {
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok {
		return nil, fmt.Errorf("%w: the state of %T cannot be saved", ades.ErrAlgorithm, h)
	}
	return m.MarshalBinary()
}

// Restore returns a hash with a state that [Save] returned for a hash of the same function. The
// error is [ades.ErrAlgorithm] if the function is not available or its state cannot be restored.
func Restore(function crypto.Hash, state []byte) (hash.Hash, error) {
	if !function.Available() {
		return nil, fmt.Errorf("%w: %v", ades.ErrAlgorithm, function)
	}
	h := function.New()
	u, ok := h.(encoding.BinaryUnmarshaler)
	if !ok {
		return nil, fmt.Errorf("%w: the state of %v cannot be restored", ades.ErrAlgorithm, function)
	}
	return h, u.UnmarshalBinary(state)
}
