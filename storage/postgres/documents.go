package postgres

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// sweepStep is how many documents Sweep deletes in one transaction.
const sweepStep = 16

// documentRecord is a row of documents. The content is in rows of document_chunks.
type documentRecord struct {
	seq    int64
	size   int64
	hashed []document.Midstate
}

// documents is the storage.Documents of a DB.
type documents struct{ db *DB }

var _ storage.Documents = documents{}

// Documents returns the store of documents.
func (db *DB) Documents() storage.Documents { return documents{db} }

// completeDocument reads the record of a document whose Create has succeeded, and in a transaction locks it.
// Other documents do not exist for callers.
func completeDocument(ctx context.Context, q querier, id string) (d documentRecord, err error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return d, storage.ErrNotFound
	}
	err = d.scan(q.QueryRow(ctx, selectComplete+rowLock(q), key))
	return d, err
}

const selectComplete = `SELECT seq, size, hashed FROM documents WHERE id = $1 AND complete`

func (d *documentRecord) scan(row pgx.Row) error {
	return row.Scan(&d.seq, &d.size, encoded[[]document.Midstate]{&d.hashed})
}

func (s documents) Keep(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		key, err := uuid.Parse(id)
		if err != nil {
			return storage.ErrNotFound
		}
		tag, err := tx.Exec(ctx, `UPDATE documents SET kept = true WHERE id = $1 AND complete`, key)
		if err == nil && tag.RowsAffected() == 0 {
			return storage.ErrNotFound
		}
		return err
	})
}

