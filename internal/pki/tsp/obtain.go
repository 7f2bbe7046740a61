package tsp

import (
	"context"
	"crypto"
	"fmt"

	"github.com/innsigli/innsigli/ades"
)

// Obtain gets a token over a sum that goes into a document, and makes sure that it is one: what would be
// found out by whoever validates the document is found out here. [ades.ErrTimestamp] and the errors of t.
func Obtain(ctx context.Context, t ades.Timestamper, h crypto.Hash, sum []byte) (*Token, error) {
	der, err := t.Timestamp(ctx, h, sum)
	if err != nil {
		return nil, err
	}
	token, err := ParseToken(der)
	switch {
	case err != nil:
	case token.Hash != h:
		err = fmt.Errorf("%w: a digest by another hash", ErrMismatch)
	default:
		err = token.VerifyOver(sum)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ades.ErrTimestamp, err)
	}
	return token, nil
}
