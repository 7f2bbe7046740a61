package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/internal/postgrestest"
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

// A server that is gone is answered for at once, and when it is back all is well within
// seconds. What was said to be stored is.
func TestTheServerIsRestarted(t *testing.T) {
	server := postgrestest.Cluster(t)
	url := server.URL("postgres")
	if _, _, err := Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	db := openedAt(t, url, Options{})
	withAccounts(t, db, "a")
	users := use(t, db, 8)
	users.untilSome(t, &users.stored)

	server.Stop(t)
	users.failed.Store(0)
	users.untilSome(t, &users.failed)
	before := users.stored.Load()
	server.Start(t)
	back := time.Now()
	for users.stored.Load() == before {
		if time.Since(back) > 5*time.Second {
			t.Fatal("not well again within 5 s")
		}
		time.Sleep(time.Millisecond)
	}
	recovered := users.stored.Load()
	for range 20 { // and from now on every call goes well
		if err := db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") }); err != nil {
			t.Error(err)
		}
		users.stored.Add(1)
	}
	users.end()
	if recovered == before || users.slowest() > 2500*time.Millisecond {
		t.Errorf("the slowest refusal took %v", users.slowest())
	}
	stored, unknown := users.stored.Load(), users.unknown.Load()
	if n := quota(t, db, "a"); n < stored || n > stored+unknown {
		t.Errorf("stored %d, perhaps %d more, and the quota is %d", stored, unknown, n)
	}
	t.Logf("%d transactions stored, %d refused, the slowest refusal after %v", stored, unknown, users.slowest())
}

// users raise the quota of the account a as often as they can.
type users struct {
	stored, failed, unknown, longest atomic.Int64
	end                              func()
}

func use(t *testing.T, db *DB, n int) *users {
	ctx, cancel := context.WithCancel(t.Context())
	u := new(users)
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			for ctx.Err() == nil {
				u.once(t, db)
			}
		})
	}
	u.end = sync.OnceFunc(func() { cancel(); group.Wait() })
	t.Cleanup(u.end)
	return u
}

func (u *users) once(t *testing.T, db *DB) {
	begin := time.Now()
	err := db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") })
	switch {
	case err == nil:
		u.stored.Add(1)
	case errors.Is(err, storage.ErrUnavailable):
		u.failed.Add(1)
		u.unknown.Add(1)
		u.took(time.Since(begin))
		time.Sleep(5 * time.Millisecond) // as one who is told to come back does, only sooner
	default:
		t.Errorf("InTx: %v", err)
	}
}

func (u *users) took(d time.Duration) {
	for longest := u.longest.Load(); int64(d) > longest; longest = u.longest.Load() {
		if u.longest.CompareAndSwap(longest, int64(d)) {
			return
		}
	}
}

func (u *users) slowest() time.Duration { return time.Duration(u.longest.Load()) }

// untilSome waits until there are some more.
func (u *users) untilSome(t *testing.T, n *atomic.Int64) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for from := n.Load(); n.Load() < from+20; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing comes")
		}
	}
}
