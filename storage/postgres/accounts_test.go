package postgres

import (
	"context"
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
