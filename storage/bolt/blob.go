package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// blob is a document as it was when it was opened. What was there then does not
// change, so each read is a short transaction of its own; one that lasted as
// long as the blob is open would keep bbolt from using freed pages again.
type blob struct {
	db     *DB
	within *txn // the transaction it was opened in, if any
	id     string
	size   int64
	hashed []storage.Midstate
	closed atomic.Bool
}

var _ storage.Blob = (*blob)(nil)

func (s documents) Open(ctx context.Context, id string) (storage.Blob, error) {
	b := &blob{db: s.db, within: s.db.txn(ctx), id: id}
	err := s.db.read(ctx, func(tx *bbolt.Tx) error {
		d, err := complete(tx, id)
		b.size, b.hashed = d.Size, document.Midstates(d.Hashed)
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (b *blob) Size() int64 { return b.size }

func (b *blob) Hashed() []storage.Midstate { return b.hashed }

func (b *blob) Close() error {
	b.closed.Store(true)
	return nil
}

// ReadAt follows io.ReaderAt.
func (b *blob) ReadAt(p []byte, offset int64) (int, error) {
	switch {
	case b.closed.Load():
		return 0, fmt.Errorf("bolt: reading document %s: %w", b.id, fs.ErrClosed)
	case offset < 0:
		return 0, fmt.Errorf("bolt: reading document %s at %d", b.id, offset)
	case offset >= b.size:
		return 0, io.EOF
	}
	var end error
	if rest := b.size - offset; int64(len(p)) > rest {
		p, end = p[:rest], io.EOF
	}
	if err := b.read(func(tx *bbolt.Tx) error { return b.db.contents.read(tx, b.id, offset, p) }); err != nil {
		return 0, err
	}
	return len(p), end
}

// read uses the transaction that the blob was opened in for as long as that
// lasts: it may have revisions that nobody else can see yet.
func (b *blob) read(fn func(*bbolt.Tx) error) error {
	if b.within != nil {
		if err := b.within.use(fn); !errors.Is(err, errEnded) {
			return err
		}
	}
	return b.db.view(fn)
}
