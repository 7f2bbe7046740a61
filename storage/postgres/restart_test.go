package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
)

// Connections that broke while nobody used them are not noticed by anybody.
func TestBrokenConnectionsAreReplaced(t *testing.T) {
	const connections = 6
	db, url := opened(t, Options{Connections: connections})
	withAccounts(t, db, "a")
	for name, call := range map[string]func() error{
		"reading": func() error { _, err := db.Accounts().Account(t.Context(), "a"); return err },
		"writing": func() error {
			return db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			fill(t, db, connections)
			execute(t, url, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
			for range connections {
				if err := call(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// fill makes the pool have so many connections.
func fill(t *testing.T, db *DB, connections int) {
	t.Helper()
	var all sync.WaitGroup
	all.Add(connections)
	var group errgroup.Group
	for range connections {
		group.Go(func() error {
			return db.read(t.Context(), func(querier) error { all.Done(); all.Wait(); return nil })
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// Nobody knows whether the transaction was committed, and nobody is told that it was.
func TestAConnectionThatBreaksBeforeTheCommit(t *testing.T) {
	db, url := opened(t, Options{})
	withAccounts(t, db, "a")
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		err := raise(ctx, db, "a")
		execute(t, url, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()")
		return err
	})
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("InTx: %v", err)
	}
	if n := quota(t, db, "a"); n != 0 {
		t.Errorf("the quota is %d", n)
	}
}

// While the server is stopped, calls fail at once, whatever their limits are; once it is started again, every call
// succeeds. All that a successful call stored is there.
func TestTheServerIsRestarted(t *testing.T) {
	server := postgrestest.Cluster(t)
	url := server.URL("postgres")
	if _, _, err := Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	db := openedAt(t, url, Options{ConnectTimeout: time.Hour, StatementTimeout: time.Hour, LockTimeout: time.Hour})
	withAccounts(t, db, "a")
	users := use(t, db)
	users.each(t, "stored", &users.stored)

	server.Stop(t)
	users.each(t, "refused", &users.refused)
	server.Start(t)
	for range 20 {
		if err := db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") }); err != nil {
			t.Error(err)
		} else {
			users.stored[0].Add(1)
		}
	}
	users.each(t, "stored", &users.stored)
	users.end()
	stored, refused := users.stored.sum(), users.refused.sum()
	if n := quota(t, db, "a"); n < stored || n > stored+refused {
		t.Errorf("stored %d, perhaps %d more, and the quota is %d", stored, refused, n)
	}
}

// users raise the quota of the account a as often as they can.
type users struct {
	stored, refused counts
	end             func()
}

// counts are those of each user.
type counts [8]atomic.Int64

func (c *counts) sum() (sum int64) {
	for i := range c {
		sum += c[i].Load()
	}
	return sum
}

func use(t *testing.T, db *DB) *users {
	ctx, cancel := context.WithCancel(t.Context())
	u := new(users)
	var group sync.WaitGroup
	for i := range u.stored {
		group.Go(func() {
			for ctx.Err() == nil {
				u.once(t, db, i)
			}
		})
	}
	u.end = sync.OnceFunc(func() { cancel(); group.Wait() })
	t.Cleanup(u.end)
	return u
}

func (u *users) once(t *testing.T, db *DB, i int) {
	err := db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") })
	switch {
	case err == nil:
		u.stored[i].Add(1)
	case errors.Is(err, storage.ErrUnavailable):
		u.refused[i].Add(1)
		time.Sleep(5 * time.Millisecond) // time: as one who is told to come back does, only sooner
	default:
		t.Errorf("InTx: %v", err)
	}
}

// each waits until every user has had two more of these answers: the second is to a call that began after each was
// called.
func (u *users) each(t *testing.T, what string, n *counts) {
	t.Helper()
	for i := range n {
		from := n[i].Load()
		testenv.Wait(t, "a user to be "+what, func() bool { return n[i].Load() >= from+2 })
	}
}
