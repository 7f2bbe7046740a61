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

func TestAuthenticate(t *testing.T) {
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
		for _, other := range []string{"", secret, token.Value + "A", token.Value[:42], token.Value[:42] + "-", strings.Repeat("\x00", 43)} {
			if other != token.Value {
				f.refuses(other)
			}
		}
		for scope, want := range map[string]bool{account.ScopeSignatures: true, account.ScopePortalRead: false, "": false} {
			if caller.Has(scope) != want {
				f.Errorf("Has(%q) is %v", scope, !want)
			}
		}
	})
}

// The clock of the server that created the client is ahead of the clock of the one that issues the token.
func TestClientWithALaterClock(t *testing.T) {
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

func TestIssueInvalidClient(t *testing.T) {
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
		ensure() // another client with the same id and secret
		f.refuses(token)
		if _, err := f.Authenticate(f.Context(), f.issue(c, "secret").Value); err != nil {
			f.Error(err)
		}
	})
}

func TestSweepDeletesExpiredTokens(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		f.issue(c, secret)
		f.issue(c, secret)
		time.Sleep(30 * time.Minute)
		valid := f.issue(c, secret).Value
		time.Sleep(30 * time.Minute)
		for _, want := range []int{2, 0} {
			if n, err := f.Sweep(f.Context()); err != nil || n != want {
				f.Errorf("Sweep: %d, %v, want %d", n, err, want)
			}
		}
		if _, err := f.Authenticate(f.Context(), valid); err != nil {
			f.Error(err)
		}
	})
}

// The store has hashes only (spec 2.1).
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

// RFC 7009 2.1 and 2.2.
func TestRevoke(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		colleague, theirs, err := f.CreateClient(f.Context(), c.AccountID, "colleague", nil)
		if err != nil {
			f.Fatal(err)
		}
		stranger, strangers := f.client()
		token, other := f.issue(c, secret).Value, f.issue(c, secret).Value
		for name, test := range map[string]struct {
			id, secret, token string
			want              error
		}{
			"a wrong secret":             {c.ID, theirs, token, account.ErrInvalidClient},
			"an unknown client":          {"unknown", secret, token, account.ErrInvalidClient},
			"a client of the account":    {colleague.ID, theirs, token, account.ErrOtherClient},
			"a client of another one":    {stranger.ID, strangers, token, nil},
			"an unknown token":           {c.ID, secret, "none", nil},
			"an empty token":             {c.ID, secret, "", nil},
			"the secret, as a token":     {c.ID, secret, secret, nil},
			"the token's hash, likewise": {c.ID, secret, string(f.storedClient(c).Secrets[0].Hash), nil},
		} {
			if err := f.Revoke(f.Context(), test.id, test.secret, test.token); !errors.Is(err, test.want) {
				f.Errorf("%s: %v, want %v", name, err, test.want)
			}
			f.accepts(token)
		}
		for range 2 { // revoking a revoked token is no error
			if err := f.Revoke(f.Context(), c.ID, secret, token); err != nil {
				f.Error(err)
			}
			f.refuses(token)
		}
		f.accepts(other)
		time.Sleep(account.TokenLifetime)
		if err := f.Revoke(f.Context(), c.ID, secret, other); err != nil {
			f.Error(err)
		}
	})
}

// counting is a store that counts calls.
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

// A wrong secret causes one read of the client, whether the client exists or not, and no write, which could lock the client.
func TestWrongSecrets(t *testing.T) {
	bubble(t, func(f fixture) {
		c, secret := f.client()
		two, _ := f.client()
		f.addSecret(two)
		for name, id := range map[string]string{"a client": c.ID, "one with two secrets": two.ID, "unknown": "unknown"} {
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
		f.accepts(f.issue(c, secret).Value)
	})
}
