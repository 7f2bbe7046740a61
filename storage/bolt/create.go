package bolt

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// createStep is how many bytes of a new document are stored at once. They are read
// before the transaction that stores them begins, so a slow sender never holds up other
// writers.
const createStep = 8 * chunkSize

// errCreateInTx: Create runs transactions of its own, which would wait for that
// of its context for ever.
var errCreateInTx = errors.New("bolt: a document cannot be created within a transaction")

// creation is a document that is coming in.
type creation struct {
	id      string
	started time.Time
	size    int64 // bytes that have come in
	sums    document.Sums
}

// record is that of the document when it is complete.
func (c *creation) record() documentRecord {
	return documentRecord{StartedAt: c.started, Complete: true, Size: c.size, Hashed: c.sums.Midstates(c.size)}
}

func (s documents) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	if s.db.txn(ctx) != nil {
		return storage.Ref{}, errCreateInTx
	}
	sums, err := document.NewSums(hashes)
	if err != nil {
		return storage.Ref{}, err
	}
	c := &creation{id: uuid.NewString(), started: time.Now().UTC(), sums: sums}
	in := s.db.contents.create(c)
	if err := s.receive(ctx, c, in, r, limit); err != nil {
		in.discard(context.WithoutCancel(ctx)) // also when its sender has gone away
		return storage.Ref{}, err
	}
	return storage.Ref{ID: c.id, Size: c.size, Sums: sums.Digests()}, nil
}

// receive stores what r delivers, step by step.
func (s documents) receive(ctx context.Context, c *creation, in intake, r io.Reader, limit int64) error {
	step := s.db.steps.Get().(*[createStep]byte)
	defer s.db.steps.Put(step)
	return document.Receive(r, limit, step[:], func(p []byte, last bool) error {
		c.sums.Write(p)
		c.size += int64(len(p))
		if err := in.store(ctx, p, last); err != nil {
			return fmt.Errorf("bolt: storing a document: %w", meaning(err))
		}
		return nil
	})
}
