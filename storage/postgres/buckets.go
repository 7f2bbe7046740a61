package postgres

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// buckets is the storage.Buckets of a DB.
type buckets struct{ db *DB }

var _ storage.Buckets = buckets{}

// Buckets counts what happens on all servers. They do not survive a crash of the database, nor
// does a standby have them: then all are full.
func (db *DB) Buckets() storage.Buckets { return buckets{db} }

// drawing takes what is there of $2 tokens that each need $3 to come back, of $4 in all. What is missing is
// told by when it will be back.
const drawing = `INSERT INTO rate_buckets AS b (key, drawn, full_at)
	VALUES ($1, least($2::int, $4::int), statement_timestamp() + least($2::int, $4::int) * $3::interval)
	ON CONFLICT (key) DO UPDATE SET (drawn, full_at) = (
		SELECT free, since + free * $3::interval
		FROM (SELECT greatest(b.full_at, statement_timestamp()) AS since) AS s,
		LATERAL (SELECT least($2::int, greatest(0, $4::int - ceil(extract(epoch FROM since - statement_timestamp()) / extract(epoch FROM $3::interval))))::int AS free) AS f)
	RETURNING drawn, (extract(epoch FROM greatest(full_at, statement_timestamp()) - statement_timestamp()) * 1000000)::bigint`

// Draw is one statement, which may run twice when the connection was broken: then tokens are lost.
func (s buckets) Draw(ctx context.Context, key string, r storage.Rate, n int) (drawn int, full time.Duration, err error) {
	var microseconds int64
	err = s.db.read(ctx, func(q querier) error {
		return q.QueryRow(ctx, drawing, key, n, r.Cost(), r.Burst).Scan(&drawn, &microseconds)
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
