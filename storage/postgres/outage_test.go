package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
)

// TestBrokenConnectionsAreReplaced checks that calls succeed after all idle connections have broken.
func TestBrokenConnectionsAreReplaced(t *testing.T) {
	const connections = 6
	db, url := opened(t, Options{Connections: connections})
	addAccounts(t, db, "a")
	for name, call := range map[string]func() error{
		"reading": func() error { _, err := db.Accounts().Account(t.Context(), "a"); return err },
		"writing": func() error {
			return db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			fillPool(t, db, connections)
			execute(t, url, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
			for range connections {
				if err := call(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// fillPool uses all connections of the pool at once, so that it opens them.
func fillPool(t *testing.T, db *DB, connections int) {
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

// TestConnectionBreaksBeforeCommit checks that InTx does not report success if the connection breaks before the commit.
func TestConnectionBreaksBeforeCommit(t *testing.T) {
	db, url := opened(t, Options{})
	addAccounts(t, db, "a")
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

// TestServerRestart checks that calls fail at once while the server is stopped, whatever the timeouts are, that all calls
// succeed after it was started again, and that everything is stored that a successful call stored.
func TestServerRestart(t *testing.T) {
	server := postgrestest.Cluster(t)
	url := server.URL("postgres")
	if _, _, err := Migrate(t.Context(), url, Options{}); err != nil {
		t.Fatal(err)
	}
	db := openedAt(t, url, Options{ConnectTimeout: time.Hour, StatementTimeout: time.Hour, LockTimeout: time.Hour})
	addAccounts(t, db, "a")
	load := startLoad(t, db)
	load.waitForEach(t, "a stored call", &load.stored)

	server.Stop(t)
	load.waitForEach(t, "a failed call", &load.failed)
	server.Start(t)
	for range 20 {
		if err := db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") }); err != nil {
			t.Error(err)
		} else {
			load.stored[0].Add(1)
		}
	}
	load.waitForEach(t, "a stored call", &load.stored)
	load.stop()
	stored, failed := load.stored.sum(), load.failed.sum()
	if n := quota(t, db, "a"); n < stored || n > stored+failed {
		t.Errorf("stored %d, perhaps %d more, and the quota is %d", stored, failed, n)
	}
}

// load is a set of goroutines that increment the quota of the account a repeatedly.
type load struct {
	stored, failed counts
	stop           func()
}

// counts has a counter for each goroutine of a load.
type counts [8]atomic.Int64

func (c *counts) sum() (sum int64) {
	for i := range c {
		sum += c[i].Load()
	}
	return sum
}

// startLoad starts a load, which stops at the end of the test.
func startLoad(t *testing.T, db *DB) *load {
	ctx, cancel := context.WithCancel(t.Context())
	l := new(load)
	var group sync.WaitGroup
	for i := range l.stored {
		group.Go(func() {
			for ctx.Err() == nil {
				l.call(t, db, i)
			}
		})
	}
	l.stop = sync.OnceFunc(func() { cancel(); group.Wait() })
	t.Cleanup(l.stop)
	return l
}

func (l *load) call(t *testing.T, db *DB, i int) {
	err := db.InTx(t.Context(), func(ctx context.Context) error { return raise(ctx, db, "a") })
	switch {
	case err == nil:
		l.stored[i].Add(1)
	case errors.Is(err, storage.ErrUnavailable):
		l.failed[i].Add(1)
		time.Sleep(5 * time.Millisecond) // time: a client waits before it retries
	default:
		t.Errorf("InTx: %v", err)
	}
}

// waitForEach waits until every goroutine has had two more of these results: the second is that of a call that began after
// waitForEach was called.
func (l *load) waitForEach(t *testing.T, what string, n *counts) {
	t.Helper()
	for i := range n {
		from := n[i].Load()
		testenv.Wait(t, what, func() bool { return n[i].Load() >= from+2 })
	}
}

// proxy is a TCP proxy that can drop all data without closing the connections.
type proxy struct {
	address string
	drop    atomic.Bool
}

// startProxy starts a proxy for the server at the address.
func startProxy(t *testing.T, server string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := &proxy{address: listener.Addr().String()}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { from.Close() })
			to, err := net.Dial("tcp", server)
			if err != nil {
				return
			}
			go p.forward(from, to)
			go p.forward(to, from)
		}
	}()
	return p
}

// forward copies data until the proxy drops it.
func (p *proxy) forward(from, to net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if p.drop.Load() {
			_, _ = io.Copy(io.Discard, from) // the sender does not notice
			return
		}
		if err != nil {
			to.Close()
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// TestSilentServer checks that calls fail with a temporary error if the server stops answering without closing its connections, as
// after the loss of its machine.
func TestSilentServer(t *testing.T) {
	direct, database := opened(t, Options{})
	addAccounts(t, direct, "a")
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	proxy := startProxy(t, u.Host)
	u.Host = proxy.address
	const limit = 500 * time.Millisecond
	config, err := settings(u.String(), Options{ConnectTimeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.Tracer = queryTimeout(limit)
	db, err := connect(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // after the connections are closed, for which it waits

	err = inTxWithRetry(t, db, func(ctx context.Context) error {
		proxy.drop.Store(true)
		err := raise(ctx, db, "a")
		if !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("a statement in a transaction: %v", err)
		}
		return err
	})
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("InTx: %v", err)
	}
	if _, err := db.Accounts().Account(t.Context(), "a"); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("the next call: %v", err)
	}
	proxy.drop.Store(false)
	err = inTxWithRetry(t, db, func(ctx context.Context) error {
		return db.write(ctx, func(tx pgx.Tx) error {
			if proxy.drop.Swap(true) {
				t.Error("the proxy drops data already")
			}
			return putChunks(ctx, tx, 1, 0, []byte("bytes"))
		})
	})
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("the bytes of a document: %v", err)
	}
	if !proxy.drop.Swap(false) {
		t.Error("fn did not run")
	}
	if n := quota(t, direct, "a"); n != 0 {
		t.Errorf("the quota is %d", n)
	}
}

// inTxWithRetry runs fn in a transaction. It tries again if the transaction cannot be begun in time, as on a busy machine.
func inTxWithRetry(t *testing.T, db *DB, fn func(ctx context.Context) error) (err error) {
	t.Helper()
	testenv.Wait(t, "a transaction", func() (begun bool) {
		err = db.InTx(t.Context(), func(ctx context.Context) error { begun = true; return fn(ctx) })
		return begun || !errors.Is(err, storage.ErrUnavailable)
	})
	return err
}
