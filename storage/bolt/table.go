package bolt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// table keeps the records of one kind by id in a bucket of its own, and the indexes over them. The records are JSON, unless
// encode and decode are set.
type table[R any] struct {
	bucket  string
	indexes []index[R]
	// grows: keys of new records are behind all others.
	grows  bool
	encode func(*row[R]) ([]byte, error)
	decode func([]byte) (row[R], error)
}

// row is a record as it is stored.
type row[R any] struct {
	Seq    uint64 `json:"seq"` // its place in the order of creation
	Record R      `json:"record"`
}

func (t table[R]) buckets() []string {
	names := []string{t.bucket}
	for _, ix := range t.indexes {
		names = append(names, ix.bucket)
	}
	return names
}

// get reads the record, or answers storage.ErrNotFound.
func (t table[R]) get(tx *boltTx, id string) (R, error) {
	r, err := t.row(tx, id)
	return r.Record, err
}

// has reports whether there is a record of that id.
func (t table[R]) has(tx *boltTx, id string) bool {
	return tx.Bucket([]byte(t.bucket)).Get([]byte(id)) != nil
}

func (t table[R]) row(tx *boltTx, id string) (row[R], error) {
	var r row[R]
	value := tx.Bucket([]byte(t.bucket)).Get([]byte(id))
	if value == nil {
		return r, storage.ErrNotFound
	}
	var err error
	if t.decode != nil {
		r, err = t.decode(value)
	} else {
		err = json.Unmarshal(value, &r)
	}
	if err != nil {
		return r, fmt.Errorf("%w: %s %q: %w", ErrDamaged, t.bucket, id, err)
	}
	return r, nil
}

// insert adds a record; storage.ErrExists when its id or a unique key is taken.
func (t table[R]) insert(tx *boltTx, id string, record R) error {
	bucket := tx.Bucket([]byte(t.bucket))
	if bucket.Get([]byte(id)) != nil {
		return storage.ErrExists
	}
	r := row[R]{Record: record}
	err := t.free(tx, id, r) // the keys of unique indexes do not have the sequence
	if err != nil {
		return err
	}
	if r.Seq, err = bucket.NextSequence(); err != nil {
		return fmt.Errorf("bolt: %s: %w", t.bucket, err)
	}
	return t.put(tx, id, nil, &r)
}

// update replaces a record, which keeps its place in the order of creation.
func (t table[R]) update(tx *boltTx, id string, record R) error {
	return t.change(tx, id, func(r *R) error { *r = record; return nil })
}

// change reads a record and stores it as to changes it; an error of to leaves it as it was.
func (t table[R]) change(tx *boltTx, id string, to func(*R) error) error {
	old, err := t.row(tx, id)
	if err != nil {
		return err
	}
	r := old
	if err := to(&r.Record); err != nil {
		return err
	}
	if err := t.free(tx, id, r); err != nil {
		return err
	}
	return t.put(tx, id, &old, &r)
}

// save adds a record, or replaces the one of that id.
func (t table[R]) save(tx *boltTx, id string, record R) error {
	if t.has(tx, id) {
		return t.update(tx, id, record)
	}
	return t.insert(tx, id, record)
}

// remove deletes a record, or answers storage.ErrNotFound.
func (t table[R]) remove(tx *boltTx, id string) error {
	return t.removeIf(tx, id, func(R) error { return nil })
}

// removeIf deletes a record of which there is no error.
func (t table[R]) removeIf(tx *boltTx, id string, check func(R) error) error {
	old, err := t.row(tx, id)
	if err != nil {
		return err
	}
	if err := check(old.Record); err != nil {
		return err
	}
	if err := t.move(tx, id, &old, nil); err != nil {
		return err
	}
	return tx.Bucket([]byte(t.bucket)).Delete([]byte(id))
}

