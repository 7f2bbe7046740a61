package bolt

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// created has the records of documents that Create has stored and no transaction has changed yet. The transaction that
// keeps a document stores its record, which saves a commit for each. If the process dies before, the file is without a
// record and swept: nothing refers to the document.
//
// A record that a transaction deletes is hidden from it and from later transactions of its group, and removed with their
// commit, before the next transaction begins. Until then, reads outside a transaction find it.
type created struct {
	mu      sync.Mutex
	records map[string]documentRecord
}

func (c *created) add(id string, d documentRecord) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.records == nil {
		c.records = map[string]documentRecord{}
	}
	c.records[id] = d
}

func (c *created) get(id string) (d documentRecord, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, found = c.records[id]
	return d, found
}

// remove removes a record, because the store has it, or because the document is deleted.
func (c *created) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.records, id)
}

// before returns the IDs of documents that were begun before a time.
func (c *created) before(earlier time.Time) (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, d := range c.records {
		if d.StartedAt.Before(earlier) {
			ids = append(ids, id)
		}
	}
	return ids
}

// createdFor returns the record of a document in memory, unless it is deleted for a transaction.
func (f *folder) createdFor(tx *boltTx, id string) (d documentRecord, found bool) {
	if tx.erased[id] {
		return d, false
	}
	return f.created.get(id)
}

// record returns the record of a document, stored or not.
func (f *folder) record(tx *boltTx, id string) (documentRecord, error) {
	d, isCreated := f.createdFor(tx, id) // before the store is read: the record may be stored meanwhile
	stored, err := documentTable.get(tx, id)
	if isCreated && errors.Is(err, storage.ErrNotFound) {
		return d, nil
	}
	return stored, err
}

// has reports whether there is a document.
func (f *folder) has(tx *boltTx, id string) bool {
	_, isCreated := f.createdFor(tx, id)
	return isCreated || documentTable.has(tx, id)
}

// store stores the record of a document that is not stored yet, in a transaction that is about to change it. The caller is
// within write.
func (f *folder) store(t *txn, id string) error {
	d, isCreated := f.createdFor(t.tx, id)
	if !isCreated || documentTable.has(t.tx, id) {
		return nil
	}
	t.afterCommit(func() { f.created.remove(id) })
	return documentTable.insert(t.tx, id, d)
}

// sweepCreated deletes the documents that were begun before a time and whose records are not stored, and returns how many.
// While it has the turn, no transaction stores one.
func (f *folder) sweepCreated(ctx context.Context, earlier time.Time) (n int, err error) {
	old := f.created.before(earlier)
	if len(old) == 0 {
		return 0, nil
	}
	if err := f.db.pause(ctx); err != nil {
		return 0, err
	}
	defer f.db.resume()
	err = f.db.view(func(tx *boltTx) error {
		for _, id := range old {
			if !documentTable.has(tx, id) {
				f.unlink(id)
				n++
			}
			f.created.remove(id)
		}
		return nil
	})
	return n, err
}
