package account_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// remove removes a secret and fails the test unless the error is want.
func (f fixture) remove(c account.Client, secret string, want error) {
	f.Helper()
	if err := f.RemoveSecret(f.Context(), c.ID, secret); !errors.Is(err, want) {
		f.Errorf("RemoveSecret: %v, want %v", err, want)
	}
}

// A secret replaces another, and both are valid until the other is removed.
func TestRotation(t *testing.T) {
	bubble(t, func(f fixture) {
		c, first := f.client(account.Scopes()...)
		old := f.issue(c, first).Value
		id, second := f.addSecret(c)
		if second == first || id == account.FirstSecret {
			f.Errorf("the second secret is %q", id)
		}
		current := f.issue(c, second).Value
		f.accepts(f.issue(c, first).Value)
		f.accepts(old)
		if _, _, err := f.AddSecret(f.Context(), c.ID); !errors.Is(err, account.ErrTwoSecrets) {
			f.Errorf("a third secret: %v", err)
		}

		f.remove(c, account.FirstSecret, nil)
		f.refuses(old)
		f.accepts(current)
		if _, err := f.Issue(f.Context(), c.ID, first, nil); !errors.Is(err, account.ErrInvalidClient) {
			f.Errorf("the removed secret: %v", err)
		}
		f.remove(c, account.FirstSecret, account.ErrNotFound)
		f.remove(c, id, account.ErrLastSecret)
		f.accepts(f.issue(c, second).Value)

		third, _ := f.addSecret(c)
		if third == id || third == account.FirstSecret {
			f.Errorf("the ID %q was used again", third)
		}
		f.refuses(old)
	})
}

// UsedAt of the secret and its client is updated once in ten minutes.
func TestLastUse(t *testing.T) {
	bubble(t, func(f fixture) {
		c, first := f.client()
		id, second := f.addSecret(c)
		made := time.Now()
		uses := func(client, ofFirst, ofSecond time.Time) {
			f.Helper()
			want := f.storedClient(c)
			want.UsedAt = client
			want.Secrets = []account.Secret{
				{ID: account.FirstSecret, Hash: want.Secrets[0].Hash, CreatedAt: made, UsedAt: ofFirst},
				{ID: id, Hash: want.Secrets[1].Hash, CreatedAt: made, UsedAt: ofSecond},
			}
			if diff := cmp.Diff(want, f.storedClient(c)); diff != "" {
				f.Errorf("stored (-want +got):\n%s", diff)
			}
		}
		var never time.Time
		uses(never, never, never)
		if _, err := f.Issue(f.Context(), c.ID, "wrong", nil); err == nil {
			f.Error("a wrong secret is accepted")
		}
		uses(never, never, never)
		token := f.issue(c, first).Value
		uses(made, made, never)
		time.Sleep(10*time.Minute - time.Microsecond)
		f.accepts(token)
		f.issue(c, first)
		uses(made, made, never)
		time.Sleep(time.Microsecond)
		f.issue(c, first)
		later := time.Now()
		uses(later, later, never)
		time.Sleep(time.Minute)
		f.issue(c, second)
		uses(time.Now(), later, time.Now())
	})
}

// changing is a store in which another server changes a client after this one has read it.
type changing struct {
	account.Store
	change func()
}

func (s *changing) Client(ctx context.Context, id string) (account.Client, error) {
	c, err := s.Store.Client(ctx, id)
	if s.change != nil {
		change := s.change
		s.change = nil
		change()
	}
	return c, err
}

// A token that is issued for a secret while it is removed is not accepted.
func TestSecretIsRemovedWhileATokenIsIssued(t *testing.T) {
	for name, used := range map[string]bool{"at its first use": false, "after a recent use": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(f fixture) {
				c, first := f.client()
				f.addSecret(c)
				if used {
					f.issue(c, first)
				}
				store := &changing{f.db.Accounts(), func() { f.remove(c, account.FirstSecret, nil) }}
				s := account.New(store, f.db, account.Options{})
				if token, err := s.Issue(f.Context(), c.ID, first, nil); err == nil {
					f.refuses(token.Value)
				}
				if secrets := f.storedClient(c).Secrets; len(secrets) != 1 || secrets[0].ID == account.FirstSecret {
					f.Errorf("the client has %v", secrets)
				}

				store.change = func() {
					if err := f.DeleteClient(f.Context(), c.ID); err != nil {
						f.Error(err)
					}
				}
				if _, err := s.Issue(f.Context(), c.ID, first, nil); !errors.Is(err, account.ErrInvalidClient) {
					f.Errorf("a deleted client: %v", err)
				}
			})
		})
	}
}

