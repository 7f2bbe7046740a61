package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/webhook"
)

// Events are recorded in memory for longer than the schedule of spec 5.7, with 15 seconds for each response, and
// removed later.
func TestRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEndpoint(t, webhook.Receiver{})
		e.wants("1", eventBody, http.StatusNoContent, 1)
		for i, after := range []time.Duration{
			10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour,
		} {
			time.Sleep(15*time.Second + after)
			e.wants(fmt.Sprint("other-", i), eventBody, http.StatusNoContent, 2+i)
			e.wants("1", eventBody, http.StatusNoContent, 2+i)
		}
		time.Sleep(16 * time.Hour)
		e.wants("last", eventBody, http.StatusNoContent, 9)
		e.wants("1", eventBody, http.StatusNoContent, 10)
	})
}

// fakeHandled is a Handled that records its calls.
type fakeHandled struct {
	ids   []string
	fails error
}

func (l *fakeHandled) Once(ctx context.Context, id string, handle func(context.Context) error) error {
	l.ids = append(l.ids, id)
	if l.fails != nil {
		return l.fails
	}
	return handle(ctx)
}

// A Handled of the caller decides what is handled; its errors are answered like the handler's.
func TestHandledOfTheCaller(t *testing.T) {
	t.Parallel()
	l := new(fakeHandled)
	e := newEndpoint(t, webhook.Receiver{Handled: l})
	e.wants("1", eventBody, http.StatusNoContent, 1)
	e.wants("1", eventBody, http.StatusNoContent, 2)
	l.fails = context.DeadlineExceeded
	e.wants("2", eventBody, http.StatusInternalServerError, 2)
	l.fails = fmt.Errorf("locked: %w", webhook.ErrBusy)
	e.wants("2", eventBody, http.StatusConflict, 2)
	if got := fmt.Sprint(l.ids); got != "[1 1 2 2]" {
		t.Error(got)
	}
}

// Each handler has its own memory: two handlers of a Receiver both handle an event.
func TestHandlersDoNotShareMemory(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, webhook.Receiver{})
	e.wants("1", eventBody, http.StatusNoContent, 1)
	e.handler = e.Handler(func(_ context.Context, event webhook.Event) error {
		e.handled = append(e.handled, event)
		return nil
	})
	e.wants("1", eventBody, http.StatusNoContent, 2)
}

func TestMain(m *testing.M) { postgrestest.Main(m) }

// ExampleHandled implements the contract of Handled: an event takes effect once, however many servers receive it at
// the same time, and has no effect if the handler fails or panics.
func TestHandledInADatabase(t *testing.T) {
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
	e := newEndpoint(t, webhook.Receiver{Handled: inDatabase{pool}})
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
