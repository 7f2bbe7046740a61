package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// find reads one record, in the context's transaction if it carries one.
func find[R any](ctx context.Context, db *DB, t table[R], condition string, args ...any) (record R, err error) {
	err = db.read(ctx, func(q querier) error {
		record, err = t.find(ctx, q, condition, args...)
		return err
	})
	return record, err
}

// list reads records, in the context's transaction if it carries one.
func list[R any](ctx context.Context, db *DB, t table[R], condition string, args ...any) (records []R, err error) {
	err = db.read(ctx, func(q querier) error {
		records, err = t.list(ctx, q, condition, args...)
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

// deleteFirst deletes the records of which a column has a time that is "<" or "<=" the one given, the
// earliest first and at most limit of them, and says how many. They are named by their place in the
// table, which needs no index: it does not change while they are locked.
func deleteFirst[R any](ctx context.Context, db *DB, t table[R], column, comparison string, at time.Time, limit int) (n int, err error) {
	err = db.write(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, fmt.Sprintf(`DELETE FROM %s WHERE ctid = ANY (ARRAY (
			SELECT ctid FROM %[1]s WHERE %[2]s %[3]s $1 ORDER BY %[2]s LIMIT $2 FOR UPDATE SKIP LOCKED))`, t.name, column, comparison), at, max(limit, 0))
		n = int(tag.RowsAffected())
		return err
	})
	return n, err
}

// deleteSome deletes up to limit records of which a column has a value, and returns how many.
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

// moment is a time that may not be set, which is NULL.
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

// encoded is a structure that no statement looks into, as JSON; nil is NULL.
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
