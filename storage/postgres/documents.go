package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// sweepStep is how many documents one transaction of Sweep removes.
const sweepStep = 16

// documentRecord is a row of documents. Its bytes are in rows of document_chunks.
type documentRecord struct {
	seq    int64
	size   int64
	hashed []document.Midstate
}

// documents is the storage.Documents of a DB.
type documents struct{ db *DB }

var _ storage.Documents = documents{}

// Documents is the store of documents.
func (db *DB) Documents() storage.Documents { return documents{db} }

// complete reads the record of a document that has been created to its end; one that is
// still coming in does not exist for anybody else. In a transaction it then stays as it
// is.
func complete(ctx context.Context, q querier, id string) (d documentRecord, err error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return d, storage.ErrNotFound
	}
	err = q.QueryRow(ctx, `SELECT seq, size, hashed FROM documents WHERE id = $1 AND complete`+lock(q), key).
		Scan(&d.seq, &d.size, encoded[[]document.Midstate]{&d.hashed})
	return d, err
}

func (s documents) Keep(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		d, err := complete(ctx, tx, id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE documents SET kept = true WHERE seq = $1`, d.seq)
		return err
	})
}

func (s documents) Append(ctx context.Context, id string, revisions ...storage.Revision) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		d, err := complete(ctx, tx, id)
		if err != nil {
			return err
		}
		if !document.Follow(d.size, revisions) {
			return storage.ErrMoved
		}
		for _, r := range revisions {
			if err := putChunks(ctx, tx, d.seq, d.size, r.Bytes); err != nil {
				return err
			}
			d.size += int64(len(r.Bytes))
			d.hashed = document.Replaced(d.hashed, r.Hashed)
		}
		_, err = tx.Exec(ctx, `UPDATE documents SET size = $2, hashed = $3 WHERE seq = $1`, d.seq, d.size, encoded[[]document.Midstate]{&d.hashed})
		return err
	})
}

func (s documents) Delete(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		key, err := uuid.Parse(id)
		if err != nil {
			return nil // there is none of that name
		}
		_, err = tx.Exec(ctx, `DELETE FROM documents WHERE id = $1`, key) // and with it its chunks
		return err
	})
}

func (s documents) Sweep(ctx context.Context, before time.Time) (int, error) {
	total := 0
	for {
		n, err := s.sweep(ctx, before)
		total += n
		if err != nil {
			return total, fmt.Errorf("postgres: sweeping documents: %w", err)
		}
		if n < sweepStep {
			return total, nil
		}
	}
}

// sweep removes the oldest few. One that another transaction has locked, because it is
// being kept or bytes of it come in, is left to a later call.
func (s documents) sweep(ctx context.Context, before time.Time) (n int, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		return s.db.write(ctx, func(tx pgx.Tx) error {
			swept, err := tx.Exec(ctx, `DELETE FROM documents WHERE seq = ANY (ARRAY (
				SELECT seq FROM documents WHERE NOT kept AND started_at < $1
				ORDER BY started_at LIMIT $2 FOR UPDATE SKIP LOCKED))`, before, sweepStep)
			n = int(swept.RowsAffected())
			return err
		})
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
