package postgres

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
)

// TestSignaturesDoNotWait checks that a transaction which counts a signature of an account does not wait for another one that
// has counted one and is not committed yet, once the free signatures are used.
func TestSignaturesDoNotWait(t *testing.T) {
	db, _ := opened(t, Options{LockTimeout: 100 * time.Millisecond})
	s := account.New(db.Accounts(), db, account.Options{})
	a, err := s.CreateAccount(t.Context(), "busy")
	if err != nil {
		t.Fatal(err)
	}
	count := func(ctx context.Context, request string) {
		t.Helper()
		if err := s.AddSignature(ctx, a.ID, request, false, time.Now()); err != nil {
			t.Errorf("%s: %v", request, err)
		}
	}
	for _, request := range []string{"1", "2", "3"} {
		count(t.Context(), request)
	}
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		count(ctx, "4")
		count(t.Context(), "5")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if statement, err := s.Statement(t.Context(), a.ID, time.Now()); err != nil || statement.Signing != 5 || statement.Free != 3 {
		t.Errorf("%+v, %v", statement, err)
	}
}

// TestConcurrentEnsure checks that servers that start at the same time on an empty database create one account and one
// client.
func TestConcurrentEnsure(t *testing.T) {
	db, _ := opened(t, Options{})
	s := account.New(db.Accounts(), db, account.Options{})
	const owner = "7a6c1a52-8f44-4f60-8d6c-0d4f4b7c1d10"
	var servers sync.WaitGroup
	for range 8 {
		servers.Go(func() {
			if _, err := s.EnsureAccount(t.Context(), owner, "sandbox", true); err != nil {
				t.Error(err)
			}
			if _, err := s.EnsureClient(t.Context(), account.Client{ID: "client", AccountID: owner, Name: "client"}, "secret"); err != nil {
				t.Error(err)
			}
		})
	}
	servers.Wait()
	accounts, err := s.Accounts(t.Context())
	clients, other := s.Clients(t.Context(), owner)
	if len(accounts) != 1 || len(clients) != 1 || err != nil || other != nil {
		t.Errorf("%+v, %+v, %v, %v", accounts, clients, err, other)
	}
}
