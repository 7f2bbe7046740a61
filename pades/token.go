package pades

import (
	"context"
	"crypto"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/tsp"
)

// tokenSize is the room in bytes for a timestamp token. They take 3 to 10 KB with the
// certificates of their authority.
const tokenSize = 16 << 10

// timestampOver gets a token over a sum, and makes sure that it is one: what would be
// found out by whoever validates the document is found out here.
func timestampOver(ctx context.Context, t ades.Timestamper, h crypto.Hash, sum []byte) (*tsp.Token, error) {
	der, err := t.Timestamp(ctx, h, sum)
	if err != nil {
		return nil, err
	}
	token, err := tsp.ParseToken(der)
	if err != nil {
		return nil, fmt.Errorf("pades: %w: %w", ades.ErrTimestamp, err)
	}
	if err := token.VerifyOver(sum); err != nil {
		return nil, fmt.Errorf("pades: %w: %w", ades.ErrTimestamp, err)
	}
	return token, nil
}
