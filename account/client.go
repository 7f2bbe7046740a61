package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
)

const (
	// FirstSecret is the ID of the secret that a client is created with.
	FirstSecret = "first"

	secretSize = 32 // bytes (spec 2.1)
	maxSecrets = 2  // per client: the one in use and its replacement
	// useInterval is the least time between two updates of UsedAt, so that a client that gets many tokens
	// does not cause a write for each.
	useInterval = 10 * time.Minute
)

// CreateClient creates a client of an account with the given scopes, which may be empty. It returns the
// client and its secret, which cannot be read later. Errors: [ErrNotFound], [ErrInvalid], [ErrInvalidScope],
// [ErrClosed].
func (s *Service) CreateClient(ctx context.Context, accountID, name string, scopes []string) (Client, string, error) {
	secret := newSecret()
	c, err := newClient(Client{ID: uuid.NewString(), AccountID: accountID, Name: name, Scopes: scopes}, secret, s.now(ctx))
	if err != nil {
		return Client{}, "", err
	}
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.checkOpen(ctx, accountID); err != nil {
			return err
		}
		return s.store.AddClient(ctx, c)
	})
	if err != nil {
		return Client{}, "", storeError("creating the client", err)
	}
	return c, secret, nil
}

// EnsureClient creates a client with an id and a secret that the operator chose, or returns the client that
// has this id and secret unchanged. It uses the ID, AccountID, Name and Scopes of c. It does not check the
// strength of the secret (see the package comment). Errors: those of CreateClient, and [ErrExists] if the
// client with this id has another secret or belongs to another account.
func (s *Service) EnsureClient(ctx context.Context, c Client, secret string) (Client, error) {
	c, err := newClient(c, secret, s.now(ctx))
	if err != nil {
		return Client{}, err
	}
	err = s.createOnce(ctx, func(ctx context.Context) error {
		if err := s.checkOpen(ctx, c.AccountID); err != nil {
			return err
		}
		existing, err := s.store.Client(ctx, c.ID)
		if errors.Is(err, storage.ErrNotFound) {
			return s.store.AddClient(ctx, c)
		}
		if err != nil {
			return err
		}
		if _, ok := existing.matchSecret(secret); !ok || existing.AccountID != c.AccountID {
			return ErrExists
		}
		c = existing
		return nil
	})
	if err != nil {
		return Client{}, storeError("creating the client", err)
	}
	return c, nil
}

// Clients returns the account's clients in the order of their creation.
func (s *Service) Clients(ctx context.Context, accountID string) ([]Client, error) {
	list, err := s.store.Clients(ctx, accountID)
	if err != nil {
		return nil, storeError("listing clients", err)
	}
	return list, nil
}

// DeleteClient removes a client and thereby invalidates its tokens. Error: [ErrNotFound].
func (s *Service) DeleteClient(ctx context.Context, id string) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		return s.store.DeleteClient(ctx, id)
	})
	return storeError("deleting the client", err)
}

// newClient checks the values of c and sets its secret and times.
func newClient(c Client, secret string, now time.Time) (Client, error) {
	if err := errors.Join(validName(c.Name), validCredential("client id", c.ID), validCredential("client secret", secret)); err != nil {
		return Client{}, err
	}
	scopes, err := validScopes(c.Scopes)
	if err != nil {
		return Client{}, fmt.Errorf("account: client %q: %w", c.Name, err)
	}
	c.Scopes, c.CreatedAt, c.UsedAt = scopes, now, time.Time{}
	c.Secrets = []Secret{{ID: FirstSecret, Hash: digest(secret), CreatedAt: c.CreatedAt}}
	return c, nil
}

// Secrets returns the secrets of a client, the older first. Error: [ErrNotFound].
func (s *Service) Secrets(ctx context.Context, clientID string) ([]Secret, error) {
	c, err := s.store.Client(ctx, clientID)
	if err != nil {
		return nil, storeError("reading the client", err)
	}
	return c.Secrets, nil
}

