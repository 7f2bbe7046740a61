package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

// jobs is the storage.Jobs of a DB.
type jobs struct{ db *DB }

var _ storage.Jobs = jobs{}

// Jobs returns the queue of jobs.
func (db *DB) Jobs() storage.Jobs { return jobs{db} }

// parkedDue is the stored due time of a parked job: the indexes and the version before, which knows no parked
// jobs, take the job as one that is due in the far future.
var parkedDue = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

func (s jobs) Enqueue(ctx context.Context, list ...storage.Job) error {
	var kinds, groups, uniques, errors []string
	var dues []time.Time
	var payloads [][]byte
	var failures, interruptions []int
	var failed []*time.Time // nil: NULL
	var parked []bool
	for _, j := range list {
		if j.Parked {
			j.Due = parkedDue
		}
		var failedAt *time.Time
		if !j.FailedAt.IsZero() {
			failedAt = &j.FailedAt
		}
		kinds, groups, uniques = append(kinds, j.Kind), append(groups, j.Group), append(uniques, j.Unique)
		dues, payloads = append(dues, j.Due), append(payloads, j.Payload)
		failures, interruptions = append(failures, j.Failures), append(interruptions, j.Interruptions)
		errors = append(errors, j.LastError)
		failed, parked = append(failed, failedAt), append(parked, j.Parked)
	}
	err := s.db.queueExec(ctx, `
			INSERT INTO jobs (kind, grp, unique_key, due, payload, failures, last_error, failed_at, parked, interruptions)
			SELECT kind, grp, nullif(unique_key, ''), due, coalesce(payload, ''), failures, last_error, failed_at, parked, interruptions
			FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::bytea[], $6::integer[], $7::text[], $8::timestamptz[], $9::boolean[], $10::integer[])
				WITH ORDINALITY AS new (kind, grp, unique_key, due, payload, failures, last_error, failed_at, parked, interruptions, place)
			ORDER BY place
			ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING`,
		kinds, groups, uniques, dues, payloads, failures, errors, failed, parked, interruptions)
	return s.announced(ctx, err)
}

func (s jobs) Finish(ctx context.Context, l storage.Lease) error {
	return s.withLease(ctx, l, `DELETE FROM jobs WHERE id = $1 AND token = $2`)
}

func (s jobs) FinishAll(ctx context.Context, leases []storage.Lease) ([]bool, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	return s.withLeases(ctx, leases, `
		DELETE FROM jobs USING unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS done (id, token, place)
		WHERE jobs.id = done.id AND jobs.token = done.token RETURNING done.place`)
}

// Extend does not wait for jobs that another transaction has locked, such as that of a slow handler.
func (s jobs) Extend(ctx context.Context, leases []storage.Lease, until time.Time) ([]bool, error) {
	return s.withLeases(ctx, leases, `
		WITH held AS (
			SELECT jobs.seq, given.place
			FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS given (id, token, place)
			JOIN jobs ON jobs.id = given.id AND jobs.token = given.token
		), free AS (
			SELECT seq FROM jobs WHERE seq IN (SELECT seq FROM held) FOR NO KEY UPDATE SKIP LOCKED
		), extended AS (
			UPDATE jobs SET leased_until = $3 FROM free WHERE jobs.seq = free.seq
		)
		SELECT place FROM held`, until)
}

// withLeases runs a statement on leases. The statement returns the positions of those that are held, as Extend
// and FinishAll report them.
func (s jobs) withLeases(ctx context.Context, leases []storage.Lease, sql string, args ...any) ([]bool, error) {
	held := make([]bool, len(leases))
	ids, tokens := make([]uuid.UUID, len(leases)), make([]uuid.UUID, len(leases))
	for i, l := range leases {
		ids[i], tokens[i] = asUUID(l.ID), asUUID(l.Token)
	}
	err := s.db.write(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, sql, append([]any{ids, tokens}, args...)...)
		if err != nil {
			return err
		}
		places, err := pgx.CollectRows(rows, pgx.RowTo[int])
		for _, place := range places {
			held[place-1] = true
		}
		return err
	})
	return held, err
}

// asUUID parses a UUID. It returns the zero UUID, which no job and no lease has, for other texts.
func asUUID(text string) uuid.UUID {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil
	}
	return id
}

