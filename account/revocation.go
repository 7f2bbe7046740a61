package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/storage"
)

// Revoke ends a token of the client that has the id and the secret, at once and on every server
// (RFC 7009 2.1). Of a token that is none, that has ended, or that is another account's there is
// nothing to end, and no error (RFC 7009 2.2): what belongs to another account does not exist for
// the caller (spec 1.7). Errors: [ErrInvalidClient], and [ErrOtherClient] within the
// account.
func (s *Service) Revoke(ctx context.Context, clientID, secret, token string) error {
	client, _, err := s.identify(ctx, clientID, secret)
	if err != nil {
		return err
	}
	record, err := s.store.Token(ctx, hashed(token))
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("account: reading the token: %w", err)
	case record.AccountID != client.AccountID:
		return nil
	case record.ClientID != client.ID:
		return ErrOtherClient
	}
	err = s.tx.InTx(ctx, func(ctx context.Context) error { return s.store.DeleteToken(ctx, record.Hash) })
	if err != nil && !errors.Is(err, storage.ErrNotFound) { // which another revocation has ended meanwhile
		return fmt.Errorf("account: revoking the token: %w", err)
	}
	return nil
}
