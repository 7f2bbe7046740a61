package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

// claimTurn is locked by the transaction that claims jobs of a kind: so each of them sees
// what the one before has leased, and perGroup holds over all servers. The statement after
// it is planned once for a connection, perhaps when there are few jobs, and shall not go
// through all of them when there are many.
const claimTurn = `SELECT set_config('enable_seqscan', 'off', true), pg_advisory_xact_lock(hashtextextended('innsigli.jobs:' || $1, 0))`

// claim goes from group to group and looks at the first few jobs of each, so that a long
// backlog of one costs nothing. Of these it takes those first whose groups have the fewest
// jobs in work, so that a group with many waiting keeps none from the others; of equal
// ones, those that have been waiting longest. A job that another transaction has locked
// is left alone: it is being finished or given back.
const claim = `
WITH RECURSIVE groups AS (
	(SELECT grp FROM jobs WHERE kind = $1 ORDER BY grp LIMIT 1)
	UNION ALL
	SELECT (SELECT j.grp FROM jobs j WHERE j.kind = $1 AND j.grp > g.grp ORDER BY j.grp LIMIT 1)
	FROM groups g WHERE g.grp IS NOT NULL
), chosen AS (
	SELECT first.seq
	FROM groups g
	CROSS JOIN LATERAL (
		SELECT count(*) AS n
		FROM (SELECT FROM jobs j WHERE j.kind = $1 AND j.grp = g.grp AND j.leased_until > $2 LIMIT $4) leased
	) running
	CROSS JOIN LATERAL (
		SELECT j.seq, j.ready, running.n + row_number() OVER (ORDER BY j.ready, j.seq) AS turn
		FROM (
			SELECT seq, ready FROM jobs WHERE kind = $1 AND grp = g.grp AND ready <= $2
			ORDER BY ready, seq LIMIT least($4 - running.n, $3)
		) j
	) first
	ORDER BY first.turn, first.ready, first.seq LIMIT $3
), free AS (
	SELECT j.seq, j.ready, j.token IS NOT NULL AS interrupted FROM jobs j WHERE j.seq = ANY (ARRAY (SELECT seq FROM chosen)) AND j.ready <= $2
	FOR NO KEY UPDATE SKIP LOCKED
), taken AS (
	UPDATE jobs j SET attempt = j.attempt + (NOT free.interrupted)::integer, token = gen_random_uuid(), leased_until = $5
	FROM free WHERE j.seq = free.seq
	RETURNING j.*, free.ready AS waiting, free.interrupted
)
SELECT id, kind, grp, unique_key, due, attempt, payload, failures, last_error, failed_at, parked, leased_until, interruptions, token::text, interrupted
FROM taken ORDER BY waiting, seq`

func (s jobs) Claim(ctx context.Context, kind string, now time.Time, limit, perGroup int, lease time.Duration) (leases []storage.Lease, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, claimTurn, kind); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, claim, kind, now, max(limit, 0), max(perGroup, 0), now.Add(lease))
		if err != nil {
			return err
		}
		leases, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l storage.Lease, err error) {
			var j jobRow
			err = row.Scan(append(jobTable.fields(&j), &l.Token, &l.Interrupted)...)
			l.Job, l.Until = j.job(), j.LeasedUntil
			return l, err
		})
		return err
	})
	return leases, err
}
