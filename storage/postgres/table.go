package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/innsigli/innsigli/storage"
)

// table describes how the records of one type are stored: the table's name and its columns, of which the first
// is the key.
type table[R any] struct {
	name    string
	columns []string
	// fields returns pointers to the values of a record in the order of the columns, to scan into and to write
	// from.
	fields func(*R) []any
}

// insert adds a record. If its key or another unique value exists, it returns storage.ErrExists, and the
// transaction can go on.
func (t table[R]) insert(ctx context.Context, tx pgx.Tx, r R) error {
	tag, err := tx.Exec(ctx, t.insertStatement(), t.fields(&r)...)
	if err == nil && tag.RowsAffected() == 0 {
		return storage.ErrExists
	}
	return err
}

func (t table[R]) insertStatement() string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING",
		t.name, strings.Join(t.columns, ", "), strings.Join(parameters(len(t.columns)), ", "))
}

// saveStatement adds a record, or replaces the one with its key.
func (t table[R]) saveStatement() string {
	set := make([]string, len(t.columns))
	for i, column := range t.columns {
		set[i] = column + " = excluded." + column
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET %s",
		t.name, strings.Join(t.columns, ", "), strings.Join(parameters(len(t.columns)), ", "), t.columns[0], strings.Join(set[1:], ", "))
}

// parameters returns $1, $2 and so on.
func parameters(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", i+1)
	}
	return list
}

// parameter returns the parameter of a column in the statements of insert and update.
func (t table[R]) parameter(column string) string {
	return fmt.Sprintf("$%d", slices.Index(t.columns, column)+1)
}

// update replaces the record with r's key if the condition holds, and reports whether it replaced one.
func (t table[R]) update(ctx context.Context, tx pgx.Tx, r R, condition string) (bool, error) {
	fields := t.fields(&r)
	if !storable(fields[0]) {
		return false, nil
	}
	tag, err := tx.Exec(ctx, t.updateStatement(condition), fields...)
	return err == nil && tag.RowsAffected() == 1, err
}

func (t table[R]) updateStatement(condition string) string {
	set := parameters(len(t.columns))
	for i, column := range t.columns {
		set[i] = column + " = " + set[i]
	}
	return fmt.Sprintf("UPDATE %s SET %s WHERE %s AND %s", t.name, strings.Join(set[1:], ", "), set[0], condition)
}

// replace replaces the record with r's key; storage.ErrNotFound if there is none.
func (t table[R]) replace(ctx context.Context, tx pgx.Tx, r R) error {
	updated, err := t.update(ctx, tx, r, "true")
	if err == nil && !updated {
		return storage.ErrNotFound
	}
	return err
}

// remove deletes the record with the key; storage.ErrNotFound if there is none.
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

// removeFirst deletes records whose time in the column is not after upTo, the earliest first and at most limit
// of them, and returns how many. It skips records that another transaction has locked.
func (t table[R]) removeFirst(ctx context.Context, tx pgx.Tx, column string, upTo time.Time, limit int) (int, error) {
	key := t.columns[0]
	tag, err := tx.Exec(ctx, fmt.Sprintf(`DELETE FROM %s WHERE %s = ANY (ARRAY (
		SELECT %s FROM %s WHERE %s <= $1 ORDER BY %[5]s LIMIT $2 FOR UPDATE SKIP LOCKED))`,
		t.name, key, key, t.name, column), upTo, max(limit, 0))
	return int(tag.RowsAffected()), err
}

// find returns the record for which the condition holds; storage.ErrNotFound if there is none. In a transaction
// it locks the record.
func (t table[R]) find(ctx context.Context, q querier, condition string, args ...any) (r R, err error) {
	return t.findLocked(ctx, q, rowLock(q), condition, args...)
}

// share is like find, and lets other transactions share the record.
func (t table[R]) share(ctx context.Context, q querier, condition string, args ...any) (r R, err error) {
	mode := ""
	if rowLock(q) != "" {
		mode = " FOR SHARE"
	}
	return t.findLocked(ctx, q, mode, condition, args...)
}

func (t table[R]) findLocked(ctx context.Context, q querier, lock, condition string, args ...any) (r R, err error) {
	if !storable(args...) {
		return r, storage.ErrNotFound
	}
	err = q.QueryRow(ctx, t.selectStatement(condition)+lock, args...).Scan(t.fields(&r)...)
	return r, err
}

