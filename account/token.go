package account

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// sweepLimit bounds the work of one Sweep.
const sweepLimit = 1000

// Issue gives a client an access token for the scopes it asks for, or for all of
// its own when it asks for none (spec 2.1). Errors: [ErrInvalidClient],
// [ErrInvalidScope].
func (s *Service) Issue(ctx context.Context, clientID, secret string, scopes []string) (Token, error) {
	client, proof, err := s.identify(ctx, clientID, secret)
	if err != nil {
		return Token{}, err
	}
	granted, err := grant(client.Scopes, scopes)
	if err != nil {
		return Token{}, err
	}
	value := newSecret()
	record := newToken(client, proof, value, granted, latest(s.now(ctx), client.CreatedAt))
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.use(ctx, client, proof, s.now(ctx)); err != nil {
			return err
		}
		return s.store.AddToken(ctx, record)
	})
	if errors.Is(err, ErrInvalidClient) {
		return Token{}, ErrInvalidClient
	}
	if err != nil {
		return Token{}, fmt.Errorf("account: issuing a token: %w", err)
	}
	return Token{Value: value, Scopes: granted, ExpiresIn: TokenLifetime}, nil
}

// identify finds the client that has the id and the secret, and says which of its secrets that is.
func (s *Service) identify(ctx context.Context, clientID, secret string) (client Client, secretID string, err error) {
	err = storage.ErrNotFound
	if validCredential("client id", clientID) == nil {
		client, err = s.store.Client(ctx, clientID)
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return Client{}, "", fmt.Errorf("account: reading the client: %w", err)
	}
	secretID, right := client.proved(secret)
	if !right {
		return Client{}, "", ErrInvalidClient
	}
	return client, secretID, nil
}

// Authenticate says whom an access token speaks for. Error: [ErrInvalidToken].
func (s *Service) Authenticate(ctx context.Context, bearer string) (Caller, error) {
	if len(bearer) != base64.RawURLEncoding.EncodedLen(secretSize) {
		return Caller{}, ErrInvalidToken
	}
	token, err := s.store.Token(ctx, hashed(bearer))
	if err != nil {
		return Caller{}, tokenFault(err)
	}
	client, err := s.store.Client(ctx, token.ClientID)
	if err != nil {
		return Caller{}, tokenFault(err)
	}
	if !token.good(client, s.now(ctx)) {
		return Caller{}, ErrInvalidToken
	}
	return Caller{AccountID: token.AccountID, ClientID: token.ClientID, Scopes: token.Scopes}, nil
}

// Sweep deletes tokens that have expired, a bounded number at a time, and says
// how many; when there were any, there may be more.
func (s *Service) Sweep(ctx context.Context) (swept int, err error) {
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		swept, err = s.store.DeleteExpiredTokens(ctx, s.now(ctx), sweepLimit)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("account: sweeping tokens: %w", err)
	}
	return swept, nil
}

func newToken(c Client, secretID, value string, scopes []string, now time.Time) TokenRecord {
	return TokenRecord{
		Hash:      hashed(value),
		ClientID:  c.ID,
		Secret:    secretID,
		AccountID: c.AccountID,
		Scopes:    scopes,
		IssuedAt:  now,
		ExpiresAt: now.Add(TokenLifetime),
	}
}

// latest is the later of two times. The machine that made a client may have been ahead of
// this one, and a token of before the client is not for it.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// good says whether the token still speaks for the client that has its client's
// id now. A client deleted and made anew under the same id is another client,
// and tokens of the earlier one are not for it; nor are those that were got with a
// secret that it has no more.
func (t TokenRecord) good(c Client, now time.Time) bool {
	return now.Before(t.ExpiresAt) && t.AccountID == c.AccountID && !t.IssuedAt.Before(c.CreatedAt) &&
		c.secret(cmp.Or(t.Secret, FirstSecret)) >= 0
}

func tokenFault(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return ErrInvalidToken
	}
	return fmt.Errorf("account: reading the token: %w", err)
}