// racing is a store in which another server adds a record after this one has not found it.
type racing struct {
	account.Store
	missed map[string]bool // records that were read once
}

func (s racing) miss(key string) bool {
	defer func() { s.missed[key] = true }()
	return !s.missed[key]
}

func (s racing) Account(ctx context.Context, id string) (account.Account, error) {
	if id == someID && s.miss("account") {
		return account.Account{}, storage.ErrNotFound
	}
	return s.Store.Account(ctx, id)
}

func (s racing) Client(ctx context.Context, id string) (account.Client, error) {
	if s.miss("client") {
		return account.Client{}, storage.ErrNotFound
	}
	return s.Store.Client(ctx, id)
}

func TestEnsureAfterAnotherServer(t *testing.T) {
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	type records struct {
		Account account.Account
		Client  account.Client
	}
	start := func(store account.Store) (m records) {
		t.Helper()
		s := account.New(store, db, account.Options{})
		if m.Account, err = s.EnsureAccount(t.Context(), someID, "sandbox", true); err != nil {
			t.Fatal(err)
		}
		if m.Client, err = s.EnsureClient(t.Context(), account.Client{ID: "client", AccountID: someID, Name: "client"}, "secret"); err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := start(db.Accounts())
	if diff := cmp.Diff(first, start(racing{db.Accounts(), make(map[string]bool)})); diff != "" {
		t.Error("the second server created other records (-want +got):", diff)
	}
	if all, err := db.Accounts().Accounts(t.Context()); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

func TestClientsOfAnAccount(t *testing.T) {
	bubble(t, func(f fixture) {
		owner, other := f.account("owner"), f.account("other")
		var names []string
		for _, name := range []string{"b", "a", "c"} {
			if _, _, err := f.CreateClient(f.Context(), owner.ID, name, nil); err != nil {
				f.Fatal(err)
			}
			if _, _, err := f.CreateClient(f.Context(), other.ID, "x", nil); err != nil {
				f.Fatal(err)
			}
		}
		list, err := f.Clients(f.Context(), owner.ID)
		for _, c := range list {
			names = append(names, c.Name)
		}
		if diff := cmp.Diff([]string{"b", "a", "c"}, names); diff != "" || err != nil {
			f.Errorf("%v, clients (-want +got):\n%s", err, diff)
		}
		if _, _, err := f.CreateClient(f.Context(), owner.ID, "client", []string{account.ScopePortalRead, "admin"}); !errors.Is(err, account.ErrInvalidScope) {
			f.Errorf("an unknown scope: %v", err)
		}
	})
}

func TestEnsureClient(t *testing.T) {
	bubble(t, func(f fixture) {
		owner, other := f.account("owner"), f.account("other")
		c := account.Client{ID: "my:client", AccountID: owner.ID, Name: "mine", Scopes: account.Scopes()}
		made, err := f.EnsureClient(f.Context(), c, "my secret")
		if err != nil {
			f.Fatal(err)
		}
		f.issue(made, "my secret")
		made = f.storedClient(made) // with UsedAt
		time.Sleep(time.Minute)
		again, err := f.EnsureClient(f.Context(), c, "my secret")
		if diff := cmp.Diff(made, again); diff != "" || err != nil {
			f.Errorf("%v, again (-first +second):\n%s", err, diff)
		}
		if _, err := f.EnsureClient(f.Context(), c, "another secret"); !errors.Is(err, account.ErrExists) {
			f.Errorf("another secret: %v", err)
		}
		c.AccountID = other.ID
		if _, err := f.EnsureClient(f.Context(), c, "my secret"); !errors.Is(err, account.ErrExists) {
			f.Errorf("another account: %v", err)
		}
	})
}

// RFC 6749 A.1, A.2
func TestCredentialsOfTheOperator(t *testing.T) {
	bubble(t, func(f fixture) {
		owner := f.account("owner")
		for value, want := range map[string]error{
			"!~ :%":                  nil,
			strings.Repeat("a", 256): nil,
			strings.Repeat("a", 257): account.ErrInvalid,
			"":                       account.ErrInvalid,
			"á":                      account.ErrInvalid,
			"a\n":                    account.ErrInvalid,
			"\x7f":                   account.ErrInvalid,
		} {
			c := account.Client{ID: "id of " + value, AccountID: owner.ID, Name: "client"}
			if len(value) < 250 && value != "" {
				if _, err := f.EnsureClient(f.Context(), c, "secret"); !errors.Is(err, want) {
					f.Errorf("id %q: %v", c.ID, err)
				}
			}
			c.ID = uuid.NewString()
			if _, err := f.EnsureClient(f.Context(), c, value); !errors.Is(err, want) {
				f.Errorf("secret %q: %v", value, err)
			}
		}
	})
}
