package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/innsigli/innsigli/storage"
)

var _ storage.Transactor = (*DB)(nil)

// txKey is the key of a transaction in a context; another DB's is another key.
type txKey struct{ db *DB }

// txn is the transaction that a context carries.
type txn struct {
	mu        sync.Mutex // a connection is for one goroutine at a time
	tx        pgx.Tx     // nil when it has ended
	aborted   error      // by a statement; all others are refused then
	failed    error      // of a nested InTx
	committed []func()   // what is to be done when it was
	waiting   pgx.Batch  // statements that are to be sent (later)
}

// querier asks the database, in a transaction or outside one.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// InTx runs fn in a transaction; see storage.Transactor and the package comment.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if t := db.txn(ctx); t != nil {
		return t.nest(ctx, fn)
	}
	for try := 1; ; try++ {
		t, err := db.run(ctx, fn)
		if err == nil || t == nil || !collided(t.aborted) || try == tries {
			return err
		}
		if pause(ctx, try) != nil {
			return err
		}
	}
}

// run runs fn once. The transaction is nil if it could not be begun.
func (db *DB) run(ctx context.Context, fn func(ctx context.Context) error) (*txn, error) {
	var t *txn
	conn, err := db.take(ctx, func(conn *pgxpool.Conn) error {
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
		t = &txn{tx: tx}
		return err
	})
	if err != nil {
		return nil, err
	}
	defer db.release(conn)
	defer t.end(ctx)
	if err := fn(context.WithValue(ctx, txKey{db}, t)); err != nil {
		return t, err
	}
	return t, t.commit(ctx)
}

func (db *DB) txn(ctx context.Context) *txn {
	t, _ := ctx.Value(txKey{db}).(*txn)
	return t
}

// nest runs fn as a part of the transaction. What it wrote before it failed is not
// undone alone, so its error is the whole transaction's.
func (t *txn) nest(ctx context.Context, fn func(ctx context.Context) error) error {
	if t.ended() {
		return errEnded
	}
	err := fn(ctx)
	if err != nil {
		t.mu.Lock()
		t.failed = errors.Join(t.failed, err)
		t.mu.Unlock()
	}
	return err
}

// commit ends the transaction. It takes no notice of a context that has ended: the
// function went well, and an answer that is not waited for would leave the caller
// without knowing what is stored.
func (t *txn) commit(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed != nil {
		return fmt.Errorf("postgres: a nested transaction failed: %w", t.failed)
	}
	if t.aborted != nil {
		return fmt.Errorf("postgres: a statement of the transaction failed: %w", t.aborted)
	}
	if err := t.did(ctx, t.send(ctx)); err != nil {
		return fmt.Errorf("postgres: a statement of the transaction failed: %w", err)
	}
	ctx = context.WithoutCancel(ctx)
	soon, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	if err := t.tx.Commit(soon); err != nil {
		t.aborted = outcome(ctx, err)
		return fmt.Errorf("postgres: committing: %w", t.aborted)
	}
	for _, do := range t.committed {
		do()
	}
	return nil
}

// commitTimeout is how long the end of a transaction is waited for. What the server was
// told is not known after that, nor is what it did.
const commitTimeout = 20 * time.Second

// end leaves nothing of a transaction that was not committed; of one that was, it only
// takes leave. It is also what a panic of the function runs into.
func (t *txn) end(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = t.tx.Rollback(ctx) // a connection on which it fails is closed, which undoes it as well
	t.tx = nil
}

func (t *txn) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tx == nil
}

// errEnded: a context was kept for longer than its transaction.
var errEnded = fmt.Errorf("postgres: the transaction of this context has ended: %w", storage.ErrNoTx)

// use calls fn with the transaction, unless it has ended or was aborted. fn may not
// swallow an error of the database: the server undoes the transaction after it.
func (t *txn) use(ctx context.Context, fn func(tx pgx.Tx) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tx == nil {
		return errEnded
	}
	if t.aborted != nil {
		return t.aborted
	}
	err := t.send(ctx)
	if err == nil {
		err = fn(t.tx)
	}
	return t.did(ctx, err)
}

// did looks at the transaction after a statement.
func (t *txn) did(ctx context.Context, err error) error {
	err = outcome(ctx, err)
	if conn := t.tx.Conn(); conn.IsClosed() || conn.PgConn().TxStatus() != inTransaction {
		if err == nil {
			err = errors.New("postgres: the transaction was aborted")
		}
		t.aborted = err
	} else if collided(err) { // undone as far as a savepoint: as a whole it has to run again
		t.aborted = err
	}
	return err
}

// inTransaction is the state of a transaction in which no statement has failed (the
// protocol's ReadyForQuery).
const inTransaction = 'T'

// afterCommit has fn called when the transaction has been committed.
func (t *txn) afterCommit(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.committed = append(t.committed, fn)
}

// write calls fn with the context's transaction.
func (db *DB) write(ctx context.Context, fn func(tx pgx.Tx) error) error {
	t := db.txn(ctx)
	if t == nil {
		return storage.ErrNoTx
	}
	return t.use(ctx, fn)
}

// read calls fn with the context's transaction, or with a connection of its own, where
// fn may be called twice.
func (db *DB) read(ctx context.Context, fn func(q querier) error) error {
	if t := db.txn(ctx); t != nil {
		return t.use(ctx, func(tx pgx.Tx) error { return fn(tx) })
	}
	conn, err := db.take(ctx, func(conn *pgxpool.Conn) error { return fn(conn) })
	if err == nil {
		db.release(conn)
	}
	return err
}
