package account_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
)

func TestATokenSpeaksForItsClient(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client(account.ScopePortalRead, account.ScopeSignatures)
		token, err := f.Issue(f.Context(), c.ID, secret, []string{account.ScopeSignatures})
		if err != nil || token.ExpiresIn != time.Hour {
			f.Fatalf("Issue: %+v, %v", token, err)
		}
		caller, err := f.Authenticate(f.Context(), token.Value)
		want := account.Caller{AccountID: c.AccountID, ClientID: c.ID, Scopes: []string{account.ScopeSignatures}}
		if diff := cmp.Diff(want, caller); diff != "" || err != nil {
			f.Errorf("%v, caller (-want +got):\n%s", err, diff)
		}
		for scope, want := range map[string]bool{account.ScopeSignatures: true, account.ScopePortalRead: false, "": false} {
			if caller.Has(scope) != want {
				f.Errorf("Has(%q) is %v", scope, !want)
			}
		}
	})
}

// The machine that made the client was ahead of the one that issues the token.
func TestATokenOfAClientFromTheFuture(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		c.ID, c.CreatedAt = uuid.NewString(), c.CreatedAt.Add(2*time.Second)
		if err := f.db.InTx(f.Context(), func(ctx context.Context) error { return f.db.Accounts().AddClient(ctx, c) }); err != nil {
			f.Fatal(err)
		}
		if _, err := f.Authenticate(f.Context(), f.issue(c, secret).Value); err != nil {
			f.Error(err)
		}
	})
}

func TestATokenWithoutScopes(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		caller, err := f.Authenticate(f.Context(), f.issue(c, secret).Value)
		if err != nil || len(caller.Scopes) != 0 || caller.ClientID != c.ID {
			f.Errorf("Authenticate: %+v, %v", caller, err)
		}
		if _, err := f.Issue(f.Context(), c.ID, secret, []string{account.ScopePortalRead}); !errors.Is(err, account.ErrInvalidScope) {
			f.Errorf("Issue: %v", err)
		}
	})
}

func TestIssueToNobody(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client(account.Scopes()...)
		other, otherSecret := f.client()
		for name, given := range map[string][2]string{
			"another client's secret": {c.ID, otherSecret},
			"another client":          {other.ID, secret},
			"no secret":               {c.ID, ""},
			"unknown":                 {uuid.NewString(), secret},
			"nothing":                 {"", ""},
			"a very long id":          {strings.Repeat("x", 1<<20), secret},
			"a very long secret":      {c.ID, strings.Repeat("x", 1<<20)},
			"the stored hash":         {c.ID, string(c.Secrets[0].Hash)},
			"not text":                {"\x00\xff", "\xff"},
		} {
			if _, err := f.Issue(f.Context(), given[0], given[1], nil); !errors.Is(err, account.ErrInvalidClient) {
				f.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestATokenEnds(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		token := f.issue(c, secret).Value
		time.Sleep(account.TokenLifetime - time.Microsecond)
		if _, err := f.Authenticate(f.Context(), token); err != nil {
			f.Error(err)
		}
		time.Sleep(time.Microsecond)
		f.refuses(token)
	})
}

func TestATokenThatIsNone(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		token := f.issue(c, secret).Value
		for _, other := range []string{"", "x", secret, token + "A", token[:42], token[:42] + "-", strings.Repeat("\x00", 43)} {
			if other != token {
				f.refuses(other)
			}
		}
	})
}

func TestTokensEndWithTheirClient(t *testing.T) {
	bubble(t, func(f fixture) {
		owner := f.account("owner")
		c := account.Client{ID: "client", AccountID: owner.ID, Name: "client", Scopes: account.Scopes()}
		ensure := func() {
			if _, err := f.EnsureClient(f.Context(), c, "secret"); err != nil {
				f.Fatal(err)
			}
		}
		ensure()
		token := f.issue(c, "secret").Value
		if err := f.DeleteClient(f.Context(), c.ID); err != nil {
			f.Fatal(err)
		}
		f.refuses(token)
		time.Sleep(time.Second)
		ensure() // the same id and secret, and yet another client
		f.refuses(token)
		if _, err := f.Authenticate(f.Context(), f.issue(c, "secret").Value); err != nil {
			f.Error(err)
		}
	})
}

func TestSweepTakesExpiredTokens(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		f.issue(c, secret)
		f.issue(c, secret)
		time.Sleep(30 * time.Minute)
		young := f.issue(c, secret).Value
		time.Sleep(30 * time.Minute)
		for _, want := range []int{2, 0} {
			if n, err := f.Sweep(f.Context()); err != nil || n != want {
				f.Errorf("Sweep: %d, %v, want %d", n, err, want)
			}
		}
		if _, err := f.Authenticate(f.Context(), young); err != nil {
			f.Error(err)
		}
	})
}

// The store has hashes alone: nothing in a copy of it is accepted as a token or a secret (spec 2.1).
func TestNoSecretIsStored(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client(account.Scopes()...)
		token := f.issue(c, secret).Value
		stored, err := os.ReadFile(f.path)
		if err != nil {
			f.Fatal(err)
		}
		if !bytes.Contains(stored, []byte(c.ID)) {
			f.Error("the client is not in the file")
		}
		if bytes.Contains(stored, []byte(secret)) || bytes.Contains(stored, []byte(token)) {
			f.Error("the secret or the token is in the file")
		}
	})
}
