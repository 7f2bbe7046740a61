package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/innsigli/innsigli/storage"
)

// chunkSize is how many bytes of a document are one value. Two of them, with
// their keys and bbolt's headers, fit 32 pages of 4 KiB: bbolt writes at least
// two values together, and all of the last few again when more are added, so
// bigger ones would be written more often and smaller ones need more keys.
const chunkSize = 64<<10 - 64

// chunkBuckets is the bucket that has a bucket of chunks for each document, so that they
// are freed all at once. There, a chunk's key is its offset in the document.
const chunkBuckets = bucket("document.chunks")

// bucket is a bucket that is no table.
type bucket string

func (b bucket) buckets() []string { return []string{string(b)} }

func (b bucket) create(tx *bbolt.Tx) error {
	if _, err := tx.CreateBucketIfNotExists([]byte(b)); err != nil {
		return fmt.Errorf("bolt: bucket %s: %w", b, err)
	}
	return nil
}

// chunks keeps the contents of documents in the store's own file.
type chunks struct{ db *DB }

var _ contents = chunks{}

func (chunks) mark(string) (string, error) { return "", nil }
func (chunks) claim() (string, error)      { return "", nil }
func (chunks) settle(string) error         { return nil }

func (s chunks) create(c *creation) intake { return &chunkIntake{db: s.db, creation: c} }

func (chunks) read(tx *bbolt.Tx, id string, offset int64, p []byte) error {
	return readChunks(tx, id, offset, p)
}

func (chunks) append(tx *bbolt.Tx, id string, offset int64, p []byte) error {
	return putChunks(tx, id, offset, p)
}

func (chunks) remove(t *txn, id string) error { return deleteChunks(t.tx, id) }

// sweep has nothing to do: chunks are stored and removed together with the record.
func (chunks) sweep(context.Context, time.Time) (int, error) { return 0, nil }

// hold has nothing to do: chunks are in every copy of the file.
func (chunks) hold() (release func()) { return func() {} }

func (chunks) close() error { return nil }

// putChunks stores p as the document's bytes from the offset on. bbolt reads p
// when the transaction is committed, so the bytes are copied: the caller may
// reuse his.
func putChunks(tx *bbolt.Tx, id string, offset int64, p []byte) error {
	return putSharedChunks(tx, id, offset, bytes.Clone(p))
}

// putSharedChunks is putChunks for bytes that stay as they are until the
// transaction has ended.
func putSharedChunks(tx *bbolt.Tx, id string, offset int64, p []byte) error {
	chunks, err := tx.Bucket([]byte(chunkBuckets)).CreateBucketIfNotExists([]byte(id))
	if err != nil {
		return fmt.Errorf("bolt: document %s: %w", id, err)
	}
	for len(p) > 0 {
		n := min(len(p), chunkSize)
		if err := chunks.Put(number(uint64(offset)), p[:n]); err != nil {
			return fmt.Errorf("bolt: document %s: %w", id, err)
		}
		offset, p = offset+int64(n), p[n:]
	}
	return nil
}

func deleteChunks(tx *bbolt.Tx, id string) error {
	err := tx.Bucket([]byte(chunkBuckets)).DeleteBucket([]byte(id))
	if err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
		return fmt.Errorf("bolt: document %s: %w", id, err)
	}
	return nil
}

// readChunks fills p with the document's bytes from the offset on.
func readChunks(tx *bbolt.Tx, id string, offset int64, p []byte) error {
	chunks := tx.Bucket([]byte(chunkBuckets)).Bucket([]byte(id))
	if chunks == nil {
		return storage.ErrNotFound
	}
	c := chunks.Cursor()
	for k, v := seekChunk(c, offset); len(p) > 0; k, v = c.Next() {
		if k == nil {
			return fmt.Errorf("%w: document %s ends at %d", ErrDamaged, id, offset)
		}
		skip := offset - int64(binary.BigEndian.Uint64(k))
		if skip < 0 || skip >= int64(len(v)) {
			return fmt.Errorf("%w: document %s has no byte %d", ErrDamaged, id, offset)
		}
		n := copy(p, v[skip:])
		offset, p = offset+int64(n), p[n:]
	}
	return nil
}

// seekChunk finds the chunk that the byte at the offset is in.
func seekChunk(c *bbolt.Cursor, offset int64) (k, v []byte) {
	key := number(uint64(offset))
	k, v = c.Seek(key)
	switch {
	case k == nil:
		return c.Last()
	case !bytes.Equal(k, key):
		return c.Prev()
	}
	return k, v
}
