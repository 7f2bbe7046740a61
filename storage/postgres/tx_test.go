package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage"
)

// withAccounts are accounts of these IDs, whose quota is 0.
func withAccounts(t *testing.T, db *DB, ids ...string) {
	t.Helper()
	for _, id := range ids {
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			return db.Accounts().AddAccount(ctx, account.Account{ID: id})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// raise raises the quota of an account by one. It joins the transaction.
func raise(ctx context.Context, db *DB, id string) error {
	a, err := db.Accounts().Account(ctx, id)
	if err != nil {
		return err
	}
	a.Quota++
	return db.Accounts().UpdateAccount(ctx, a)
}

func quota(t *testing.T, db *DB, id string) int64 {
	t.Helper()
	a, err := db.Accounts().Account(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return a.Quota
}

// What the server refused undoes the transaction, also when nobody minds the error.
func TestAFailedStatementIsNotSwallowed(t *testing.T) {
	db, _ := opened(t, Options{})
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		first := db.Accounts().AddAccount(ctx, account.Account{ID: "a"})
		bad := db.Accounts().AddAccount(ctx, account.Account{ID: "b", Name: "\x00"})
		after := db.Accounts().AddAccount(ctx, account.Account{ID: "c"})
		if first != nil || bad == nil || !errors.Is(after, bad) {
			t.Errorf("the first: %v, the bad one: %v, the one after: %v", first, bad, after)
		}
		return nil
	})
	if err == nil {
		t.Error("InTx has no error")
	}
	if list, err := db.Accounts().Accounts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("Accounts: %v, %v", list, err)
	}
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	db, _ := opened(t, Options{Connections: 2})
	withAccounts(t, db, "a")
	locked(t, db, "a", func() {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := db.InTx(ctx, func(ctx context.Context) error { return raise(ctx, db, "a") })
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("InTx: %v", err)
		}
	})
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") }); err != nil {
		t.Errorf("the transaction after: %v", err)
	}
	if n := db.pool.Stat().NewConnsCount(); n != 2 {
		t.Errorf("there were %d connections: the one that waited was thrown away", n)
	}
}

// locked calls fn while a transaction has the account.
func locked(t *testing.T, db *DB, id string, fn func()) {
	t.Helper()
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		err := raise(ctx, db, id)
		fn()
		return err
	})
	if err != nil {
		t.Errorf("the transaction that had the lock: %v", err)
	}
}

// What takes longer than it may is broken off, and another time it may go well.
func TestLimits(t *testing.T) {
	db, url := opened(t, Options{StatementTimeout: 2 * time.Second, IdleTimeout: time.Second})
	hasty := openedAt(t, url, Options{LockTimeout: 50 * time.Millisecond})
	withAccounts(t, db, "a", "b")
	for name, fn := range map[string]func(ctx context.Context) error{
		"a statement": func(ctx context.Context) error {
			return db.read(ctx, func(q querier) error {
				_, err := q.Exec(ctx, "SELECT pg_sleep(10)")
				return err
			})
		},
		"a transaction of which nothing is heard": func(ctx context.Context) error {
			return db.InTx(ctx, func(ctx context.Context) error {
				if err := raise(ctx, db, "a"); err != nil {
					return err
				}
				time.Sleep(3 * time.Second)
				return raise(ctx, db, "b")
			})
		},
		"waiting for a lock": func(ctx context.Context) (err error) {
			locked(t, hasty, "a", func() {
				err = hasty.InTx(ctx, func(ctx context.Context) error { return raise(ctx, hasty, "a") })
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := fn(t.Context()); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	if a, b := quota(t, db, "a"), quota(t, db, "b"); a != 1 || b != 0 {
		t.Errorf("the quotas are %d and %d", a, b)
	}
}

// The function went well: that its caller has gone meanwhile does not undo it.
func TestACommitIsNotInterrupted(t *testing.T) {
	db, _ := opened(t, Options{})
	withAccounts(t, db, "a")
	ctx, cancel := context.WithCancel(t.Context())
	err := db.InTx(ctx, func(ctx context.Context) error {
		defer cancel()
		return raise(ctx, db, "a")
	})
	if n := quota(t, db, "a"); err != nil || n != 1 {
		t.Errorf("the quota is %d, and InTx: %v", n, err)
	}
}

func TestAfterCommit(t *testing.T) {
	db, _ := opened(t, Options{})
	refusal := errors.New("refused")
	for want, result := range map[int]error{0: refusal, 1: nil} {
		called := 0
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			db.txn(ctx).afterCommit(func() { called++ })
			return result
		})
		if err != result || called != want {
			t.Errorf("called %d times after InTx: %v", called, err)
		}
	}
}

// The transactions of several goroutines at once, in one context, get in nobody's way.
func TestATransactionIsForSeveralGoroutines(t *testing.T) {
	db, _ := opened(t, Options{})
	ids := []string{"a", "b", "c", "d", "e", "f"}
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		var group errgroup.Group
		for _, id := range ids {
			group.Go(func() error {
				if err := db.Accounts().AddAccount(ctx, account.Account{ID: id}); err != nil {
					return err
				}
				return raise(ctx, db, id)
			})
		}
		return group.Wait()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if n := quota(t, db, id); n != 1 {
			t.Errorf("the quota of %s is %d", id, n)
		}
	}
}
