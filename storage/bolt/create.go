package bolt

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage"
)

// createStep is how many bytes of a new document one transaction stores. They
// are read before it begins, so a slow sender never holds up other writers.
const createStep = 8 * chunkSize

// errCreateInTx: Create runs transactions of its own, which would wait for that
// of its context for ever.
var errCreateInTx = errors.New("bolt: a document cannot be created within a transaction")

// creation is a document that is coming in.
type creation struct {
	db      *DB
	id      string
	started time.Time
	stored  int64 // bytes
	sums    sums
}

func (s documents) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	if s.db.txn(ctx) != nil {
		return storage.Ref{}, errCreateInTx
	}
	sums, err := newSums(hashes)
	if err != nil {
		return storage.Ref{}, err
	}
	c := &creation{db: s.db, id: uuid.NewString(), started: time.Now().UTC(), sums: sums}
	if err := c.receive(ctx, r, limit); err != nil {
		c.discard(ctx)
		return storage.Ref{}, err
	}
	return storage.Ref{ID: c.id, Size: c.stored, Sums: sums.sums()}, nil
}

// receive stores what r delivers, step by step.
func (c *creation) receive(ctx context.Context, r io.Reader, limit int64) error {
	step := c.db.steps.Get().(*[createStep]byte)
	defer c.db.steps.Put(step)
	for {
		n, err := fill(r, step[:c.room(limit)])
		if err != nil && err != io.EOF {
			return err
		}
		if int64(n) > limit-c.stored {
			return storage.ErrTooLarge
		}
		c.sums.write(step[:n])
		last := err == io.EOF
		if err := c.store(ctx, step[:n], last); err != nil {
			return fmt.Errorf("bolt: storing a document: %w", err)
		}
		if last {
			return nil
		}
	}
}

// room is how many bytes to ask for: a step's, but no more than it takes to see
// that the document is too large.
func (c *creation) room(limit int64) int64 {
	if rest := limit - c.stored; rest < createStep {
		return max(rest, 0) + 1
	}
	return createStep
}

// store adds the bytes to the document; the last ones complete it.
func (c *creation) store(ctx context.Context, p []byte, last bool) error {
	err := c.db.InTx(ctx, func(ctx context.Context) error {
		return c.db.write(ctx, func(tx *bbolt.Tx) error {
			d, err := c.record(tx)
			if err != nil {
				return err
			}
			if err := putSharedChunks(tx, c.id, c.stored, p); err != nil {
				return err
			}
			d.Size = c.stored + int64(len(p))
			if last {
				d.Complete, d.Hashed = true, c.sums.midstates(d.Size)
			}
			return documentTable.update(tx, c.id, d)
		})
	})
	if err == nil {
		c.stored += int64(len(p))
	}
	return err
}

// record is the document's record so far. It is there from the first bytes on,
// for Sweep to find should the rest never come; when Sweep has found it, the
// document is lost.
func (c *creation) record(tx *bbolt.Tx) (documentRecord, error) {
	if c.stored > 0 {
		return documentTable.get(tx, c.id)
	}
	d := documentRecord{StartedAt: c.started}
	return d, documentTable.insert(tx, c.id, d)
}

// discard removes what was stored of a document that will not be complete, also
// when its sender has gone away. Should that fail, Sweep does it later.
func (c *creation) discard(ctx context.Context) {
	if c.stored == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	_ = c.db.InTx(ctx, func(ctx context.Context) error {
		return documents{c.db}.Delete(ctx, c.id)
	})
}

// maxEmptyReads is how often in a row a reader may deliver nothing.
const maxEmptyReads = 100

// fill reads until p is full or r has an error, and returns that error as it is.
// io.ReadFull would hide whether io.ErrUnexpectedEOF is its own or r's.
func fill(r io.Reader, p []byte) (n int, err error) {
	for empty := 0; n < len(p) && err == nil; {
		var m int
		m, err = r.Read(p[n:])
		n += m
		if m > 0 {
			empty = 0
		} else if empty++; empty > maxEmptyReads && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}
