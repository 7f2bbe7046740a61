package server

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

// Credentials are those of an API client.
type Credentials struct {
	ID     string
	Secret *string // nil when an earlier start made it, or another server
}

// SandboxClient returns an API client with every scope, which it makes if there is none, and the account of a sandbox too. The
// client is the one with the ID, which gets the secret, or any when the ID is empty.
func (s *Server) SandboxClient(ctx context.Context, id, secret string) (Credentials, error) {
	owner, err := s.sandboxOwner(ctx)
	if err != nil {
		return Credentials{}, err
	}
	if id != "" {
		return Credentials{id, &secret}, s.ensureClient(ctx, owner, id, secret)
	}
	clients, err := s.accounts.Clients(ctx, owner)
	if err != nil {
		return Credentials{}, err
	}
	if len(clients) > 0 {
		return Credentials{clients[0].ID, nil}, nil
	}
	secret = newSecret()
	err = s.ensureClient(ctx, owner, sandboxClient, secret)
	if errors.Is(err, account.ErrExists) { // made by another server meanwhile
		return Credentials{sandboxClient, nil}, nil
	}
	return Credentials{sandboxClient, &secret}, err
}

func (s *Server) ensureClient(ctx context.Context, owner, id, secret string) error {
	_, err := s.accounts.EnsureClient(ctx, account.Client{ID: id, AccountID: owner, Name: id, Scopes: account.Scopes()}, secret)
	return err
}

// newSecret is a client's secret of 256 bits.
func newSecret() string {
	var secret [32]byte
	rand.Read(secret[:])
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// sandboxOwner is the sandbox's first account. It has a payment method, so that only an
// operator who takes it away sees the refusals (spec 6.5).
func (s *Server) sandboxOwner(ctx context.Context) (id string, err error) {
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