func (s documents) Append(ctx context.Context, id string, revisions ...storage.Revision) error {
	var d documentRecord
	err := s.db.write(ctx, func(tx pgx.Tx) (err error) {
		if d, err = completeDocument(ctx, tx, id); err != nil {
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
		return nil
	})
	if err != nil {
		return err
	}
	return s.db.queueExec(ctx, `UPDATE documents SET size = $2, hashed = $3 WHERE seq = $1`, d.seq, d.size, encoded[[]document.Midstate]{&d.hashed})
}

func (s documents) Delete(ctx context.Context, id string) error {
	key, err := uuid.Parse(id)
	if err != nil {
		key = uuid.Nil // no document has that ID
	}
	return s.db.queueExec(ctx, `DELETE FROM documents WHERE id = $1`, key) // its chunks by ON DELETE CASCADE
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

// sweep deletes the oldest few. It skips documents that another transaction has locked, because it keeps them
// or adds content.
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

// createStep is how many bytes of a new document one transaction stores. They are read before the transaction
// begins, so a slow sender holds no connection.
const createStep = 64 * chunkSize

// errCreateInTx is returned because Create runs transactions of its own: the document is durable on return, but
// the caller's transaction could still be rolled back.
var errCreateInTx = errors.New("postgres: a document cannot be created within a transaction")

// upload is a document that Create is storing.
type upload struct {
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
	c := &upload{db: s.db, id: uuid.New(), started: time.Now(), sums: sums}
	step := make([]byte, createStep)
	if err := document.Receive(r, limit, step, func(p []byte, last bool) error { return c.store(ctx, p, last) }); err != nil {
		c.discard(ctx)
		return storage.Ref{}, err
	}
	return storage.Ref{ID: c.id.String(), Size: c.stored, Sums: sums.Digests()}, nil
}

// store appends bytes to the document; the last ones complete it.
func (c *upload) store(ctx context.Context, p []byte, last bool) error {
	c.sums.Write(p)
	if last && c.stored == 0 && len(p) <= maxInserted {
		return c.storeAll(ctx, p)
	}
	err := c.db.InTx(ctx, func(ctx context.Context) error {
		return c.db.write(ctx, func(tx pgx.Tx) error {
			if err := c.begin(ctx, tx, last); err != nil {
				return err
			}
			if err := c.extend(ctx, tx, int64(len(p)), last); err != nil {
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

// storeAll stores a whole document by one statement. If its connection is broken, it may be sent a second time, and does
// nothing if the first was committed. After an error the document may be stored although the answer was lost. It is not
// discarded then, and Sweep deletes it.
func (c *upload) storeAll(ctx context.Context, p []byte) error {
	const statement = `WITH created AS (
			INSERT INTO documents (id, started_at, complete, kept, size, hashed) VALUES ($1, $2, true, false, $3, $4)
			ON CONFLICT (id) DO NOTHING RETURNING seq)
		INSERT INTO document_chunks (document, start, content)
		SELECT seq, start, content FROM created, unnest($5::bigint[], $6::bytea[]) AS chunk (start, content)`
	hashed := c.sums.Midstates(int64(len(p)))
	starts, contents := chunks(0, p)
	err := c.db.read(ctx, func(q querier) error {
		_, err := q.Exec(ctx, statement, c.id, c.started, len(p), encoded[[]document.Midstate]{&hashed}, starts, contents)
		return err
	})
	if err != nil {
		return fmt.Errorf("postgres: storing a document: %w", err)
	}
	c.stored = int64(len(p))
	return nil
}

// begin inserts the document's record with the first bytes, so that Sweep finds it if Create is interrupted.
// Only the last commit waits for the disk, which makes the commits before it durable as well.
func (c *upload) begin(ctx context.Context, tx pgx.Tx, last bool) error {
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

// extend adds n bytes to the document's size. It returns storage.ErrNotFound if Sweep has deleted the document.
// A database server that crashed may have lost the last commits, which did not wait for the disk, and may
// give their seq to another document. extend therefore checks that the record has the ID and the size that it expects.
func (c *upload) extend(ctx context.Context, tx pgx.Tx, n int64, last bool) error {
	var hashed []document.Midstate
	if last {
		hashed = c.sums.Midstates(c.stored + n)
	}
	var before int64
	err := tx.QueryRow(ctx, `SELECT size FROM documents WHERE id = $1 AND seq = $2 FOR NO KEY UPDATE`, c.id, c.seq).Scan(&before)
	if err != nil {
		return err // pgx.ErrNoRows becomes storage.ErrNotFound
	}
	if before != c.stored {
		return fmt.Errorf("%w: the server has lost %d bytes of the document", storage.ErrUnavailable, c.stored-before)
	}
	_, err = tx.Exec(ctx, `UPDATE documents SET size = $2, complete = $3, hashed = $4 WHERE seq = $1`,
		c.seq, c.stored+n, last, encoded[[]document.Midstate]{&hashed})
	return err
}

// discard deletes an incomplete document, even if ctx has ended. If that fails, Sweep deletes it later.
func (c *upload) discard(ctx context.Context) {
	if c.stored == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	_ = c.db.InTx(ctx, func(ctx context.Context) error {
		return documents{c.db}.Delete(ctx, c.id.String())
	})
}

// chunkSize is how many bytes of a document one row has. A row of this size fills a page of 8192 bytes: the
// page header takes 24 bytes, the row's line pointer 4, the row header 24, its key 16 and the length of the
// content 4, which leaves 8120. The rest is for the line pointers, of 4 bytes each, that stay in a page for a
// while after its rows were deleted.
const chunkSize = 8096

// maxInserted is how many bytes are stored by INSERT, in one round trip. It needs a second copy of them in memory; COPY needs
// none, and more round trips.
const maxInserted = 32 * chunkSize

// chunks divides bytes into rows of document_chunks.
func chunks(offset int64, p []byte) (starts []int64, contents [][]byte) {
	for chunk := range slices.Chunk(p, chunkSize) {
		starts, contents = append(starts, offset), append(contents, chunk)
		offset += int64(len(chunk))
	}
	return starts, contents
}

// putChunks stores p as the document's bytes from the offset.
func putChunks(ctx context.Context, tx pgx.Tx, seq, offset int64, p []byte) error {
	switch {
	case len(p) == 0:
		return nil
	case len(p) <= maxInserted:
		starts, contents := chunks(offset, p)
		_, err := tx.Exec(ctx, `INSERT INTO document_chunks (document, start, content)
			SELECT $1, start, content FROM unnest($2::bigint[], $3::bytea[]) AS chunk (start, content)`, seq, starts, contents)
		return err
	}
	next := pgx.CopyFromFunc(func() (row []any, err error) {
		if len(p) == 0 {
			return nil, nil
		}
		n := min(len(p), chunkSize)
		row = []any{seq, offset, p[:n]}
		offset, p = offset+int64(n), p[n:]
		return row, nil
	})
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"document_chunks"}, []string{"document", "start", "content"}, next)
	return err
}

// readChunks fills p with the document's bytes from the offset.
func readChunks(ctx context.Context, q querier, seq, offset int64, p []byte) error {
	rows, err := q.Query(ctx, `SELECT start, content FROM document_chunks
		WHERE document = $1 AND start > $2 AND start < $3 ORDER BY start`, seq, offset-chunkSize, offset+int64(len(p)))
	if err != nil {
		return err
	}
	return collectChunks(rows, seq, offset, p)
}

// collectChunks fills p with the document's bytes from the offset, which rows of document_chunks have.
func collectChunks(rows pgx.Rows, seq, offset int64, p []byte) error {
	end := offset + int64(len(p))
	var start int64
	var chunk pgtype.DriverBytes
	at := offset
	_, err := pgx.ForEachRow(rows, []any{&start, &chunk}, func() error {
		if at == end {
			return nil // appended since p was made
		}
		skip := at - start
		if skip >= int64(len(chunk)) && at == offset {
			return nil // a short chunk that ends before the offset
		}
		if skip < 0 || skip >= int64(len(chunk)) {
			return fmt.Errorf("postgres: document %d has no byte %d", seq, at)
		}
		at += int64(copy(p[at-offset:], chunk[skip:]))
		return nil
	})
	switch {
	case err != nil:
		return err
	case at == offset:
		return storage.ErrNotFound
	case at < end:
		return fmt.Errorf("postgres: document %d ends at %d", seq, at)
	}
	return nil
}
