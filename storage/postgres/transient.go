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

// Pages returns the store of what the signing page remembers for a limited time.
func (db *DB) Pages() storage.Records { return pages{db} }

func (s pages) PutRecord(ctx context.Context, r storage.Record) error {
	if err := s.lockKey(ctx, r.Key); err != nil {
		return err
	}
	return s.db.queueExec(ctx, pageRecordTable.saveStatement(), pageRecordTable.fields(&r)...)
}

func (s pages) Record(ctx context.Context, key []byte) (storage.Record, error) {
	if s.db.txn(ctx) != nil {
		if err := s.lockKey(ctx, key); err != nil {
			return storage.Record{}, err
		}
	}
	return find(ctx, s.db, pageRecordTable, "key = $1", key)
}

func (s pages) DeleteRecord(ctx context.Context, key []byte) error {
	return s.db.queueExec(ctx, "DELETE FROM page_records WHERE key = $1", key)
}

func (s pages) DeleteRecords(ctx context.Context, until time.Time, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		n, err = pageRecordTable.removeFirst(ctx, tx, "expires", until, limit)
		return err
	})
	return n, err
}

// lockKey locks a key until the end of the transaction, whether or not there is a record with it. A row lock
// needs a row.
func (s pages) lockKey(ctx context.Context, key []byte) error {
	sum := sha256.Sum256(append([]byte("page record\x00"), key...))
	return s.db.queueExec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(binary.BigEndian.Uint64(sum[:])))
}

// buckets is the storage.Buckets of a DB.
type buckets struct{ db *DB }

var _ storage.Buckets = buckets{}

// Buckets returns the rate limits of all servers. The table is UNLOGGED: after a crash of the database, and on
// a standby, all buckets are full.
func (db *DB) Buckets() storage.Buckets { return buckets{db} }

// drawTokens takes up to $2 tokens from the bucket $1, which holds $4 tokens and regains one every $3. The
// bucket's level is stored as the time at which it will be full.
const drawTokens = `INSERT INTO rate_buckets AS b (key, drawn, full_at)
	VALUES ($1, least($2::int, $4::int), statement_timestamp() + least($2::int, $4::int) * $3::interval)
	ON CONFLICT (key) DO UPDATE SET (drawn, full_at) = (
		SELECT free, since + free * $3::interval
		FROM (SELECT greatest(b.full_at, statement_timestamp()) AS since) AS s,
		LATERAL (SELECT least($2::int, greatest(0, $4::int - ceil(extract(epoch FROM since - statement_timestamp()) / extract(epoch FROM $3::interval))))::int AS free) AS f)
	RETURNING drawn, (extract(epoch FROM greatest(full_at, statement_timestamp()) - statement_timestamp()) * 1000000)::bigint`

// Draw is a single statement. It may run twice if the connection breaks, and then loses tokens.
func (s buckets) Draw(ctx context.Context, key string, r storage.Rate, n int) (drawn int, full time.Duration, err error) {
	var microseconds int64
	err = s.db.read(ctx, func(q querier) error {
		return q.QueryRow(ctx, drawTokens, key, n, r.Cost(), r.Burst).Scan(&drawn, &microseconds)
	})
	return drawn, time.Duration(microseconds) * time.Microsecond, err
}

func (s buckets) DeleteFull(ctx context.Context, limit int) (n int, err error) {
	err = s.db.read(ctx, func(q querier) error {
		tag, err := q.Exec(ctx, `DELETE FROM rate_buckets WHERE key IN (
			SELECT key FROM rate_buckets WHERE full_at < statement_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED)`, limit)
		n = int(tag.RowsAffected())
		return err
	})
	return n, err
}
