package tsp

import (
	"fmt"

	"github.com/innsigli/innsigli/ades"
)

// Check reads the token that answers the request, compares every field that the
// request fixes (RFC 3161 2.4.2; [ErrMismatch]), and verifies the token, whose
// algorithm has to be one of today ([ades.ErrAlgorithm]). The time is the caller's to
// compare with a clock.
func (r Request) Check(token []byte) (*Token, error) {
	t, err := ParseToken(token)
	if err != nil {
		return nil, err
	}
	if err := r.compare(t); err != nil {
		return nil, err
	}
	if err := t.VerifyOver(r.Sum); err != nil {
		return nil, err
	}
	key, err := ades.PublicKey(t.Certificate)
	if err != nil {
		return nil, err
	}
	if err := t.Algorithm.Check(key); err != nil {
		return nil, fmt.Errorf("tsp: signature of the token: %w", err)
	}
	return t, nil
}

func (r Request) compare(t *Token) error {
	switch {
	case t.Hash != r.Hash:
		return fmt.Errorf("%w: a digest by another hash", ErrMismatch)
	case r.Policy != nil && !t.Policy.Equal(r.Policy):
		return fmt.Errorf("%w: policy %v instead of %v", ErrMismatch, t.Policy, r.Policy)
	case r.Nonce != nil && (t.Nonce == nil || t.Nonce.Cmp(r.Nonce) != 0):
		return fmt.Errorf("%w: another nonce or none", ErrMismatch)
	}
	return nil
}
