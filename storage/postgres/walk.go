package postgres

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// listBatch is how many records of a long list are read at once. Between batches there is
// no transaction, so that who goes through the list may take his time.
const listBatch = 256

// way is how a long list is gone through: in the order of columns whose values no two of its
// records share, and of which there is an index.
type way struct {
	where      string // which records; empty: all
	args       []any
	order      []string
	descending bool
}

// all goes through all records of a table.
func all[R, D any](ctx context.Context, db *DB, t table[R], to func(R) D, order ...string) iter.Seq2[D, error] {
	return some(ctx, db, t, to, way{order: order})
}

// some goes through records of a table.
func some[R, D any](ctx context.Context, db *DB, t table[R], to func(R) D, w way) iter.Seq2[D, error] {
	return func(yield func(D, error) bool) {
		for r, err := range walk(ctx, db, t, w) {
			if !yield(to(r), err) {
				return
			}
		}
	}
}

// walk goes through the records.
func walk[R any](ctx context.Context, db *DB, t table[R], w way) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for last := []any(nil); ; {
			records, next, err := batch(ctx, db, t, w, last)
			if err != nil {
				var none R
				yield(none, err)
				return
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			if len(records) < listBatch {
				return
			}
			last = next
		}
	}
}

// batch reads the records that come after the one with these values of the columns that
// they are ordered by, and says which the last one has.
func batch[R any](ctx context.Context, db *DB, t table[R], w way, after []any) (records []R, last []any, err error) {
	if !storable(w.args...) {
		return nil, nil, nil
	}
	last = make([]any, len(w.order))
	var keys []any
	for i := range last {
		keys = append(keys, &last[i])
	}
	err = db.read(ctx, func(q querier) error {
		rows, err := q.Query(ctx, w.statement(t.name, t.columns, after != nil), slices.Concat(w.args, after)...)
		if err != nil {
			return err
		}
		records, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r R, err error) {
			return r, row.Scan(append(t.fields(&r), keys...)...)
		})
		return err
	})
	return records, last, err
}

// statement selects columns and those of the order, from the first record on or behind another,
// whose values come after the arguments.
func (w way) statement(table string, columns []string, behind bool) string {
	comparison, direction, where := ">", "", cmp.Or(w.where, "true")
	if w.descending {
		comparison, direction = "<", " DESC"
	}
	order := strings.Join(w.order, ", ")
	if behind {
		values := parameters(len(w.args) + len(w.order))[len(w.args):]
		where += fmt.Sprintf(" AND (%s) %s (%s)", order, comparison, strings.Join(values, ", "))
	}
	return fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s ORDER BY %s LIMIT %d",
		strings.Join(columns, ", "), order, table, where, strings.Join(w.order, direction+", ")+direction, listBatch)
}