// free answers storage.ErrExists when another record has a unique key of this
// one. It comes before anything is written, so that a refused record leaves the
// transaction as it was.
func (t table[R]) free(tx *boltTx, id string, r row[R]) error {
	for _, ix := range t.indexes {
		if !ix.unique {
			continue
		}
		for _, key := range ix.entries(&r) {
			if holder := tx.Bucket([]byte(ix.bucket)).Get(key); holder != nil && string(holder) != id {
				return storage.ErrExists
			}
		}
	}
	return nil
}

// put stores a record in place of what was there; nil: nothing.
func (t table[R]) put(tx *boltTx, id string, was, is *row[R]) error {
	encode := func(r *row[R]) ([]byte, error) { return json.Marshal(r) }
	if t.encode != nil {
		encode = t.encode
	}
	value, err := encode(is)
	if err != nil {
		return fmt.Errorf("bolt: %s %q: %w", t.bucket, id, err)
	}
	records := tx.Bucket([]byte(t.bucket))
	if t.grows {
		records.fillPages()
	}
	err = errors.Join(records.Put([]byte(id), value), t.move(tx, id, was, is))
	if err != nil {
		return fmt.Errorf("bolt: %s %q: %w", t.bucket, id, err)
	}
	return nil
}

// move is that of each index.
func (t table[R]) move(tx *boltTx, id string, was, is *row[R]) error {
	for _, ix := range t.indexes {
		if err := ix.move(tx, id, was, is); err != nil {
			return fmt.Errorf("bolt: %s: %w", ix.bucket, err)
		}
	}
	return nil
}

// find reads the record with a key of a unique index, or answers
// storage.ErrNotFound.
func (t table[R]) find(tx *boltTx, ix index[R], key []byte) (R, error) {
	id := tx.Bucket([]byte(ix.bucket)).Get(key)
	if id == nil {
		var none R
		return none, storage.ErrNotFound
	}
	record, err := t.get(tx, string(id))
	if err != nil {
		return record, ix.contradicts(string(id), err)
	}
	return record, nil
}

// list reads the first records in the span of an index, at most limit.
func (t table[R]) list(tx *boltTx, ix index[R], in span, limit int) ([]R, error) {
	var list []R
	for _, id := range ix.ids(tx, in, limit) {
		record, err := t.get(tx, id)
		if err != nil {
			return nil, ix.contradicts(id, err)
		}
		list = append(list, record)
	}
	return list, nil
}

// removeFirst deletes the first records in the span of an index, at most limit,
// and returns how many.
func (t table[R]) removeFirst(tx *boltTx, ix index[R], in span, limit int) (int, error) {
	ids := ix.ids(tx, in, limit)
	for _, id := range ids {
		if err := t.remove(tx, id); err != nil {
			return 0, ix.contradicts(id, err)
		}
	}
	return len(ids), nil
}

// read reads one record, in the context's transaction if it carries one.
func read[R any](ctx context.Context, db *DB, t table[R], id string) (record R, err error) {
	err = db.read(ctx, func(tx *boltTx) error {
		record, err = t.get(tx, id)
		return err
	})
	return record, err
}

// list reads the records in the span of an index, in its order.
func list[R any](ctx context.Context, db *DB, t table[R], ix index[R], in span) (records []R, err error) {
	return first(ctx, db, t, ix, in, noLimit)
}

// first reads the first records in the span of an index, at most limit.
func first[R any](ctx context.Context, db *DB, t table[R], ix index[R], in span, limit int) (records []R, err error) {
	err = db.read(ctx, func(tx *boltTx) error {
		records, err = t.list(tx, ix, in, limit)
		return err
	})
	return records, err
}

// convert returns stored records as values of their domain.
func convert[R, D any](records []R, to func(R) D) []D {
	var list []D
	for _, r := range records {
		list = append(list, to(r))
	}
	return list
}

// removeBefore deletes the first records of an index by time that are earlier, at most limit, and
// returns how many.
func removeBefore[R any](ctx context.Context, db *DB, t table[R], byTime index[R], earlier time.Time, limit int) (n int, err error) {
	err = db.write(ctx, func(tx *boltTx) error {
		n, err = t.removeFirst(tx, byTime, before(earlier), limit)
		return err
	})
	return n, err
}
