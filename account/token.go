package account

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// sweepLimit is the largest number of tokens that one call of Sweep deletes.
const sweepLimit = 1000

// The scopes of the API (spec 2.2).
const (
	ScopeSignatures  = "api/signatures" // the Signing API
	ScopePortalRead  = "portal/read"    // reading processes, documents and subscriptions
	ScopePortalWrite = "portal/write"   // changing them, and the sandbox's sign and decline
)

// Scopes returns all scopes of the API.
func Scopes() []string {
	return []string{ScopeSignatures, ScopePortalRead, ScopePortalWrite}
}

// Has reports whether the caller was granted the scope.
func (c Caller) Has(scope string) bool {
	return slices.Contains(c.Scopes, scope)
}

// grantScopes returns the scopes of a token: the requested ones without repeats, or all allowed ones if
// none were requested (spec 2.1).
func grantScopes(allowed, requested []string) ([]string, error) {
	if len(requested) == 0 {
		return slices.Clone(allowed), nil
	}
	var granted []string
	for _, scope := range requested {
		if !slices.Contains(allowed, scope) {
			return nil, ErrInvalidScope
		}
		if !slices.Contains(granted, scope) {
			granted = append(granted, scope)
		}
	}
	return granted, nil
}

// validScopes returns the scopes of a new client without repeats, or ErrInvalidScope if one does not exist.
func validScopes(scopes []string) ([]string, error) {
	if len(scopes) == 0 {
		return nil, nil
	}
	valid, err := grantScopes(Scopes(), scopes)
	if err != nil {
		return nil, fmt.Errorf("%w: the scopes are %q", err, Scopes())
	}
	return valid, nil
}

// Issue issues an access token to a client for the requested scopes, or for all scopes of the client if none
// are requested (spec 2.1). Errors: [ErrInvalidClient], [ErrInvalidScope].
func (s *Service) Issue(ctx context.Context, clientID, secret string, scopes []string) (Token, error) {
	client, secretID, err := s.authenticateClient(ctx, clientID, secret)
	if err != nil {
		return Token{}, err
	}
	granted, err := grantScopes(client.Scopes, scopes)
	if err != nil {
		return Token{}, err
	}
	value := newSecret()
	record := newToken(client, secretID, value, granted, later(s.now(ctx), client.CreatedAt))
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.checkOpen(ctx, client.AccountID); err != nil {
			return err
		}
		if err := s.recordUse(ctx, client, secretID, s.now(ctx)); err != nil {
			return err
		}
		return s.store.AddToken(ctx, record)
	})
	if errors.Is(err, ErrInvalidClient) || errors.Is(err, ErrClosed) || errors.Is(err, storage.ErrNotFound) { // deleted meanwhile
		return Token{}, ErrInvalidClient
	}
	if err != nil {
		return Token{}, fmt.Errorf("account: issuing a token: %w", err)
	}
	return Token{Value: value, Scopes: granted, ExpiresIn: TokenLifetime}, nil
}

// authenticateClient returns the client with the given id and the ID of its secret that has the given value.
func (s *Service) authenticateClient(ctx context.Context, clientID, secret string) (client Client, secretID string, err error) {
	err = storage.ErrNotFound
	if validCredential("client id", clientID) == nil {
		client, err = s.store.Client(ctx, clientID)
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return Client{}, "", fmt.Errorf("account: reading the client: %w", err)
	}
	secretID, ok := client.matchSecret(secret)
	if !ok {
		return Client{}, "", ErrInvalidClient
	}
	return client, secretID, nil
}

// Authenticate returns the client that an access token was issued to. Error: [ErrInvalidToken].
func (s *Service) Authenticate(ctx context.Context, bearer string) (Caller, error) {
	if len(bearer) != base64.RawURLEncoding.EncodedLen(secretSize) {
		return Caller{}, ErrInvalidToken
	}
	token, err := s.store.Token(ctx, digest(bearer))
	if err != nil {
		return Caller{}, tokenError(err)
	}
	client, err := s.store.Client(ctx, token.ClientID)
	if err != nil {
		return Caller{}, tokenError(err)
	}
	if !token.validFor(client, s.now(ctx)) {
		return Caller{}, ErrInvalidToken
	}
	return Caller{AccountID: token.AccountID, ClientID: token.ClientID, Scopes: token.Scopes}, nil
}

// Revoke revokes a token of the client with the given id and secret, at once and on all servers (RFC 7009
// 2.1). A token that is unknown or expired, or that belongs to another account, is no error (RFC 7009 2.2):
// objects of another account do not exist for the caller (spec 1.7). Errors: [ErrInvalidClient], and
// [ErrOtherClient] for a token of another client of the account.
func (s *Service) Revoke(ctx context.Context, clientID, secret, token string) error {
	client, _, err := s.authenticateClient(ctx, clientID, secret)
	if err != nil {
		return err
	}
	record, err := s.store.Token(ctx, digest(token))
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
	if err != nil && !errors.Is(err, storage.ErrNotFound) { // a concurrent call may have deleted the token
		return fmt.Errorf("account: revoking the token: %w", err)
	}
	return nil
}

// Sweep deletes one bounded batch of expired tokens and returns how many it deleted; if it deleted any, there
// may be more.
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
		Hash:      digest(value),
		ClientID:  c.ID,
		Secret:    secretID,
		AccountID: c.AccountID,
		Scopes:    scopes,
		IssuedAt:  now,
		ExpiresAt: now.Add(TokenLifetime),
	}
}

// later returns the later of two times. Issue uses it because the clock of the server that created a client
// may be ahead of this server's clock, and a token that is older than its client is refused.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// validFor reports whether the token is valid now for c, the client that has the token's client id. A token
// that is older than c was issued to a deleted client with the same id, and is not valid; nor is a token that
// was issued for a secret that c no longer has.
func (t TokenRecord) validFor(c Client, now time.Time) bool {
	return now.Before(t.ExpiresAt) && t.AccountID == c.AccountID && !t.IssuedAt.Before(c.CreatedAt) &&
		c.secretIndex(cmp.Or(t.Secret, FirstSecret)) >= 0
}

func tokenError(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return ErrInvalidToken
	}
	return fmt.Errorf("account: reading the token: %w", err)
}
