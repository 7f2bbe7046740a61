package bolt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/internal/document"
)

// A document is a record in documentTable, and its bytes are where contents keeps them.
var (
	// unkept are the documents that may be swept, by age.
	unkept = index[documentRecord]{bucket: "document.unkept", key: func(d documentRecord) []byte {
		if d.Kept {
			return nil
		}
		return instant(d.StartedAt)
	}}
	documentTable = table[documentRecord]{bucket: "document", indexes: []index[documentRecord]{unkept}}
)

// sweepStep is how many documents one transaction of Sweep removes.
const sweepStep = 16

type documentRecord struct {
	StartedAt time.Time           `json:"startedAt"` // when its Create began
	Complete  bool                `json:"complete"`  // its Create has ended
	Kept      bool                `json:"kept"`
	Size      int64               `json:"size"` // bytes
	Hashed    []document.Midstate `json:"hashed,omitempty"`
}

// documents is the storage.Documents of a DB.
type documents struct{ db *DB }

var _ storage.Documents = documents{}

// Documents is the store of documents.
func (db *DB) Documents() storage.Documents { return documents{db} }

// complete reads the record of a document that has been created to its end; one
// that is still coming in does not exist for anybody else.
func complete(tx *bbolt.Tx, id string) (documentRecord, error) {
	d, err := documentTable.get(tx, id)
	if err == nil && !d.Complete {
		err = storage.ErrNotFound
	}
	return d, err
}

func (s documents) Keep(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		d, err := complete(tx, id)
		if err != nil {
			return err
		}
		d.Kept = true
		return documentTable.update(tx, id, d)
	})
}

func (s documents) Append(ctx context.Context, id string, revisions ...storage.Revision) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		d, err := complete(tx, id)
		if err != nil {
			return err
		}
		if !document.Follow(d.Size, revisions) {
			return storage.ErrMoved
		}
		for _, r := range revisions {
			if err := s.db.contents.append(tx, id, d.Size, r.Bytes); err != nil {
				return meaning(err)
			}
			d.Size += int64(len(r.Bytes))
			d.Hashed = document.Replaced(d.Hashed, r.Hashed)
		}
		return documentTable.update(tx, id, d)
	})
}

func (s documents) Delete(ctx context.Context, id string) error {
	return s.db.write(ctx, func(*bbolt.Tx) error {
		return s.db.erase(s.db.txn(ctx), id)
	})
}

// erase removes what there is of the document.
func (db *DB) erase(t *txn, id string) error {
	err := documentTable.remove(t.tx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return db.contents.remove(t, id)
}

func (s documents) Sweep(ctx context.Context, earlier time.Time) (total int, err error) {
	for n := sweepStep; n == sweepStep && err == nil; total += n {
		n, err = s.sweep(ctx, earlier)
	}
	if err == nil {
		var n int
		n, err = s.db.contents.sweep(ctx, earlier)
		total += n
	}
	if err != nil {
		return total, fmt.Errorf("bolt: sweeping documents: %w", err)
	}
	return total, nil
}

// sweep removes the oldest few.
func (s documents) sweep(ctx context.Context, earlier time.Time) (n int, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		return s.db.write(ctx, func(tx *bbolt.Tx) error {
			ids := unkept.ids(tx, before(earlier), sweepStep)
			for _, id := range ids {
				if err := s.db.erase(s.db.txn(ctx), id); err != nil {
					return err
				}
			}
			n = len(ids)
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