func (s jobs) Retry(ctx context.Context, l storage.Lease, due time.Time) error {
	err := s.withLease(ctx, l, `
		UPDATE jobs SET due = $3, interruptions = 0, token = NULL, leased_until = NULL WHERE id = $1 AND token = $2`, due)
	return s.announced(ctx, err)
}

func (s jobs) Postpone(ctx context.Context, l storage.Lease, due time.Time) error {
	err := s.withLease(ctx, l, `
		UPDATE jobs SET due = $3, attempt = attempt - 1, token = NULL, leased_until = NULL WHERE id = $1 AND token = $2`, due)
	return s.announced(ctx, err)
}

func (s jobs) Fail(ctx context.Context, l storage.Lease, f storage.Failure) error {
	due := f.Due
	if due.IsZero() {
		due = parkedDue
	}
	err := s.withLease(ctx, l, `
		UPDATE jobs SET due = $3, failures = failures + 1, last_error = $4, failed_at = $5, parked = $6,
			interruptions = CASE WHEN $7 THEN interruptions + 1 ELSE 0 END, token = NULL, leased_until = NULL
		WHERE id = $1 AND token = $2`, due, f.Error, f.At, f.Due.IsZero(), f.Interrupted)
	return s.announced(ctx, err)
}

func (s jobs) ExpireLeases(ctx context.Context, now time.Time) error {
	err := s.db.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE jobs SET leased_until = $1 WHERE leased_until > $1`, now)
		return err
	})
	return s.announced(ctx, err)
}

// withLease runs a statement that changes the job of a lease; storage.ErrLeaseLost if the lease is not held.
func (s jobs) withLease(ctx context.Context, l storage.Lease, sql string, args ...any) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		id, err := uuid.Parse(l.ID)
		token, tokenErr := uuid.Parse(l.Token)
		if err != nil || tokenErr != nil { // not a lease of this backend
			return storage.ErrLeaseLost
		}
		changed, err := tx.Exec(ctx, sql, append([]any{id, token}, args...)...)
		if err == nil && changed.RowsAffected() == 0 {
			return storage.ErrLeaseLost
		}
		return err
	})
}

func (s jobs) Drop(ctx context.Context, kind, group string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM jobs WHERE kind = $1 AND grp = $2`, kind, group)
		return err
	})
}

func (s jobs) DropUnique(ctx context.Context, kind, unique string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM jobs WHERE kind = $1 AND unique_key = $2`, kind, unique)
		return err
	})
}

func (s jobs) NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error) {
	var due map[string]time.Time
	err := s.db.read(ctx, func(q querier) error {
		rows, err := q.Query(ctx, `
			SELECT kind, next.ready FROM unnest($1::text[]) AS kind
			CROSS JOIN LATERAL (SELECT ready, parked FROM jobs WHERE jobs.kind = kind.kind ORDER BY ready LIMIT 1) next
			WHERE NOT next.parked`, kinds)
		if err != nil {
			return err
		}
		due = make(map[string]time.Time)
		var kind string
		var at time.Time
		_, err = pgx.ForEachRow(rows, []any{&kind, &at}, func() error {
			due[kind] = at
			return nil
		})
		return err
	})
	return due, err
}

func (s jobs) Enqueued() <-chan struct{} { return s.db.enqueued }

// announced makes the commit of the transaction announce jobs, unless err is an error.
func (s jobs) announced(ctx context.Context, err error) error {
	if err == nil {
		s.db.txn(ctx).afterCommit(s.db.announce)
	}
	return err
}

// announce sends a value to the channel of Enqueued, unless it has one.
func (db *DB) announce() {
	select {
	case db.enqueued <- struct{}{}:
	default:
	}
}

// claimLock locks the claims of a kind, so that a transaction sees what the one before has leased, and all
// servers together keep perGroup. It also disables sequential scans: the statement claim is planned once for a
// connection, perhaps when there are few jobs, and the plan must not scan the table when there are many.
const claimLock = `SELECT set_config('enable_seqscan', 'off', true), pg_advisory_xact_lock(hashtextextended('innsigli.jobs:' || $1, 0))`

// claim reads the first few jobs of each group, so that a long backlog of a group costs nothing. It takes jobs
// of the groups with the fewest leases first, so that a group with many jobs does not delay others, and of
// equal ones those that have waited longest. It skips jobs that another transaction has locked, because they
// are being finished or retried.
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
		if _, err := tx.Exec(ctx, claimLock, kind); err != nil {
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
