package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage"
)

// wire is the way to a server, which can be cut without either end noticing.
type wire struct {
	address string // of its near end
	cut     atomic.Bool
}

// lay lays a wire to the server at the address.
func lay(t *testing.T, far string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	w := &wire{address: listener.Addr().String()}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { near.Close() })
			server, err := net.Dial("tcp", far)
			if err != nil {
				return
			}
			go w.pass(near, server)
			go w.pass(server, near)
		}
	}()
	return w
}

// pass passes on what comes in, as long as the wire is whole.
func (w *wire) pass(from, to net.Conn) {
	p := make([]byte, 32<<10)
	for {
		n, err := from.Read(p)
		if w.cut.Load() {
			_, _ = io.Copy(io.Discard, from) // which looks the same to who sends
			return
		}
		if err != nil {
			to.Close()
			return
		}
		if _, err := to.Write(p[:n]); err != nil {
			return
		}
	}
}

// A server that has gone silent, as one does whose machine is lost, is given up on, and
// its connections are.
func TestSilence(t *testing.T) {
	direct, database := opened(t, Options{})
	withAccounts(t, direct, "a")
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	w := lay(t, u.Host)
	u.Host = w.address
	const limit = 500 * time.Millisecond
	config, err := settings(u.String(), Options{ConnectTimeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.Tracer = patience(limit)
	db, err := connect(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // when the connections are closed: it waits for them

	err = begun(t, db, func(ctx context.Context) error {
		w.cut.Store(true)
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
	w.cut.Store(false)
	err = begun(t, db, func(ctx context.Context) error {
		return db.write(ctx, func(tx pgx.Tx) error {
			if w.cut.Swap(true) {
				t.Error("the wire is cut already")
			}
			return putChunks(ctx, tx, 1, 0, []byte("bytes"))
		})
	})
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("the bytes of a document: %v", err)
	}
	if !w.cut.Swap(false) {
		t.Error("no bytes were written")
	}
	if n := quota(t, direct, "a"); n != 0 {
		t.Errorf("the quota is %d", n)
	}
}

// begun runs fn in a transaction. Where the store gives up on beginning one, as it may on a busy machine, begun tries again.
func begun(t *testing.T, db *DB, fn func(ctx context.Context) error) (err error) {
	t.Helper()
	testenv.Wait(t, "a transaction", func() (begun bool) {
		err = db.InTx(t.Context(), func(ctx context.Context) error { begun = true; return fn(ctx) })
		return begun || !errors.Is(err, storage.ErrUnavailable)
	})
	return err
}
