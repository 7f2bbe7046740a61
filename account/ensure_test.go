package account_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
)

const someID = "6f0a4c39-9b4c-4e3c-8e0e-0123456789ab"

func TestEnsureAccount(t *testing.T) {
	bubble(t, func(f fixture) {
		first, err := f.EnsureAccount(f.Context(), someID, "sandbox", true)
		if err != nil || first.ID != someID || first.Name != "sandbox" || !first.PaymentMethod || first.Quota != account.DefaultQuota {
			f.Fatal(first, err)
		}
		if err := f.SetPaymentMethod(f.Context(), someID, false); err != nil {
			f.Fatal(err)
		}
		first.PaymentMethod = false
		again, err := f.EnsureAccount(f.Context(), someID, "another name", true)
		if err != nil {
			f.Fatal(err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			f.Error("an account that was there is another one (-want +got):", diff)
		}
		for _, a := range []struct{ id, name string }{{"", "name"}, {"no uuid", "name"}, {"6F0A4C39-9B4C-4E3C-8E0E-0123456789AB", "name"}, {someID, ""}} {
			if _, err := f.EnsureAccount(f.Context(), a.id, a.name, false); !errors.Is(err, account.ErrInvalid) {
				f.Errorf("%q, %q: %v", a.id, a.name, err)
			}
		}
	})
}

// racing is a store in which another server adds a record just after this one did not find
// it, as it may where transactions do not exclude each other.
type racing struct {
	account.Store
	missed map[string]bool // records that were looked for once
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

func TestServerThatComesSecond(t *testing.T) {
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	type made struct {
		Account account.Account
		Client  account.Client
	}
	start := func(store account.Store) (m made) {
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
		t.Error("the second server made others (-want +got):", diff)
	}
	if all, err := db.Accounts().Accounts(t.Context()); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

func TestMain(m *testing.M) { postgrestest.Main(m) }

// Servers that start at once on an empty database make one account and one client.
func TestServersThatStartAtOnce(t *testing.T) {
	url := postgrestest.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := account.New(db.Accounts(), db, account.Options{})
	var servers sync.WaitGroup
	for range 8 {
		servers.Go(func() {
			if _, err := s.EnsureAccount(t.Context(), someID, "sandbox", true); err != nil {
				t.Error(err)
			}
			if _, err := s.EnsureClient(t.Context(), account.Client{ID: "client", AccountID: someID, Name: "client"}, "secret"); err != nil {
				t.Error(err)
			}
		})
	}
	servers.Wait()
	accounts, err := s.Accounts(t.Context())
	clients, other := s.Clients(t.Context(), someID)
	if len(accounts) != 1 || len(clients) != 1 || err != nil || other != nil {
		t.Error(accounts, clients, err, other)
	}
}
