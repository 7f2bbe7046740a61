package xades

import (
	"context"
	"crypto"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/tsp"
)

// timestampOver gets a token over a sum, and makes sure that it is one: what would be found out by
// whoever validates the document is found out here.
func timestampOver(ctx context.Context, t ades.Timestamper, h crypto.Hash, sum []byte) (*tsp.Token, error) {
	der, err := t.Timestamp(ctx, h, sum)
	if err != nil {
		return nil, err
	}
	token, err := tsp.ParseToken(der)
	if err != nil {
		return nil, fmt.Errorf("xades: %w: %w", ades.ErrTimestamp, err)
	}
	if err := token.VerifyOver(sum); err != nil {
		return nil, fmt.Errorf("xades: %w: %w", ades.ErrTimestamp, err)
	}
	return token, nil
}
