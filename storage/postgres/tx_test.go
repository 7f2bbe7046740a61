package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	testenv "github.com/innsigli/innsigli/internal/test/env"
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
	db, url := opened(t, Options{Connections: 2, LockTimeout: time.Hour, StatementTimeout: time.Hour})
	withAccounts(t, db, "a")
	locked(t, db, "a", func() {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			ended <- db.InTx(ctx, func(ctx context.Context) error { return raise(ctx, db, "a") })
		}()
		waitForSessions(t, url, "wait_event_type = 'Lock'", 1)
		cancel()
		err, _ := testenv.Receive(t, "the transaction to end", ended)
		if !errors.Is(err, context.Canceled) || errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("InTx: %v", err)
		}
	})
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") }); err != nil {
		t.Errorf("the transaction after: %v", err)
	}
	fill(t, db, 2) // takes both at once
	if n := db.pool.Stat().NewConnsCount(); n != 2 {
		t.Errorf("there were %d connections: the one that waited was thrown away", n)
	}
}

// waitForSessions waits until so many sessions of the database are in a state, which pg_stat_activity tells.
func waitForSessions(t *testing.T, url, state string, n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	testenv.Wait(t, "sessions with "+state, func() bool {
		var got int
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "+state).Scan(&got)
		if err != nil {
			t.Fatal(err)
		}
		return got == n
	})
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
	db, url := opened(t, Options{})
	withAccounts(t, db, "a", "b", "c")
	const limit = 50 * time.Millisecond
	brief := unchecked(t, url, Options{StatementTimeout: limit})
	idle := unchecked(t, url, Options{IdleTimeout: limit, Name: "idle"})
	hasty := openedAt(t, url, Options{LockTimeout: limit})
	for name, fn := range map[string]func(ctx context.Context) error{
		"a statement": func(ctx context.Context) error {
			return brief.read(ctx, func(q querier) error {
				_, err := q.Exec(ctx, "SELECT pg_sleep(10)")
				return err
			})
		},
		"a transaction of which nothing is heard": func(ctx context.Context) error {
			return idle.InTx(ctx, func(ctx context.Context) error {
				if err := raise(ctx, idle, "b"); err != nil {
					return err
				}
				waitForSessions(t, url, "application_name = 'idle'", 0)
				return raise(ctx, idle, "c")
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
	if a, b, c := quota(t, db, "a"), quota(t, db, "b"), quota(t, db, "c"); a != 1 || b != 0 || c != 0 {
		t.Errorf("the quotas are %d, %d and %d", a, b, c)
	}
}

// unchecked is a store without the checks that Open makes, which take longer on a busy machine than the limits of some
// tests.
func unchecked(t *testing.T, url string, opts Options) *DB {
	t.Helper()
	config, err := settings(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	db, err := connect(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
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
