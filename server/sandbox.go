package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"

	"github.com/innsigli/innsigli/account"
)

// The first account and client of a sandbox have fixed IDs: if several servers start at once on one database, one creates
// them and the others find them.
const (
	sandboxAccount = "5a0d6c0e-4b7e-4c0a-9f55-6f1d3b0e7a42"
	sandboxClient  = "sandbox"
)

// Credentials are the ID and the secret of an API client.
type Credentials struct {
	ID     string
	Secret *string // nil if another server or an earlier start created the client, since only its hash is stored
}

// ErrClientTaken is returned by [Server.SandboxClient] if a client with the ID has another secret or another account.
var ErrClientTaken = errors.New("server: the client has another secret or another account")

// SandboxClient returns an API client with every scope, and creates it and the account of the sandbox if necessary. With an
// id it is the client with that ID, which gets the secret, or the error is [ErrClientTaken]; without one it is any client of
// the account.
func (s *Server) SandboxClient(ctx context.Context, id, secret string) (Credentials, error) {
	owner, err := s.sandboxOwner(ctx)
	if err != nil {
		return Credentials{}, err
	}
	if id != "" {
		err := s.ensureClient(ctx, owner, id, secret)
		if errors.Is(err, account.ErrExists) {
			err = ErrClientTaken
		}
		return Credentials{id, &secret}, err
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
	if errors.Is(err, account.ErrExists) { // another server has just created it
		return Credentials{sandboxClient, nil}, nil
	}
	return Credentials{sandboxClient, &secret}, err
}

func (s *Server) ensureClient(ctx context.Context, owner, id, secret string) error {
	_, err := s.accounts.EnsureClient(ctx, account.Client{ID: id, AccountID: owner, Name: id, Scopes: account.Scopes()}, secret)
	return err
}

// newSecret returns a random client secret of 256 bits.
func newSecret() string {
	var secret [32]byte
	rand.Read(secret[:])
	return base64.RawURLEncoding.EncodeToString(secret[:])
}

// sandboxOwner returns the ID of the sandbox's first account, and creates it if necessary. The account has a payment
// method, so that calls are refused for lack of one (spec 6.5) only after an operator has removed it.
func (s *Server) sandboxOwner(ctx context.Context) (id string, err error) {
	accounts, err := s.accounts.Accounts(ctx)
	if err != nil {
		return "", err
	}
	if len(accounts) > 0 {
		return accounts[0].ID, nil
	}
	created, err := s.accounts.EnsureAccount(ctx, sandboxAccount, "Sandbox", true)
	return created.ID, err
}
