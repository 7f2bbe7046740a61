package postgres

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// createStep is how many bytes of a new document are stored at once. They are read before
// the transaction that stores them begins, so a slow sender holds no connection.
const createStep = 64 * chunkSize

// errCreateInTx: Create runs transactions of its own. In that of its context it would be
// undone with it, although it is durable on return.
var errCreateInTx = errors.New("postgres: a document cannot be created within a transaction")

// creation is a document that is coming in.
type creation struct {
	db      *DB
	id      uuid.UUID
	started time.Time
	seq     int64
	stored  int64 // bytes
	sums    document.Sums
}

func (s documents) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	if s.db.txn(ctx) != nil {
		return storage.Ref{}, errCreateInTx
	}
	sums, err := document.NewSums(hashes)
	if err != nil {
		return storage.Ref{}, err
	}
	c := &creation{db: s.db, id: uuid.New(), started: time.Now(), sums: sums}
	step := make([]byte, createStep)
	if err := document.Receive(r, limit, step, func(p []byte, last bool) error { return c.store(ctx, p, last) }); err != nil {
		c.discard(ctx)
		return storage.Ref{}, err
	}
	return storage.Ref{ID: c.id.String(), Size: c.stored, Sums: sums.Digests()}, nil
}

// store adds the bytes to the document; the last ones complete it.
func (c *creation) store(ctx context.Context, p []byte, last bool) error {
	c.sums.Write(p)
	err := c.db.InTx(ctx, func(ctx context.Context) error {
		return c.db.write(ctx, func(tx pgx.Tx) error {
			if err := c.begin(ctx, tx, last); err != nil {
				return err
			}
			if err := c.grow(ctx, tx, int64(len(p)), last); err != nil {
				return err
			}
			return putChunks(ctx, tx, c.seq, c.stored, p)
		})
	})
	if err != nil {
		return fmt.Errorf("postgres: storing a document: %w", err)
	}
	c.stored += int64(len(p))
	return nil
}

// begin adds the document's record with the first of its bytes, for Sweep to find should
// the rest never come. Only the last commit waits for the disk: that makes those before
// it durable as well.
func (c *creation) begin(ctx context.Context, tx pgx.Tx, last bool) error {
	if !last {
		if _, err := tx.Exec(ctx, `SET LOCAL synchronous_commit = off`); err != nil {
			return err
		}
	}
	if c.stored > 0 {
		return nil
	}
	return tx.QueryRow(ctx, `INSERT INTO documents (id, started_at, complete, kept, size)
		VALUES ($1, $2, false, false, 0) RETURNING seq`, c.id, c.started).Scan(&c.seq)
}

// grow makes the document n bytes longer. When Sweep has found it meanwhile, it is lost. A
// server that crashed may have lost the last commits, which did not wait for the disk, and
// even give their seq to another document: then the record is not as it was left.
func (c *creation) grow(ctx context.Context, tx pgx.Tx, n int64, last bool) error {
	var hashed []document.Midstate
	if last {
		hashed = c.sums.Midstates(c.stored + n)
	}
	var before int64
	err := tx.QueryRow(ctx, `SELECT size FROM documents WHERE id = $1 AND seq = $2 FOR NO KEY UPDATE`, c.id, c.seq).Scan(&before)
	if err != nil {
		return err // storage.ErrNotFound by then
	}
	if before != c.stored {
		return fmt.Errorf("%w: the server has lost %d bytes of the document", storage.ErrUnavailable, c.stored-before)
	}
	_, err = tx.Exec(ctx, `UPDATE documents SET size = $2, complete = $3, hashed = $4 WHERE seq = $1`,
		c.seq, c.stored+n, last, encoded[[]document.Midstate]{&hashed})
	return err
}

// discard removes what was stored of a document that will not be complete, also when its
// sender has gone away. Should that fail, Sweep does it later.
func (c *creation) discard(ctx context.Context) {
	if c.stored == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	_ = c.db.InTx(ctx, func(ctx context.Context) error {
		return documents{c.db}.Delete(ctx, c.id.String())
	})
}
