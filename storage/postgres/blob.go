package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// readTimeout bounds one query for bytes of a document. An io.ReaderAt has no context
// that could do so.
const readTimeout = 20 * time.Second

// blob is a document as it was when it was opened. What was there then does not change,
// so each read is a query of its own, and what was read is kept for a while.
type blob struct {
	db     *DB
	within *txn // the transaction it was opened in, if any
	id     string
	record documentRecord

	mu     sync.Mutex
	closed bool
	seen   windows
}

var _ storage.Blob = (*blob)(nil)

// Open opens the document. What its Blob has read ahead, at most 1 MB, it can give also
// when the document has been deleted since.
func (s documents) Open(ctx context.Context, id string) (storage.Blob, error) {
	b := &blob{db: s.db, within: s.db.txn(ctx), id: id}
	err := s.db.read(ctx, func(q querier) (err error) {
		b.record, err = complete(ctx, q, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.seen.size = b.record.size
	return b, nil
}

func (b *blob) Size() int64 { return b.record.size }

func (b *blob) Hashed() []storage.Midstate { return document.Midstates(b.record.hashed) }

func (b *blob) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.seen.kept = true, nil
	return nil
}

// ReadAt follows io.ReaderAt.
func (b *blob) ReadAt(p []byte, offset int64) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return 0, fmt.Errorf("postgres: reading document %s: %w", b.id, fs.ErrClosed)
	case offset < 0:
		return 0, fmt.Errorf("postgres: reading document %s at %d", b.id, offset)
	case offset >= b.record.size:
		return 0, io.EOF
	}
	var end error
	if rest := b.record.size - offset; int64(len(p)) > rest {
		p, end = p[:rest], io.EOF
	}
	if err := b.seen.at(p, offset, b.fetch); err != nil {
		return 0, fmt.Errorf("postgres: reading document %s: %w", b.id, err)
	}
	return len(p), end
}

// fetch reads from the database. It uses the transaction that the blob was opened in for
// as long as that lasts: it may have revisions that nobody else can see yet.
func (b *blob) fetch(p []byte, offset int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	if b.within != nil {
		err := b.within.use(ctx, func(tx pgx.Tx) error { return readChunks(ctx, tx, b.record.seq, offset, p) })
		if !errors.Is(err, errEnded) {
			return err
		}
	}
	return b.db.read(ctx, func(q querier) error { return readChunks(ctx, q, b.record.seq, offset, p) })
}
