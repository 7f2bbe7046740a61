package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// readTimeout bounds one query for bytes of a document. An io.ReaderAt has no context that could.
const readTimeout = 20 * time.Second

// blob is a document as it was when it was opened. The content up to that size never changes, so each read is a
// query of its own, and blob caches what was read.
type blob struct {
	db     *DB
	tx     *txn // the transaction in which it was opened, or nil
	id     string
	record documentRecord

	mu     sync.Mutex
	closed bool
	cache  windowCache
}

var _ storage.Blob = (*blob)(nil)

// Open opens the document. Its Blob caches at most 1 MB, which it returns even after the document has been
// deleted.
func (s documents) Open(ctx context.Context, id string) (storage.Blob, error) {
	b := &blob{db: s.db, tx: s.db.txn(ctx), id: id}
	if b.tx == nil {
		if err := b.openSmall(ctx); err != nil {
			return nil, err
		}
		return b, nil
	}
	err := s.db.read(ctx, func(q querier) (err error) {
		b.record, err = completeDocument(ctx, q, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.cache.size = b.record.size
	return b, nil
}

// openSmall reads the record and, of a document that has only one window, the content in the same round trip. Revisions that
// are appended between the two statements are cut off.
func (b *blob) openSmall(ctx context.Context) error {
	key, err := uuid.Parse(b.id)
	if err != nil {
		return storage.ErrNotFound
	}
	return b.db.read(ctx, func(q querier) error {
		batch := new(pgx.Batch)
		batch.Queue(selectComplete, key)
		batch.Queue(`SELECT start, content FROM document_chunks
			WHERE document = (SELECT seq FROM documents WHERE id = $1 AND complete AND size <= $2) ORDER BY start`, key, windowSize)
		results := q.SendBatch(ctx, batch)
		defer results.Close()
		if err := b.record.scan(results.QueryRow()); err != nil {
			return err
		}
		b.cache = windowCache{size: b.record.size}
		if b.record.size == 0 || b.record.size > windowSize {
			return results.Close()
		}
		rows, err := results.Query()
		if err != nil {
			return err
		}
		first := window{bytes: make([]byte, b.record.size)}
		switch err := collectChunks(rows, b.record.seq, 0, first.bytes); {
		case err == nil:
			b.cache.windows = []window{first}
		case !errors.Is(err, storage.ErrNotFound): // else it was deleted, or has grown, and is read later
			return err
		}
		return results.Close()
	})
}

func (b *blob) Size() int64 { return b.record.size }

func (b *blob) Hashed() []storage.Midstate { return document.Midstates(b.record.hashed) }

func (b *blob) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.cache.windows = true, nil
	return nil
}

// ReadAt implements io.ReaderAt.
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
	if err := b.cache.readAt(p, offset, b.fetch); err != nil {
		return 0, fmt.Errorf("postgres: reading document %s: %w", b.id, err)
	}
	return len(p), end
}

// fetch reads from the database. It uses the transaction in which the blob was opened until that ends, because
// the transaction may have appended revisions that are not committed yet.
func (b *blob) fetch(p []byte, offset int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	if b.tx != nil {
		err := b.tx.use(ctx, func(tx pgx.Tx) error { return readChunks(ctx, tx, b.record.seq, offset, p) })
		if !errors.Is(err, errEnded) {
			return err
		}
	}
	return b.db.read(ctx, func(q querier) error { return readChunks(ctx, q, b.record.seq, offset, p) })
}

// PDF readers read small pieces, some of them repeatedly. So a blob reads whole windows of a document, and
// caches the most recently used ones.
const (
	windowSize = 256 << 10
	maxWindows = 4
)

// windowCache caches the most recently used windows of a document.
type windowCache struct {
	size    int64    // of the document
	windows []window // the most recently used one last
}

// window is a part of a document.
type window struct {
	start int64 // a multiple of windowSize
	bytes []byte
}

// readAt fills p with the document's bytes from the offset.
func (w *windowCache) readAt(p []byte, offset int64, fetch func(p []byte, offset int64) error) error {
	for len(p) > 0 {
		bytes, err := w.rest(offset, fetch)
		if err != nil {
			return err
		}
		n := copy(p, bytes)
		offset, p = offset+int64(n), p[n:]
	}
	return nil
}

// rest returns the bytes from the offset to the end of its window.
func (w *windowCache) rest(offset int64, fetch func(p []byte, offset int64) error) ([]byte, error) {
	start := offset - offset%windowSize
	i := slices.IndexFunc(w.windows, func(x window) bool { return x.start == start })
	if i < 0 {
		added := window{start, w.buffer(int(min(windowSize, w.size-start)))}
		if err := fetch(added.bytes, start); err != nil {
			return nil, err
		}
		w.windows, i = append(w.windows, added), len(w.windows)
	}
	used := w.windows[i]
	w.windows = append(slices.Delete(w.windows, i, i+1), used)
	return used.bytes[offset-start:], nil
}

// buffer returns a buffer of n bytes. If the cache is full, it removes the least recently used window and
// reuses its buffer.
func (w *windowCache) buffer(n int) []byte {
	if len(w.windows) < maxWindows {
		return make([]byte, n)
	}
	oldest := w.windows[0].bytes
	w.windows = slices.Delete(w.windows, 0, 1)
	if cap(oldest) < n {
		return make([]byte, n)
	}
	return oldest[:n]
}