// list returns the records for which the condition holds. The condition may include ORDER BY and LIMIT clauses.
func (t table[R]) list(ctx context.Context, q querier, condition string, args ...any) ([]R, error) {
	if !storable(args...) {
		return nil, nil
	}
	rows, err := q.Query(ctx, t.selectStatement(condition), args...)
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

func (t table[R]) selectStatement(condition string) string {
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s", strings.Join(t.columns, ", "), t.name, condition)
}

// rowLock returns the clause that locks the rows which a query reads in a transaction, so that other
// transactions cannot change them.
func rowLock(q querier) string {
	if _, within := q.(pgx.Tx); within {
		return " FOR NO KEY UPDATE"
	}
	return ""
}

// storable reports whether Postgres can store the texts among the values. Postgres also refuses other texts in
// a condition, and aborts the transaction.
func storable(values ...any) bool {
	return !slices.ContainsFunc(values, func(value any) bool {
		if pointer, ok := value.(*string); ok {
			value = *pointer
		}
		text, ok := value.(string)
		return ok && (!utf8.ValidString(text) || strings.ContainsRune(text, 0))
	})
}

// find returns one record, read in the context's transaction if it carries one.
func find[R any](ctx context.Context, db *DB, t table[R], condition string, args ...any) (record R, err error) {
	err = db.read(ctx, func(q querier) error {
		record, err = t.find(ctx, q, condition, args...)
		return err
	})
	return record, err
}

// list returns records, read in the context's transaction if it carries one.
func list[R any](ctx context.Context, db *DB, t table[R], condition string, args ...any) (records []R, err error) {
	err = db.read(ctx, func(q querier) error {
		records, err = t.list(ctx, q, condition, args...)
		return err
	})
	return records, err
}

// convert converts rows to the records of their domain.
func convert[R, D any](records []R, to func(R) D) []D {
	var list []D
	for _, r := range records {
		list = append(list, to(r))
	}
	return list
}

// deleteFirst deletes records whose time in the column is before ("<") or not after ("<=") the one given, the
// earliest first and at most limit of them, and returns how many. It selects them by their ctid, which needs no
// index and does not change while they are locked.
func deleteFirst[R any](ctx context.Context, db *DB, t table[R], column, comparison string, at time.Time, limit int) (n int, err error) {
	err = db.write(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, fmt.Sprintf(`DELETE FROM %s WHERE ctid = ANY (ARRAY (
			SELECT ctid FROM %[1]s WHERE %[2]s %[3]s $1 ORDER BY %[2]s LIMIT $2 FOR UPDATE SKIP LOCKED))`, t.name, column, comparison), at, max(limit, 0))
		n = int(tag.RowsAffected())
		return err
	})
	return n, err
}

// deleteSome deletes up to limit records with a value in the column, and returns how many.
func deleteSome[R any](ctx context.Context, db *DB, t table[R], column, value string, limit int) (n int, err error) {
	err = db.write(ctx, func(tx pgx.Tx) error {
		if !storable(value) {
			return nil
		}
		tag, err := tx.Exec(ctx, fmt.Sprintf(`DELETE FROM %s WHERE ctid = ANY (ARRAY (
			SELECT ctid FROM %[1]s WHERE %[2]s = $1 LIMIT $2 FOR UPDATE))`, t.name, column), value, max(limit, 0))
		n = int(tag.RowsAffected())
		return err
	})
	return n, err
}

// deleteReturning is like deleteSome, and returns the records that it deleted.
func deleteReturning[R any](ctx context.Context, tx pgx.Tx, t table[R], column, value string, limit int) ([]R, error) {
	if !storable(value) {
		return nil, nil
	}
	rows, err := tx.Query(ctx, fmt.Sprintf(`DELETE FROM %s WHERE ctid = ANY (ARRAY (
		SELECT ctid FROM %[1]s WHERE %[2]s = $1 LIMIT $2 FOR UPDATE)) RETURNING %[3]s`, t.name, column, strings.Join(t.columns, ", ")), value, max(limit, 0))
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows([]R(nil), rows, t.scan)
}

// moment is a time.Time whose zero value is stored as NULL.
type moment time.Time

var (
	_ pgtype.TimestamptzScanner = (*moment)(nil)
	_ pgtype.TimestamptzValuer  = (*moment)(nil)
)

func (m *moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	*m = moment(v.Time)
	return nil
}

func (m *moment) TimestamptzValue() (pgtype.Timestamptz, error) {
	t := time.Time(*m)
	return pgtype.Timestamptz{Time: t, Valid: !t.IsZero()}, nil
}

// encoded stores a value as JSON in a column that no statement looks into; nil is stored as NULL.
type encoded[T any] struct{ value *T }

var (
	_ sql.Scanner   = encoded[any]{}
	_ driver.Valuer = encoded[any]{}
)

func (e encoded[T]) Value() (driver.Value, error) {
	text, err := json.Marshal(e.value)
	if err != nil || string(text) == "null" {
		return nil, err
	}
	return string(text), nil
}

func (e encoded[T]) Scan(source any) error {
	switch text := source.(type) {
	case nil:
		*e.value = *new(T)
		return nil
	case string:
		return json.Unmarshal([]byte(text), e.value)
	case []byte:
		return json.Unmarshal(text, e.value)
	}
	return fmt.Errorf("postgres: JSON is read as %T", source)
}
