package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/innsigli/innsigli/storage"
)

var _ storage.Transactor = (*DB)(nil)

// txKey is the context key of a transaction. Each DB has its own.
type txKey struct{ db *DB }

// txn is the transaction that a context carries.
type txn struct {
	mu          sync.Mutex // a connection is for one goroutine at a time
	tx          *pipeline  // nil after the end of the transaction
	aborted     error      // of the statement that aborted it; all later statements fail with it
	failed      error      // of a nested InTx
	onCommitted []func()   // called after the commit
	// revisions are those of signing requests that the transaction has locked, by ID.
	revisions map[string]int64
}

// querier runs statements, in a transaction or on a connection.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// InTx runs fn in a transaction; see storage.Transactor and the package comment.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if t := db.txn(ctx); t != nil {
		return t.nest(ctx, fn)
	}
	for try := 1; ; try++ {
		t, err := db.run(ctx, fn)
		if err == nil || !isConflict(t.aborted) || try == maxAttempts {
			return err
		}
		if backOff(ctx, try) != nil {
			return err
		}
	}
}

// run runs fn once.
func (db *DB) run(ctx context.Context, fn func(ctx context.Context) error) (*txn, error) {
	if db.closed.Load() {
		return &txn{}, ErrClosed
	}
	t := &txn{tx: &pipeline{db: db}}
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

// nest runs fn as a part of the transaction. An error of fn fails the whole transaction, because the writes of
// fn cannot be rolled back alone.
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

// commit commits the transaction, even if ctx has ended: fn has succeeded, and a caller that did not wait for
// the answer would not know whether the changes are stored.
func (t *txn) commit(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed != nil {
		return fmt.Errorf("postgres: a nested transaction failed: %w", t.failed)
	}
	if t.aborted != nil {
		return fmt.Errorf("postgres: a statement of the transaction failed: %w", t.aborted)
	}
	ctx = context.WithoutCancel(ctx)
	bounded, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	if err := t.tx.Commit(bounded); err != nil {
		t.aborted = callError(ctx, err)
		return fmt.Errorf("postgres: committing: %w", t.aborted) // perhaps by a queued statement
	}
	for _, fn := range t.onCommitted {
		fn()
	}
	return nil
}

// commitTimeout bounds how long commit waits for the server. After that it is unknown whether the transaction
// was committed.
const commitTimeout = 20 * time.Second

// end rolls the transaction back, unless it was committed, and marks it as ended. It runs also after a panic of
// fn.
func (t *txn) end(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	_ = t.tx.Rollback(ctx) // if it fails, pgx closes the connection, which rolls back as well
	t.tx.release()
	t.tx = nil
}

func (t *txn) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tx == nil
}

// errEnded is returned if a context is used after its transaction has ended.
var errEnded = fmt.Errorf("postgres: the transaction of this context has ended: %w", storage.ErrNoTx)

// use calls fn with the transaction, unless it has ended or was aborted. fn
// must return the errors of its statements: the server aborts the transaction after an error.
func (t *txn) use(ctx context.Context, fn func(tx pgx.Tx) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tx == nil {
		return errEnded
	}
	if t.aborted != nil {
		return t.aborted
	}
	return t.checkStatement(ctx, fn(t.tx))
}

// checkStatement translates the error of a statement and records whether the statement aborted the transaction.
func (t *txn) checkStatement(ctx context.Context, err error) error {
	err = callError(ctx, err)
	if t.tx.isAborted() || err != nil && t.tx.conn == nil { // or it could not begin
		if err == nil {
			err = errors.New("postgres: the transaction was aborted")
		}
		t.aborted = err
	} else if isConflict(err) { // rolled back to a savepoint only; the whole transaction must be run again
		t.aborted = err
	}
	return err
}

// afterCommit makes commit call fn after the transaction has been committed.
func (t *txn) afterCommit(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onCommitted = append(t.onCommitted, fn)
}

// write calls fn with the context's transaction; storage.ErrNoTx if there is none.
func (db *DB) write(ctx context.Context, fn func(tx pgx.Tx) error) error {
	t := db.txn(ctx)
	if t == nil {
		return storage.ErrNoTx
	}
	return t.use(ctx, fn)
}

// read calls fn with the context's transaction or, if there is none, with a connection from the pool. In that
// case fn may be called twice.
func (db *DB) read(ctx context.Context, fn func(q querier) error) error {
	if t := db.txn(ctx); t != nil {
		return t.use(ctx, func(tx pgx.Tx) error { return fn(tx) })
	}
	conn, err := db.acquireAndRun(ctx, func(conn *pgxpool.Conn) error { return fn(conn) })
	if err == nil {
		db.release(conn)
	}
	return err
}

// queueExec queues a statement whose result is not needed. It is sent in one batch with other queued
// statements, before the next statement whose result is needed or before the commit. Its error becomes the
// error of that statement or commit. So the end of many jobs costs few round trips.
func (db *DB) queueExec(ctx context.Context, sql string, args ...any) error {
	t := db.txn(ctx)
	if t == nil {
		return storage.ErrNoTx
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tx == nil {
		return errEnded
	}
	if t.aborted != nil {
		return t.aborted
	}
	return t.checkStatement(ctx, t.tx.queue(ctx, sql, args))
}

// unknownRevision is the revision of a request that is not known to exist.
const unknownRevision = -1

// lockedRevision records the revision of a request that the transaction has read, and locked, or added.
func (t *txn) lockedRevision(id string, revision int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.revisions == nil {
		t.revisions = make(map[string]int64)
	}
	t.revisions[id] = revision
}

// raiseRevision records that a request gets the revision, and reports whether the transaction has locked it with the one
// before.
func (t *txn) raiseRevision(id string, revision int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before, locked := t.revisions[id]; !locked || before == unknownRevision || before != revision-1 {
		return false
	}
	t.revisions[id] = revision
	return true
}

// maxAttempts is how often InTx runs a transaction that conflicts with others.
const maxAttempts = 10

// backOff waits for a random time before the next attempt, so that the same transactions do not conflict again.
func backOff(ctx context.Context, try int) error {
	longest := min(time.Millisecond<<try, 100*time.Millisecond)
	select {
	case <-time.After(rand.N(longest)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
