package postgres

import (
	"context"
	"testing"
)

// Transactions that share an account do not wait for one another, and a change of the account waits for all of them.
func TestTransactionsShareAnAccount(t *testing.T) {
	db, url := opened(t, Options{})
	addAccounts(t, db, "a")
	changed := make(chan error, 1)
	share := func(then func()) error {
		return db.InTx(t.Context(), func(ctx context.Context) error {
			_, err := db.Accounts().ShareAccount(ctx, "a")
			then()
			return err
		})
	}
	err := share(func() {
		if err := share(func() {}); err != nil { // it would wait until lock_timeout
			t.Errorf("a second transaction: %v", err)
		}
		go func() {
			changed <- db.InTx(context.Background(), func(ctx context.Context) error {
				_, err := db.Accounts().Account(ctx, "a")
				return err
			})
		}()
		waitForSessions(t, url, "wait_event_type = 'Lock'", 1)
		select {
		case err := <-changed:
			t.Errorf("a change did not wait: %v", err)
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-changed; err != nil {
		t.Errorf("the change: %v", err)
	}
}
