package account_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage/bolt"
)

// fixture is a service over an empty store.
type fixture struct {
	*testing.T
	*account.Service
	db   *bolt.DB
	path string
}

// bubble runs a test in which time is made of nothing.
func bubble(t *testing.T, test func(f fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		db, err := bolt.Open(path, bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		test(fixture{t, account.New(db.Accounts(), db, account.Options{}), db, path})
	})
}

func (f fixture) account(name string) account.Account {
	f.Helper()
	a, err := f.CreateAccount(f.Context(), name)
	if err != nil {
		f.Fatal(err)
	}
	return a
}

func (f fixture) client(scopes ...string) (account.Client, string) {
	f.Helper()
	c, secret, err := f.CreateClient(f.Context(), f.account("owner").ID, "client", scopes)
	if err != nil {
		f.Fatal(err)
	}
	return c, secret
}

func (f fixture) issue(c account.Client, secret string) account.Token {
	f.Helper()
	token, err := f.Issue(f.Context(), c.ID, secret, nil)
	if err != nil {
		f.Fatal(err)
	}
	return token
}

func (f fixture) refuses(token string) {
	f.Helper()
	if caller, err := f.Authenticate(f.Context(), token); !errors.Is(err, account.ErrInvalidToken) {
		f.Errorf("Authenticate(%q): %v, %v", token, caller, err)
	}
}

func TestAnAccount(t *testing.T) {
	bubble(t, func(f fixture) {
		a := f.account("Íslenskt fyrirtæki ehf.")
		if _, err := uuid.Parse(a.ID); err != nil {
			f.Error(err)
		}
		want := account.Account{ID: a.ID, Name: "Íslenskt fyrirtæki ehf.", Quota: account.DefaultQuota, CreatedAt: time.Now()}
		if diff := cmp.Diff(want, a); diff != "" {
			f.Errorf("created (-want +got):\n%s", diff)
		}
		want.PaymentMethod, want.Quota, want.Admins = true, 5, []string{"admin@example.is"}
		if err := errors.Join(f.SetPaymentMethod(f.Context(), a.ID, true), f.SetQuota(f.Context(), a.ID, 5), f.SetAdmins(f.Context(), a.ID, []string{"admin@example.is"})); err != nil {
			f.Fatal(err)
		}
		second := f.account("second")
		got, err := f.Accounts(f.Context())
		if diff := cmp.Diff([]account.Account{want, second}, got); diff != "" || err != nil {
			f.Errorf("%v, stored (-want +got):\n%s", err, diff)
		}
		if got, err := f.Account(f.Context(), a.ID); err != nil || got.Quota != 5 {
			f.Errorf("Account: %v, %v", got, err)
		}
	})
}

func TestQuotaOfNewAccounts(t *testing.T) {
	bubble(t, func(f fixture) {
		s := account.New(f.db.Accounts(), f.db, account.Options{Quota: 7})
		if a, err := s.CreateAccount(f.Context(), "a"); err != nil || a.Quota != 7 {
			f.Errorf("CreateAccount: %v, %v", a, err)
		}
	})
}

func TestAnUnknownAccountOrClient(t *testing.T) {
	bubble(t, func(f fixture) {
		_, _, created := f.CreateClient(f.Context(), uuid.NewString(), "client", nil)
		_, ensured := f.EnsureClient(f.Context(), account.Client{ID: "id", AccountID: uuid.NewString(), Name: "client"}, "secret")
		_, read := f.Account(f.Context(), uuid.NewString())
		_, terms := f.Terms(f.Context(), uuid.NewString())
		_, statement := f.Statement(f.Context(), uuid.NewString(), time.Now())
		for name, err := range map[string]error{
			"CreateClient":     created,
			"EnsureClient":     ensured,
			"Account":          read,
			"SetPaymentMethod": f.SetPaymentMethod(f.Context(), uuid.NewString(), true),
			"SetQuota":         f.SetQuota(f.Context(), uuid.NewString(), 1),
			"SetAdmins":        f.SetAdmins(f.Context(), uuid.NewString(), nil),
			"DeleteClient":     f.DeleteClient(f.Context(), "nobody"),
			"Signed":           f.Signed(f.Context(), uuid.NewString(), "request", true, time.Now()),
			"Stored":           f.Stored(f.Context(), uuid.NewString(), 1),
			"Terms":            terms,
			"Statement":        statement,
		} {
			if !errors.Is(err, account.ErrNotFound) {
				f.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestNames(t *testing.T) {
	bubble(t, func(f fixture) {
		owner := f.account("owner")
		for name, want := range map[string]error{
			"a":                               nil,
			"  a ":                            nil,
			strings.Repeat("ð", 256):          nil,
			strings.Repeat("ð", 257):          account.ErrInvalid,
			"":                                account.ErrInvalid,
			" \u00a0\t":                       account.ErrInvalid,
			"a\nb":                            account.ErrInvalid,
			"a\x00":                           account.ErrInvalid,
			"\xff":                            account.ErrInvalid,
			strings.Repeat("a", 255) + "\xc3": account.ErrInvalid,
		} {
			_, err := f.CreateAccount(f.Context(), name)
			if !errors.Is(err, want) {
				f.Errorf("account %q: %v", name, err)
			}
			if _, _, err = f.CreateClient(f.Context(), owner.ID, name, nil); !errors.Is(err, want) {
				f.Errorf("client %q: %v", name, err)
			}
		}
		if err := f.SetQuota(f.Context(), owner.ID, -1); !errors.Is(err, account.ErrInvalid) {
			f.Errorf("SetQuota: %v", err)
		}
	})
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
	})
}

func TestAScopeThatDoesNotExist(t *testing.T) {
	bubble(t, func(f fixture) {
		_, _, err := f.CreateClient(f.Context(), f.account("a").ID, "client", []string{account.ScopePortalRead, "admin"})
		if !errors.Is(err, account.ErrInvalidScope) {
			f.Errorf("CreateClient: %v", err)
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
		made = f.asStored(made) // which says that it was used
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

// What the database answers reaches the caller, and nobody is let in or turned
// away for it.
func TestAStoreThatFails(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		token := f.issue(c, secret).Value
		f.db.Close()
		_, issued := f.Issue(f.Context(), c.ID, secret, nil)
		_, authenticated := f.Authenticate(f.Context(), token)
		_, read := f.Account(f.Context(), c.AccountID)
		_, swept := f.Sweep(f.Context())
		_, terms := f.Terms(f.Context(), c.AccountID)
		_, statement := f.Statement(f.Context(), c.AccountID, time.Now())
		signed := f.Signed(f.Context(), c.AccountID, "request", true, time.Now())
		for name, err := range map[string]error{
			"Issue": issued, "Authenticate": authenticated, "Account": read, "Sweep": swept,
			"Terms": terms, "Statement": statement, "Signed": signed,
		} {
			if !errors.Is(err, bolt.ErrClosed) {
				f.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestCreatingJoinsTheTransaction(t *testing.T) {
	bubble(t, func(f fixture) {
		refused := errors.New("refused")
		err := f.db.InTx(f.Context(), func(ctx context.Context) error {
			owner, err := f.CreateAccount(ctx, "owner")
			if err != nil {
				return err
			}
			if _, _, err := f.CreateClient(ctx, owner.ID, "client", nil); err != nil {
				return err
			}
			return refused
		})
		if err != refused {
			f.Errorf("InTx: %v", err)
		}
		if list, err := f.Accounts(f.Context()); err != nil || len(list) != 0 {
			f.Errorf("Accounts: %v, %v", list, err)
		}
	})
}
