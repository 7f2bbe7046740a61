package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"

	"github.com/innsigli/innsigli/account"
)

// The account and the client of a sandbox have IDs that are always the same: of several
// servers that start at once on one database the first makes them, and the others find them.
const (
	sandboxAccount = "5a0d6c0e-4b7e-4c0a-9f55-6f1d3b0e7a42"
	sandboxClient  = "sandbox"
)

// credentials are those of an API client with every scope. The secret is nil when
// an earlier start made it, or another server.
type credentials struct {
	id     string
	secret *string
}

// credentials makes the account on first start, and the client that was asked for.
func (s *server) credentials(ctx context.Context, id, secret string) (credentials, error) {
	owner, err := s.owner(ctx)
	if err != nil {
		return credentials{}, err
	}
	if id != "" {
		return credentials{id, &secret}, s.ensureClient(ctx, owner, id, secret)
	}
	clients, err := s.accounts.Clients(ctx, owner)
	if err != nil {
		return credentials{}, err
	}
	if len(clients) > 0 {
		return credentials{clients[0].ID, nil}, nil
	}
	secret = newSecret()
	err = s.ensureClient(ctx, owner, sandboxClient, secret)
	if errors.Is(err, account.ErrExists) { // made by another server meanwhile
		return credentials{sandboxClient, nil}, nil
	}
	return credentials{sandboxClient, &secret}, err
}

func (s *server) ensureClient(ctx context.Context, owner, id, secret string) error {
	_, err := s.accounts.EnsureClient(ctx, account.Client{ID: id, AccountID: owner, Name: id, Scopes: account.Scopes()}, secret)
	return err
}

// newSecret is a client's secret of 256 bits.
func newSecret() string {
	var secret [32]byte
	rand.Read(secret[:])
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// owner is the sandbox's first account. It has a payment method, so that only an
// operator who takes it away sees the refusals (decisions.md 5.7).
func (s *server) owner(ctx context.Context) (id string, err error) {
	accounts, err := s.accounts.Accounts(ctx)
	if err != nil {
		return "", err
	}
	if len(accounts) > 0 {
		return accounts[0].ID, nil
	}
	made, err := s.accounts.EnsureAccount(ctx, sandboxAccount, "Sandbox", true)
	return made.ID, err
}
