package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

// mostWaiting is how many statements wait to be sent.
const mostWaiting = 128

// later has a statement sent before the next one of the transaction whose result somebody waits for,
// together with others. What is wrong with it is an error of that one, or of the transaction's end:
// so it is for statements that tell nothing but that. Many jobs that end at once cost few round trips.
func (db *DB) later(ctx context.Context, sql string, args ...any) error {
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
	t.waiting.Queue(sql, args...)
	if t.waiting.Len() < mostWaiting {
		return nil
	}
	return t.did(ctx, t.send(ctx))
}

// send sends the statements that wait.
func (t *txn) send(ctx context.Context) error {
	if t.waiting.Len() == 0 {
		return nil
	}
	batch := t.waiting
	t.waiting = pgx.Batch{}
	return t.tx.SendBatch(ctx, &batch).Close()
}
