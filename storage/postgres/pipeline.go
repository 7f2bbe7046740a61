package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pipeline is the transaction of a txn on the wire. It waits for the server only when the result of a statement is needed:
// BEGIN and the statements of queue are sent together with the next such statement, and the last ones together with COMMIT.
// So a transaction that reads a record and writes some costs two round trips, and one without statements none.
//
// It takes a connection from the pool with the first statement that it sends.
type pipeline struct {
	pgx.Tx // nil until the transaction has begun
	db     *DB
	conn   *pgxpool.Conn // nil until the transaction has begun
	queued []statement
}

var _ pgx.Tx = (*pipeline)(nil)

// statement is a statement whose result is not needed.
type statement struct {
	sql  string
	args []any
}

// beginning returns the first words of a statement, for errors. The values are in args.
func (s statement) beginning() string {
	words := strings.Fields(s.sql)
	return strings.Join(words[:min(len(words), 3)], " ")
}

// maxQueued is the number of statements after which queue sends them.
const maxQueued = 128

// queue queues a statement. Its error becomes the error of the statement or of the commit that sends it.
func (p *pipeline) queue(ctx context.Context, sql string, args []any) error {
	p.queued = append(p.queued, statement{sql, args})
	if len(p.queued) < maxQueued {
		return nil
	}
	return p.flush(ctx)
}

// flush sends the queued statements, and begins the transaction if it has not begun.
func (p *pipeline) flush(ctx context.Context) error {
	if p.Tx != nil && len(p.queued) == 0 {
		return nil
	}
	results, err := p.send(ctx)
	if err != nil {
		return err
	}
	return results.Close()
}

// send sends the queued statements and then the last ones in one round trip, and returns the results from the last ones on.
func (p *pipeline) send(ctx context.Context, last ...statement) (pgx.BatchResults, error) {
	var results pgx.BatchResults
	var err error
	queued := p.queued
	p.queued = nil
	if p.Tx == nil {
		results, err = p.begin(ctx, append(queued, last...))
	} else {
		results = p.conn.SendBatch(ctx, newBatch(new(pgx.Batch), append(queued, last...)))
	}
	for _, s := range queued {
		if err == nil {
			if _, err = results.Exec(); err != nil {
				err = fmt.Errorf("%s: %w", s.beginning(), err)
			}
		}
	}
	if err != nil && results != nil {
		err = errors.Join(err, results.Close())
	}
	return results, err
}

// begin begins the transaction with statements. If the connection turns out to be broken, it uses another one.
func (p *pipeline) begin(ctx context.Context, statements []statement) (results pgx.BatchResults, err error) {
	p.conn, err = p.db.acquireAndRun(ctx, func(conn *pgxpool.Conn) error {
		batch := new(pgx.Batch)
		batch.BeginTx(pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
		results = conn.SendBatch(ctx, newBatch(batch, statements))
		if _, err := results.Exec(); err != nil {
			return errors.Join(err, results.Close())
		}
		p.Tx = results.(interface{ Tx() pgx.Tx }).Tx()
		return nil
	})
	return results, err
}

func newBatch(batch *pgx.Batch, statements []statement) *pgx.Batch {
	for _, s := range statements {
		batch.Queue(s.sql, s.args...)
	}
	return batch
}

// Exec implements [pgx.Tx].
func (p *pipeline) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := p.send(ctx, statement{sql, args})
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	if closed := results.Close(); err == nil {
		err = closed
	}
	return tag, err
}

// Query implements [pgx.Tx].
func (p *pipeline) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, err := p.send(ctx, statement{sql, args})
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return &pipelineRows{Rows: rows, results: results}, nil
}

// QueryRow implements [pgx.Tx].
func (p *pipeline) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := p.Query(ctx, sql, args...)
	return pipelineRow{rows, err}
}

// CopyFrom implements [pgx.Tx].
func (p *pipeline) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error) {
	if err := p.flush(ctx); err != nil {
		return 0, err
	}
	return p.Tx.CopyFrom(ctx, table, columns, rows)
}

// Begin implements [pgx.Tx] with a savepoint.
func (p *pipeline) Begin(ctx context.Context) (pgx.Tx, error) {
	if err := p.flush(ctx); err != nil {
		return nil, err
	}
	return p.Tx.Begin(ctx)
}

// Commit sends the queued statements together with COMMIT. A transaction that has not begun begins first: if its
// connection is broken, the statements can be sent once more, but not together with COMMIT, which may have succeeded.
func (p *pipeline) Commit(ctx context.Context) error {
	if p.Tx == nil {
		if len(p.queued) == 0 {
			return nil
		}
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	tag, err := p.Exec(ctx, "commit")
	if err == nil && tag.String() != "COMMIT" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// Rollback rolls the transaction back unless it was committed.
func (p *pipeline) Rollback(ctx context.Context) error {
	if p.Tx == nil || p.conn.Conn().PgConn().TxStatus() == outsideTransaction {
		return nil
	}
	return p.Tx.Rollback(ctx)
}

// The states of a connection in the protocol's ReadyForQuery.
const (
	outsideTransaction = 'I'
	inTransaction      = 'T' // and no statement of the transaction has failed
)

// isAborted reports whether the server has aborted the transaction, or its connection was lost.
func (p *pipeline) isAborted() bool {
	if p.conn == nil {
		return false
	}
	conn := p.conn.Conn()
	return conn.IsClosed() || conn.PgConn().TxStatus() != inTransaction
}

// release returns the connection to the pool.
func (p *pipeline) release() {
	if p.conn != nil {
		p.db.release(p.conn)
	}
}

// pipelineRows are the rows of the last statement of a batch, which ends with them.
type pipelineRows struct {
	pgx.Rows
	results pgx.BatchResults
	err     error // of the end of the batch
}

func (r *pipelineRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *pipelineRows) Close() {
	r.Rows.Close()
	r.err = r.results.Close()
}

func (r *pipelineRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

// pipelineRow is the first of rows.
type pipelineRow struct {
	rows pgx.Rows
	err  error
}

func (r pipelineRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}

// SendBatch implements [pgx.Tx].
func (p *pipeline) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	if err := p.flush(ctx); err != nil {
		return pgx.FailedBatchResults(batch, err)
	}
	return p.Tx.SendBatch(ctx, batch)
}
