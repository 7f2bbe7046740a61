package account_test

import (
	"errors"
	"testing"

	"github.com/innsigli/innsigli/account"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage/postgres"
)

// What one server ends has ended on the others when it has answered.
func TestTokensEndOnEveryServer(t *testing.T) {
	url := postgrestest.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	server := func() *account.Service {
		db, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return account.New(db.Accounts(), db, account.Options{})
	}
	here, there := server(), server()
	if _, err := here.EnsureAccount(t.Context(), someID, "owner", false); err != nil {
		t.Fatal(err)
	}
	c, first, err := here.CreateClient(t.Context(), someID, "client", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, second, err := here.AddSecret(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		secret string
		end    func(token string) error
	}{
		"revoked":                {second, func(token string) error { return here.Revoke(t.Context(), c.ID, second, token) }},
		"its secret was removed": {first, func(string) error { return here.RemoveSecret(t.Context(), c.ID, account.FirstSecret) }},
	} {
		token, err := there.Issue(t.Context(), c.ID, test.secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := there.Authenticate(t.Context(), token.Value); err != nil {
			t.Errorf("%s, before: %v", name, err)
		}
		if err := test.end(token.Value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := there.Authenticate(t.Context(), token.Value); !errors.Is(err, account.ErrInvalidToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
