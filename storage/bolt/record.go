package bolt

import (
	"context"
	"time"

	"go.etcd.io/bbolt"
)

// read reads one record, in the context's transaction if it carries one.
func read[R any](ctx context.Context, db *DB, t table[R], id string) (record R, err error) {
	err = db.read(ctx, func(tx *bbolt.Tx) error {
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
	err = db.read(ctx, func(tx *bbolt.Tx) error {
		records, err = t.list(tx, ix, in, limit)
		return err
	})
	return records, err
}

// convert makes of records as they are stored what their domain calls them.
func convert[R, D any](records []R, to func(R) D) []D {
	var list []D
	for _, r := range records {
		list = append(list, to(r))
	}
	return list
}

// removeBefore deletes the first records of an index by time that are earlier, at most limit, and
// says how many.
func removeBefore[R any](ctx context.Context, db *DB, t table[R], byTime index[R], earlier time.Time, limit int) (n int, err error) {
	err = db.write(ctx, func(tx *bbolt.Tx) error {
		n, err = t.removeFirst(tx, byTime, before(earlier), limit)
		return err
	})
	return n, err
}
