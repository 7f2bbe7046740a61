package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
)

// addAccounts adds accounts with the IDs and a quota of 0.
func addAccounts(t *testing.T, db *DB, ids ...string) {
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

// raise increments the quota of an account. It joins the transaction.
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

// TestFailedStatement checks that a failed statement rolls back the transaction even if its function ignores the error.
func TestFailedStatement(t *testing.T) {
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

// TestFailedQueuedStatement checks that the error of a statement that was sent together with a later one names the one that
// failed, without its values.
func TestFailedQueuedStatement(t *testing.T) {
	db, _ := opened(t, Options{})
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		if err := db.EvidenceLog().Record(ctx, storage.Entry{Subject: "secret", Kind: "k\x00", Facts: []byte("{}")}); err != nil {
			t.Errorf("Record sent the statement at once: %v", err)
		}
		_, err := db.Accounts().Account(ctx, "a")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "INSERT INTO evidence") || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error of the read: %v", err)
	}
}

// TestLockWaitIsCancelled checks that a transaction stops waiting for a lock when its context ends, and that its connection
// stays usable.
func TestLockWaitIsCancelled(t *testing.T) {
	db, url := opened(t, Options{Connections: 2, LockTimeout: time.Hour, StatementTimeout: time.Hour})
	addAccounts(t, db, "a")
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
	fillPool(t, db, 2)
	if n := db.pool.Stat().NewConnsCount(); n != 2 {
		t.Errorf("there were %d connections, want 2: the one that waited was closed", n)
	}
}

// waitForSessions waits until n sessions of the database match a condition on pg_stat_activity.
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

// locked calls fn while a transaction has locked the account.
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

// TestLimits checks that exceeding each timeout is a temporary error.
func TestLimits(t *testing.T) {
	db, url := opened(t, Options{})
	addAccounts(t, db, "a", "b", "c")
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
		"an idle transaction": func(ctx context.Context) error {
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

// unchecked returns a store without the checks of Open, which on a busy machine take longer than the timeouts
// of some tests.
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

// TestCommitAfterCancel checks that a transaction whose function succeeded is committed even if its context has ended.
func TestCommitAfterCancel(t *testing.T) {
	db, _ := opened(t, Options{})
	addAccounts(t, db, "a")
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

// TestConcurrentUse checks that several goroutines can use one transaction.
func TestConcurrentUse(t *testing.T) {
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

// TestDeadlock checks that two transactions that wait for each other both succeed: the server ends one of them, and InTx runs
// its function again.
func TestDeadlock(t *testing.T) {
	db, _ := opened(t, Options{})
	addAccounts(t, db, "a", "b")
	var both, group = new(sync.WaitGroup), new(errgroup.Group)
	both.Add(2)
	runs := make(chan bool, 2*maxAttempts)
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		var once sync.Once
		group.Go(func() error {
			return db.InTx(t.Context(), func(ctx context.Context) error {
				runs <- true
				if err := raise(ctx, db, order[0]); err != nil {
					return err
				}
				once.Do(func() { both.Done(); both.Wait() }) // each has locked its first account
				return raise(ctx, db, order[1])
			})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(runs) < 3 {
		t.Errorf("%d runs: there was no deadlock", len(runs))
	}
	if a, b := quota(t, db, "a"), quota(t, db, "b"); a != 2 || b != 2 {
		t.Errorf("the quotas are %d and %d", a, b)
	}
}

// TestMaxAttempts checks that InTx stops to repeat a transaction that always conflicts.
func TestMaxAttempts(t *testing.T) {
	db, _ := opened(t, Options{})
	runs := 0
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		runs++
		return db.write(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "DO $$ BEGIN RAISE serialization_failure; END $$")
			return err
		})
	})
	if !errors.Is(err, storage.ErrUnavailable) || runs != maxAttempts {
		t.Errorf("after %d runs: %v", runs, err)
	}
}

// TestDeadlockAfterSavepoint checks that a deadlock after a savepoint, which the server rolls back only to the savepoint, makes
// InTx run the whole transaction again.
func TestDeadlockAfterSavepoint(t *testing.T) {
	db, _ := opened(t, Options{})
	users := []sandbox.User{
		{ID: "1", Account: "a", Kennitala: "1", Phone: "p1"},
		{ID: "2", Account: "a", Kennitala: "2", Phone: "p2"},
	}
	for _, u := range users {
		do(t, db, func(ctx context.Context) error { return db.Sandbox().CreateUser(ctx, u) })
	}
	var both sync.WaitGroup
	both.Add(2)
	var runs [2]int
	var group errgroup.Group
	for i, phone := range []string{"q2", "q1"} {
		group.Go(func() error {
			return db.InTx(t.Context(), func(ctx context.Context) error {
				runs[i]++
				for _, change := range []string{"q" + users[i].ID, phone} { // the second is the phone that the other has
					u, err := db.Sandbox().User(ctx, "a", users[i].ID)
					if err != nil {
						return err
					}
					u.Phone = change
					if err := db.Sandbox().UpdateUser(ctx, u); err != nil {
						return err
					}
					if runs[i] == 1 && change != phone {
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
		})
	}
	err := group.Wait()
	if runs[0]+runs[1] < 3 { // more if the repeated one conflicts again
		t.Errorf("the transactions ran %v times: there was no deadlock, or none was repeated (%v)", runs, err)
	}
}

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
