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
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// fixture is a service with an empty store.
type fixture struct {
	*testing.T
	*account.Service
	db   *bolt.DB
	path string
}

// bubble runs a test with a fixture in a synctest bubble.
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

// storedClient returns the client as it is stored.
func (f fixture) storedClient(c account.Client) account.Client {
	f.Helper()
	found, err := f.db.Accounts().Client(f.Context(), c.ID)
	if err != nil {
		f.Fatal(err)
	}
	return found
}

func (f fixture) addSecret(c account.Client) (id, value string) {
	f.Helper()
	added, value, err := f.AddSecret(f.Context(), c.ID)
	if err != nil {
		f.Fatal(err)
	}
	return added.ID, value
}

func (f fixture) accepts(token string) {
	f.Helper()
	if _, err := f.Authenticate(f.Context(), token); err != nil {
		f.Errorf("Authenticate: %v", err)
	}
}

func TestAccount(t *testing.T) {
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
		other := account.New(f.db.Accounts(), f.db, account.Options{Quota: 7})
		if a, err := other.CreateAccount(f.Context(), "a"); err != nil || a.Quota != 7 {
			f.Errorf("with another default quota: %v, %v", a, err)
		}
	})
}

func TestUnknownAccountOrClient(t *testing.T) {
	bubble(t, func(f fixture) {
		_, _, created := f.CreateClient(f.Context(), uuid.NewString(), "client", nil)
		_, ensured := f.EnsureClient(f.Context(), account.Client{ID: "id", AccountID: uuid.NewString(), Name: "client"}, "secret")
		_, read := f.Account(f.Context(), uuid.NewString())
		_, _, added := f.AddSecret(f.Context(), "unknown")
		_, listed := f.Secrets(f.Context(), "unknown")
		_, terms := f.Terms(f.Context(), uuid.NewString())
		_, statement := f.Statement(f.Context(), uuid.NewString(), time.Now())
		for name, err := range map[string]error{
			"CreateClient":     created,
			"EnsureClient":     ensured,
			"Account":          read,
			"SetPaymentMethod": f.SetPaymentMethod(f.Context(), uuid.NewString(), true),
			"SetQuota":         f.SetQuota(f.Context(), uuid.NewString(), 1),
			"SetAdmins":        f.SetAdmins(f.Context(), uuid.NewString(), nil),
			"DeleteClient":     f.DeleteClient(f.Context(), "unknown"),
			"AddSecret":        added,
			"Secrets":          listed,
			"RemoveSecret":     f.RemoveSecret(f.Context(), "unknown", account.FirstSecret),
			"CloseAccount":     f.CloseAccount(f.Context(), uuid.NewString()),
			"CheckOpen":        f.CheckOpen(f.Context(), uuid.NewString()),
			"AddSignature":     f.AddSignature(f.Context(), uuid.NewString(), "request", true, time.Now()),
			"AddStoredBytes":   f.AddStoredBytes(f.Context(), uuid.NewString(), 1),
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

// Errors of the store are returned, and are not errors of the client or the token.
func TestStoreFails(t *testing.T) {
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
		signed := f.AddSignature(f.Context(), c.AccountID, "request", true, time.Now())
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
			f.Error("an existing account was changed (-want +got):", diff)
		}
		for _, a := range []struct{ id, name string }{{"", "name"}, {"no uuid", "name"}, {"6F0A4C39-9B4C-4E3C-8E0E-0123456789AB", "name"}, {someID, ""}} {
			if _, err := f.EnsureAccount(f.Context(), a.id, a.name, false); !errors.Is(err, account.ErrInvalid) {
				f.Errorf("%q, %q: %v", a.id, a.name, err)
			}
		}
	})
}

// A closed account has no valid tokens and takes nothing new. What belongs to signatures that were under way goes on.
func TestCloseAccount(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		token := f.issue(c, secret).Value
		for range 2 {
			if err := f.CloseAccount(f.Context(), c.AccountID); err != nil {
				f.Error(err)
			}
		}
		f.refuses(token)
		if list, err := f.Secrets(f.Context(), c.ID); err != nil || len(list) != 0 {
			f.Errorf("secrets: %v, %v", list, err)
		}
		if _, err := f.Issue(f.Context(), c.ID, secret, nil); !errors.Is(err, account.ErrInvalidClient) {
			f.Errorf("Issue: %v", err)
		}
		_, _, created := f.CreateClient(f.Context(), c.AccountID, "client", nil)
		_, ensured := f.EnsureClient(f.Context(), account.Client{ID: c.ID, AccountID: c.AccountID, Name: "client"}, secret)
		_, _, added := f.AddSecret(f.Context(), c.ID)
		_, terms := f.Terms(f.Context(), c.AccountID)
		for name, err := range map[string]error{
			"CreateClient": created, "EnsureClient": ensured, "AddSecret": added, "Terms": terms,
			"CheckOpen":        f.CheckOpen(f.Context(), c.AccountID),
			"SetPaymentMethod": f.SetPaymentMethod(f.Context(), c.AccountID, true),
			"SetQuota":         f.SetQuota(f.Context(), c.AccountID, 1),
			"SetAdmins":        f.SetAdmins(f.Context(), c.AccountID, nil),
		} {
			if !errors.Is(err, account.ErrClosed) {
				f.Errorf("%s: %v", name, err)
			}
		}
		if err := errors.Join(f.AddSignature(f.Context(), c.AccountID, "request", true, time.Now()), f.AddStoredBytes(f.Context(), c.AccountID, 1)); err != nil {
			f.Error(err)
		}
		a, err := f.Account(f.Context(), c.AccountID)
		if err != nil || !a.ClosedAt.Equal(time.Now()) || a.FreeUsed != 1 || a.Stored != 1 {
			f.Errorf("%+v, %v", a, err)
		}
	})
}

