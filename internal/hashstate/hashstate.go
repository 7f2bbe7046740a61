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
)

// Save returns the state of a hash, or an error if the hash has none that can be saved.
func Save(h hash.Hash) ([]byte, error) {
	m, ok := h.(encoding.BinaryMarshaler)
	if !ok {
		return nil, fmt.Errorf("hashstate: the state of %T cannot be saved", h)
	}
	return m.MarshalBinary()
}

// Restore returns a hash with a state that [Save] returned for a hash of the same function, or an
// error if the function is not linked in or has no such state.
func Restore(function crypto.Hash, state []byte) (hash.Hash, error) {
	if !function.Available() {
		return nil, fmt.Errorf("hashstate: %v is not available", function)
	}
	h := function.New()
	u, ok := h.(encoding.BinaryUnmarshaler)
	if !ok {
		return nil, fmt.Errorf("hashstate: the state of %v cannot be restored", function)
	}
	if err := u.UnmarshalBinary(state); err != nil {
		return nil, fmt.Errorf("hashstate: restoring the state of %v: %w", function, err)
	}
	return h, nil
}
