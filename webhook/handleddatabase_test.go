package webhook_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/webhook"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// The memory of ExampleHandled keeps what is asked of one: an event has its effect once, on however
// many servers it arrives at once, and none by a handler that failed or panicked.
func TestMemoryInADatabase(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), postgrestest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), `
		CREATE TABLE handled (id text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
		CREATE TABLE effects (id text)`); err != nil {
		t.Fatal(err)
	}
	effects := func() (n int) {
		t.Helper()
		if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM effects").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	e := newReceiving(t, webhook.Receiver{Handled: inDatabase{pool}})
	var after func() error
	e.handler = e.Handler(func(ctx context.Context, event webhook.Event) error {
		if _, err := ctx.Value(transaction{}).(pgx.Tx).Exec(ctx, "INSERT INTO effects VALUES ($1)", event.ID); err != nil {
			return err
		}
		return after()
	})
	after = func() error { return io.ErrUnexpectedEOF }
	if got := e.send("1", eventBody); got.Code != http.StatusInternalServerError || effects() != 0 {
		t.Errorf("failed: %d, %d effects", got.Code, effects())
	}
	after = func() error { panic(http.ErrAbortHandler) }
	func() {
		defer func() { _ = recover() }()
		e.send("1", eventBody)
	}()
	if effects() != 0 {
		t.Errorf("panicked: %d effects", effects())
	}
	after = func() error { return nil }
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := e.send("1", eventBody); got.Code != http.StatusNoContent {
				t.Errorf("%d, %v", got.Code, got.Body)
			}
		})
	}
	all.Wait()
	if effects() != 1 {
		t.Errorf("%d effects", effects())
	}
}
