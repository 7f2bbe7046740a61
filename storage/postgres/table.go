package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

// table says where the records of one kind are and in which columns their values. The
// first column is the key.
type table[R any] struct {
	name    string
	columns []string
	// fields are pointers to the values of a record, to be read from and written to, in
	// the order of the columns.
	fields func(*R) []any
}

// insert adds a record; storage.ErrExists when its key or another unique value is taken,
// which leaves the transaction as it was.
func (t table[R]) insert(ctx context.Context, tx pgx.Tx, r R) error {
	tag, err := tx.Exec(ctx, t.inserting(), t.fields(&r)...)
	if err == nil && tag.RowsAffected() == 0 {
		return storage.ErrExists
	}
	return err
}

func (t table[R]) inserting() string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING",
		t.name, strings.Join(t.columns, ", "), strings.Join(parameters(len(t.columns)), ", "))
}

// save adds a record, or replaces the one of that key.
func (t table[R]) save(ctx context.Context, tx pgx.Tx, r R) error {
	set := make([]string, len(t.columns))
	for i, column := range t.columns {
		set[i] = column + " = excluded." + column
	}
	statement := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET %s",
		t.name, strings.Join(t.columns, ", "), strings.Join(parameters(len(t.columns)), ", "), t.columns[0], strings.Join(set[1:], ", "))
	_, err := tx.Exec(ctx, statement, t.fields(&r)...)
	return err
}

// parameters are $1, $2 and so on.
func parameters(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", i+1)
	}
	return list
}

// parameter is the one of the column, in insert and update.
func (t table[R]) parameter(column string) string {
	return fmt.Sprintf("$%d", slices.Index(t.columns, column)+1)
}

// update replaces the record of that key if the condition holds, and says whether there
// was one.
func (t table[R]) update(ctx context.Context, tx pgx.Tx, r R, condition string) (bool, error) {
	set := parameters(len(t.columns))
	for i, column := range t.columns {
		set[i] = column + " = " + set[i]
	}
	fields := t.fields(&r)
	if !storable(fields[0]) {
		return false, nil
	}
	statement := fmt.Sprintf("UPDATE %s SET %s WHERE %s AND %s", t.name, strings.Join(set[1:], ", "), set[0], condition)
	tag, err := tx.Exec(ctx, statement, fields...)
	return err == nil && tag.RowsAffected() == 1, err
}

// replace replaces the record of that key, or answers storage.ErrNotFound.
func (t table[R]) replace(ctx context.Context, tx pgx.Tx, r R) error {
	there, err := t.update(ctx, tx, r, "true")
	if err == nil && !there {
		return storage.ErrNotFound
	}
	return err
}

// remove deletes the record of that key, or answers storage.ErrNotFound.
func (t table[R]) remove(ctx context.Context, tx pgx.Tx, key any) error {
	if !storable(key) {
		return storage.ErrNotFound
	}
	tag, err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE %s = $1", t.name, t.columns[0]), key)
	if err == nil && tag.RowsAffected() == 0 {
		return storage.ErrNotFound
	}
	return err
}

// removeFirst deletes the records of which a column has a time that is the one given or
// before, the earliest first and at most limit of them, and says how many. Those that
// another transaction has in its hands are left to a later call.
func (t table[R]) removeFirst(ctx context.Context, tx pgx.Tx, column string, upTo time.Time, limit int) (int, error) {
	key := t.columns[0]
	tag, err := tx.Exec(ctx, fmt.Sprintf(`DELETE FROM %s WHERE %s = ANY (ARRAY (
		SELECT %s FROM %s WHERE %s <= $1 ORDER BY %[5]s LIMIT $2 FOR UPDATE SKIP LOCKED))`,
		t.name, key, key, t.name, column), upTo, max(limit, 0))
	return int(tag.RowsAffected()), err
}

// find reads the record that the condition singles out, or answers storage.ErrNotFound.
// In a transaction it then stays as it is.
func (t table[R]) find(ctx context.Context, q querier, condition string, args ...any) (r R, err error) {
	return t.findLocked(ctx, q, lock(q), condition, args...)
}

// share is like find, and lets other transactions share the record.
func (t table[R]) share(ctx context.Context, q querier, condition string, args ...any) (r R, err error) {
	mode := ""
	if lock(q) != "" {
		mode = " FOR SHARE"
	}
	return t.findLocked(ctx, q, mode, condition, args...)
}

func (t table[R]) findLocked(ctx context.Context, q querier, lock, condition string, args ...any) (r R, err error) {
	if !storable(args...) {
		return r, storage.ErrNotFound
	}
	err = q.QueryRow(ctx, t.selection(condition)+lock, args...).Scan(t.fields(&r)...)
	return r, err
}

// list reads the records that the condition and what follows it choose.
func (t table[R]) list(ctx context.Context, q querier, condition string, args ...any) ([]R, error) {
	if !storable(args...) {
		return nil, nil
	}
	rows, err := q.Query(ctx, t.selection(condition), args...)
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]R(nil), rows, t.scan)
}

// scan reads the record of a row that has the columns of the table.
func (t table[R]) scan(row pgx.CollectableRow) (r R, err error) {
	err = row.Scan(t.fields(&r)...)
	return r, err
}

func (t table[R]) selection(condition string) string {
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(t.columns, ", "), t.name, condition)
}

// lock ends a query in a transaction: what it reads is not changed by others any more.
func lock(q querier) string {
	if _, within := q.(pgx.Tx); within {
		return " FOR NO KEY UPDATE"
	}
	return ""
}

// storable says whether Postgres could have stored the texts. It refuses others also
// when they are only looked for, and aborts the transaction.
func storable(values ...any) bool {
	return !slices.ContainsFunc(values, func(value any) bool {
		if pointer, ok := value.(*string); ok {
			value = *pointer
		}
		text, ok := value.(string)
		return ok && (!utf8.ValidString(text) || strings.ContainsRune(text, 0))
	})
}