// closing is a transactor that closes an account before the first transaction, as another server may between the check of
// a client's secret and what is stored for the client.
type closing struct {
	storage.Transactor
	close func(context.Context) error
}

func (c *closing) InTx(ctx context.Context, fn func(context.Context) error) error {
	if first := c.close; first != nil {
		c.close = nil
		if err := first(ctx); err != nil {
			return err
		}
	}
	return c.Transactor.InTx(ctx, fn)
}

// A token or a secret that is on its way while the account is closed or deleted is not stored.
func TestCloseAccountMeanwhile(t *testing.T) {
	bubble(t, func(f fixture) {
		remove := func(id string) error {
			return f.db.InTx(f.Context(), func(ctx context.Context) error { return f.db.Accounts().DeleteAccount(ctx, id) })
		}
		for name, test := range map[string]struct {
			end    func(id string) error
			secret error
		}{
			"closed":  {func(id string) error { return f.CloseAccount(f.Context(), id) }, account.ErrClosed},
			"deleted": {remove, account.ErrNotFound},
		} {
			c, secret := f.client()
			end := func(context.Context) error { return test.end(c.AccountID) }
			_, err := account.New(f.db.Accounts(), &closing{f.db, end}, account.Options{}).Issue(f.Context(), c.ID, secret, nil)
			if !errors.Is(err, account.ErrInvalidClient) {
				f.Errorf("%s: Issue: %v", name, err)
			}
			for token, err := range f.db.AllTokens(f.Context()) {
				f.Errorf("%s: a token of client %s is stored, %v", name, token.ClientID, err)
			}
			c, _ = f.client()
			if _, _, err := account.New(f.db.Accounts(), &closing{f.db, end}, account.Options{}).AddSecret(f.Context(), c.ID); !errors.Is(err, test.secret) {
				f.Errorf("%s: AddSecret: %v", name, err)
			}
		}
	})
}

// An account that is closed by a server of an earlier version may have got a secret since. Closing it again removes that.
func TestCloseAccountAgain(t *testing.T) {
	bubble(t, func(f fixture) {
		c, _ := f.client()
		if err := f.CloseAccount(f.Context(), c.AccountID); err != nil {
			f.Fatal(err)
		}
		if err := f.db.InTx(f.Context(), func(ctx context.Context) error { return f.db.Accounts().UpdateClient(ctx, c) }); err != nil {
			f.Fatal(err)
		}
		if err := f.CloseAccount(f.Context(), c.AccountID); err != nil {
			f.Fatal(err)
		}
		if list, err := f.Secrets(f.Context(), c.ID); err != nil || len(list) != 0 {
			f.Errorf("secrets: %v, %v", list, err)
		}
	})
}
