package account_test

import (
	"context"
	"errors"
	"testing"

	"github.com/innsigli/innsigli/account"
)

// counting counts what is asked of a store.
type counting struct {
	account.Store
	clients, others int
}

func (s *counting) Client(ctx context.Context, id string) (account.Client, error) {
	s.clients++
	return s.Store.Client(ctx, id)
}

func (s *counting) AddToken(ctx context.Context, t account.TokenRecord) error {
	s.others++
	return s.Store.AddToken(ctx, t)
}

func (s *counting) UpdateClient(ctx context.Context, c account.Client) error {
	s.others++
	return s.Store.UpdateClient(ctx, c)
}

func (s *counting) Token(ctx context.Context, hash []byte) (account.TokenRecord, error) {
	s.others++
	return s.Store.Token(ctx, hash)
}

// Whoever has no secret has one look-up made for him, whether there is such a client or not; and
// nothing is remembered of it, so that a thousand of them lock nobody out.
func TestStrangersAreAllAlike(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		two, _ := f.client()
		f.addSecret(two)
		for name, id := range map[string]string{"a client": c.ID, "one with two secrets": two.ID, "nobody": "nobody"} {
			store := &counting{Store: f.db.Accounts()}
			s := account.New(store, f.db, account.Options{})
			_, issued := s.Issue(f.Context(), id, "wrong", nil)
			revoked := s.Revoke(f.Context(), id, "wrong", "token")
			if !errors.Is(issued, account.ErrInvalidClient) || !errors.Is(revoked, account.ErrInvalidClient) {
				f.Errorf("%s: %v, %v", name, issued, revoked)
			}
			if issued.Error() != account.ErrInvalidClient.Error() || store.clients != 2 || store.others != 0 {
				f.Errorf("%s: %v after %d and %d calls", name, issued, store.clients, store.others)
			}
		}
		for range 1000 {
			_, _ = f.Issue(f.Context(), c.ID, "wrong", nil)
		}
		f.lets(f.issue(c, secret).Value)
	})
}
