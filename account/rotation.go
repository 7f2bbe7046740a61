package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// useNoted is how often a use is noted, so that who gets token after token does not have each of
// them cost another write.
const useNoted = 10 * time.Minute

// Secrets are those of a client, the older first. Error: [ErrNotFound].
func (s *Service) Secrets(ctx context.Context, clientID string) ([]Secret, error) {
	c, err := s.store.Client(ctx, clientID)
	if err != nil {
		return nil, fault("reading the client", err)
	}
	return c.Secrets, nil
}

// AddSecret gives a client a second secret, whose value is returned here and never again; the
// other one stays as it is. Errors: [ErrNotFound], [ErrTwoSecrets].
func (s *Service) AddSecret(ctx context.Context, clientID string) (Secret, string, error) {
	value := newSecret()
	added := Secret{ID: newSecretID(), Hash: hashed(value), CreatedAt: s.now(ctx)}
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

// RemoveSecret takes a secret from a client that has another one. Tokens that were got with it end
// with it: whoever it leaked to is out. Errors: [ErrNotFound], [ErrLastSecret].
func (s *Service) RemoveSecret(ctx context.Context, clientID, secretID string) error {
	return s.changeClient(ctx, clientID, func(c *Client) error {
		i := c.secret(secretID)
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

func (s *Service) changeClient(ctx context.Context, id string, change func(*Client) error) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		c, err := s.store.Client(ctx, id)
		if err != nil {
			return err
		}
		if err := change(&c); err != nil {
			return err
		}
		return s.store.UpdateClient(ctx, c)
	})
	return fault("changing the client", err)
}

// use notes that a secret of the client was used, unless that was done of late. The client is read
// again, because it may have changed since it was identified, or been removed.
func (s *Service) use(ctx context.Context, c Client, secretID string, at time.Time) error {
	if !c.unnoted(secretID, at) {
		return nil
	}
	c, err := s.store.Client(ctx, c.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return ErrInvalidClient
	}
	if err != nil || !c.unnoted(secretID, at) {
		return err
	}
	c.UsedAt = latest(at, c.UsedAt)
	c.Secrets[c.secret(secretID)].UsedAt = at
	return s.store.UpdateClient(ctx, c)
}

// unnoted says whether a use of the secret is one to note.
func (c Client) unnoted(secretID string, at time.Time) bool {
	i := c.secret(secretID)
	return i >= 0 && at.Sub(c.Secrets[i].UsedAt) >= useNoted
}
