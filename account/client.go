package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
)

// CreateClient makes a client of an account with the scopes given, none also
// being right, and its secret, which is shown here and never again. Errors:
// [ErrNotFound], [ErrInvalid], [ErrInvalidScope], [ErrClosed].
func (s *Service) CreateClient(ctx context.Context, accountID, name string, scopes []string) (Client, string, error) {
	secret := newSecret()
	c, err := newClient(Client{ID: uuid.NewString(), AccountID: accountID, Name: name, Scopes: scopes}, secret, s.now(ctx))
	if err != nil {
		return Client{}, "", err
	}
	if err := s.tx.InTx(ctx, func(ctx context.Context) error { return s.add(ctx, c) }); err != nil {
		return Client{}, "", fault("creating a client", err)
	}
	return c, secret, nil
}

// EnsureClient makes a client with the id and the secret that the operator
// chose, unless it is there already; then it is returned as it is. Of c, the ID,
// AccountID, Name and Scopes are used. Nothing judges how well the secret was chosen: see the
// package comment. Errors: those of CreateClient, and [ErrExists] when the id has another
// secret or belongs to another account.
func (s *Service) EnsureClient(ctx context.Context, c Client, secret string) (Client, error) {
	c, err := newClient(c, secret, s.now(ctx))
	if err != nil {
		return Client{}, err
	}
	err = s.ensure(ctx, func(ctx context.Context) error {
		there, err := s.store.Client(ctx, c.ID)
		if errors.Is(err, storage.ErrNotFound) {
			return s.add(ctx, c)
		}
		if err != nil {
			return err
		}
		if _, right := there.proved(secret); !right || there.AccountID != c.AccountID {
			return ErrExists
		}
		c = there
		return nil
	})
	if err != nil {
		return Client{}, fault("making the client", err)
	}
	return c, nil
}

// Clients lists the account's clients in the order of creation.
func (s *Service) Clients(ctx context.Context, accountID string) ([]Client, error) {
	list, err := s.store.Clients(ctx, accountID)
	if err != nil {
		return nil, fault("listing clients", err)
	}
	return list, nil
}

// DeleteClient removes a client; its tokens end with it. Error: [ErrNotFound].
func (s *Service) DeleteClient(ctx context.Context, id string) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		return s.store.DeleteClient(ctx, id)
	})
	return fault("deleting the client", err)
}

func (s *Service) add(ctx context.Context, c Client) error {
	a, err := s.store.Account(ctx, c.AccountID)
	if err != nil {
		return err
	}
	if !a.ClosedAt.IsZero() {
		return ErrClosed
	}
	return s.store.AddClient(ctx, c)
}

// newClient completes what the caller of CreateClient or EnsureClient said.
func newClient(c Client, secret string, now time.Time) (Client, error) {
	if err := errors.Join(validName(c.Name), validCredential("client id", c.ID), validCredential("client secret", secret)); err != nil {
		return Client{}, err
	}
	scopes, err := known(c.Scopes)
	if err != nil {
		return Client{}, fmt.Errorf("account: client %q: %w", c.Name, err)
	}
	c.Scopes, c.CreatedAt, c.UsedAt = scopes, now, time.Time{}
	c.Secrets = []Secret{{ID: FirstSecret, Hash: hashed(secret), CreatedAt: c.CreatedAt}}
	return c, nil
}