// AddSecret adds a second secret to a client and returns its value, which cannot be read later. The other
// secret stays valid. Errors: [ErrNotFound], [ErrClosed], [ErrTwoSecrets].
func (s *Service) AddSecret(ctx context.Context, clientID string) (Secret, string, error) {
	value := newSecret()
	added := Secret{ID: newSecretID(), Hash: digest(value), CreatedAt: s.now(ctx)}
	err := s.changeClient(ctx, clientID, func(c *Client) error {
		if len(c.Secrets) >= maxSecrets {
			return ErrTwoSecrets
		}
		c.Secrets = append(c.Secrets, added)
		return nil
	})
	if err != nil {
		return Secret{}, "", err
	}
	return added, value, nil
}

// RemoveSecret removes a secret of a client that has another one, and thereby invalidates the tokens that
// were issued for it. Errors: [ErrNotFound], [ErrClosed], [ErrLastSecret].
func (s *Service) RemoveSecret(ctx context.Context, clientID, secretID string) error {
	return s.changeClient(ctx, clientID, func(c *Client) error {
		i := c.secretIndex(secretID)
		if i < 0 {
			return storage.ErrNotFound
		}
		if len(c.Secrets) == 1 {
			return ErrLastSecret
		}
		c.Secrets = slices.Delete(c.Secrets, i, i+1)
		return nil
	})
}

// changeClient updates a client of an open account in a transaction, which locks the account before the client.
func (s *Service) changeClient(ctx context.Context, id string, update func(*Client) error) error {
	found, err := s.store.Client(ctx, id) // its account never changes
	if err != nil {
		return storeError("reading the client", err)
	}
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.checkOpen(ctx, found.AccountID); err != nil {
			return err
		}
		c, err := s.store.Client(ctx, id)
		if err != nil {
			return err
		}
		if err := update(&c); err != nil {
			return err
		}
		return s.store.UpdateClient(ctx, c)
	})
	return storeError("changing the client", err)
}

// recordUse updates UsedAt of the client and of the secret, if useInterval has passed. It reads the client
// again, because the client may have been changed or deleted since it was authenticated.
func (s *Service) recordUse(ctx context.Context, c Client, secretID string, at time.Time) error {
	if !c.useIsDue(secretID, at) {
		return nil
	}
	c, err := s.store.Client(ctx, c.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return ErrInvalidClient
	}
	if err != nil || !c.useIsDue(secretID, at) {
		return err
	}
	c.UsedAt = later(at, c.UsedAt)
	c.Secrets[c.secretIndex(secretID)].UsedAt = at
	return s.store.UpdateClient(ctx, c)
}

// useIsDue reports whether useInterval has passed since the last recorded use of the secret.
func (c Client) useIsDue(secretID string, at time.Time) bool {
	i := c.secretIndex(secretID)
	return i >= 0 && at.Sub(c.Secrets[i].UsedAt) >= useInterval
}

// newSecret returns a random value for a client secret or a token: 43 characters of base64url.
func newSecret() string {
	var random [secretSize]byte
	rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// newSecretID returns a random ID, so that the ID of a removed secret is not used again.
func newSecretID() string { return strings.ToLower(rand.Text()[:8]) }

// digest returns the form in which a secret is stored. A fast hash suffices: 256 random bits cannot be
// guessed, and the package comment states what a chosen secret must be.
func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// matchSecret returns the ID of the client's secret that has the given value.
func (c Client) matchSecret(value string) (id string, ok bool) {
	given, match := digest(value), maxSecrets
	for i, stored := range c.secretDigests() {
		match = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(stored, given), i, match)
	}
	if match >= len(c.Secrets) {
		return "", false
	}
	return c.Secrets[match].ID, true
}

// secretDigests returns the digests to compare a given secret with. Their number is the same for a client
// with one secret, with two, and for one that does not exist, so that the response time does not reveal which
// ids exist. Missing digests are zero, which no value hashes to.
func (c Client) secretDigests() (digests [maxSecrets][]byte) {
	for i := range digests {
		digests[i] = make([]byte, sha256.Size)
		if i < len(c.Secrets) && len(c.Secrets[i].Hash) == sha256.Size {
			copy(digests[i], c.Secrets[i].Hash)
		}
	}
	return digests
}

// secretIndex returns the index of the secret with the given ID in c.Secrets, or -1.
func (c Client) secretIndex(id string) int {
	return slices.IndexFunc(c.Secrets, func(s Secret) bool { return s.ID == id })
}
