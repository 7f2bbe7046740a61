package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

var pageRecordTable = table[storage.Record]{
	name:    "page_records",
	columns: []string{"key", "value", "expires"},
	fields:  func(r *storage.Record) []any { return []any{&r.Key, &r.Value, &r.Expires} },
}

// pages is the storage.Records of a DB.
type pages struct{ db *DB }

var _ storage.Records = pages{}

// Pages is the store of what the signing page remembers for a while.
func (db *DB) Pages() storage.Records { return pages{db} }

func (s pages) PutRecord(ctx context.Context, r storage.Record) error {
	if err := s.hold(ctx, r.Key); err != nil {
		return err
	}
	return s.db.write(ctx, func(tx pgx.Tx) error { return pageRecordTable.save(ctx, tx, r) })
}

func (s pages) Record(ctx context.Context, key []byte) (storage.Record, error) {
	if s.db.txn(ctx) != nil {
		if err := s.hold(ctx, key); err != nil {
			return storage.Record{}, err
		}
	}
	return find(ctx, s.db, pageRecordTable, "key = $1", key)
}

func (s pages) DeleteRecord(ctx context.Context, key []byte) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM page_records WHERE key = $1", key)
		return err
	})
}

func (s pages) DeleteRecords(ctx context.Context, until time.Time, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		n, err = pageRecordTable.removeFirst(ctx, tx, "expires", until, limit)
		return err
	})
	return n, err
}

// hold keeps other transactions away from a key until this one ends. A row's own lock does that too,
// but only where there is a row.
func (s pages) hold(ctx context.Context, key []byte) error {
	sum := sha256.Sum256(append([]byte("page record\x00"), key...))
	return s.db.later(ctx, "SELECT pg_advisory_xact_lock($1)", int64(binary.BigEndian.Uint64(sum[:])))
}
