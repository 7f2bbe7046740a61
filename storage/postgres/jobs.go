package postgres

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

// jobs is the storage.Jobs of a DB. Postgres computes the column ready of a job, which is when it can be claimed: the end
// of its lease if it has one, and else its due time. The column id is the UUID by which callers know a job, and seq, which
// grows with each job that is added, is the key by which statements refer to it. A lease is held for as long as the job has
// its token, even after its end: until the job is claimed again, given back or deleted.
type jobs struct{ db *DB }

var _ storage.Jobs = jobs{}

// Jobs returns the queue of jobs.
func (db *DB) Jobs() storage.Jobs { return jobs{db} }

// parkedDue is the stored due time of a parked job, so that parked jobs come last in the order by ready. Older servers, which
// do not know the column parked, never claim it, because it is never due.
var parkedDue = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Enqueue inserts the jobs. The statements are sent together with a later one of the transaction or with the commit, which
// returns their errors (queueExec).
func (s jobs) Enqueue(ctx context.Context, list ...storage.Job) error {
	for _, j := range list {
		if j.Parked {
			j.Due = parkedDue
		}
		err := s.db.queueExec(ctx, `
			INSERT INTO jobs (kind, grp, unique_key, due, payload, failures, last_error, failed_at, parked, interruptions)
			VALUES ($1, $2, nullif($3::text, ''), $4, coalesce($5::bytea, ''), $6, $7, $8, $9, $10)
			ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING`,
			j.Kind, j.Group, j.Unique, j.Due, j.Payload, j.Failures, j.LastError, (*moment)(&j.FailedAt), j.Parked, j.Interruptions)
		if err != nil {
			return err
		}
	}
	return s.announceOnCommit(ctx)
}

// Enqueued returns the channel to which announce sends.
func (s jobs) Enqueued() <-chan struct{} { return s.db.enqueued }

// announceOnCommit makes the commit tell the runner of this process that there may be jobs to claim. It returns
// storage.ErrNoTx if there is no transaction.
func (s jobs) announceOnCommit(ctx context.Context) error {
	t := s.db.txn(ctx)
	if t == nil {
		return storage.ErrNoTx
	}
	t.afterCommit(s.db.announce)
	return nil
}

// announce sends a value to the channel of Enqueued, unless one waits there already.
func (db *DB) announce() {
	select {
	case db.enqueued <- struct{}{}:
	default:
	}
}

// NextDue returns when the first job of each kind is ready. Parked jobs come last, so if the first job is parked, all jobs
// of the kind are: then the kind is missing from the map.
func (s jobs) NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error) {
	var ready map[string]time.Time
	err := s.db.read(ctx, func(q querier) error {
		rows, err := q.Query(ctx, `
			SELECT wanted.kind, next.ready FROM unnest($1::text[]) AS wanted (kind)
			CROSS JOIN LATERAL (SELECT ready, parked FROM jobs WHERE jobs.kind = wanted.kind ORDER BY ready LIMIT 1) next
			WHERE NOT next.parked`, kinds)
		if err != nil {
			return err
		}
		ready = make(map[string]time.Time)
		var kind string
		var at time.Time
		_, err = pgx.ForEachRow(rows, []any{&kind, &at}, func() error {
			ready[kind] = at
			return nil
		})
		return err
	})
	return ready, err
}

// prepareClaim is the statement before claim. It takes a lock with which one transaction at a time claims jobs of a kind, on
// all servers: each sees the leases of the transaction before, so that the servers together keep the limit of leases of a
// group. prepareClaim also disables sequential scans: Postgres plans the statement claim once for a connection, perhaps
// while there are few jobs, and the plan must be good for many.
const prepareClaim = `SELECT set_config('enable_seqscan', 'off', true), pg_advisory_xact_lock(hashtextextended('innsigli.jobs:' || $1, 0))`

// claim leases jobs of a kind that are ready now, at most limit, and at most perGroup of a group. It returns the columns of
// jobTable, the token, and whether the job was interrupted.
//
// It reads the first few jobs of each group, so that its time does not depend on how many jobs wait. It takes jobs of
// the groups with the fewest leases first, so that a group with many jobs does not delay others, and among groups with
// as many leases the job that has waited longest. It skips jobs that another transaction has locked, because that
// transaction is finishing or retrying them.
var claim = `
WITH RECURSIVE
-- The groups of the kind. Each step looks up the next group in the index. The last row is NULL, and ends the recursion.
groups AS (
	(SELECT grp FROM jobs WHERE kind = @kind ORDER BY grp LIMIT 1)
	UNION ALL
	SELECT (SELECT j.grp FROM jobs j WHERE j.kind = @kind AND j.grp > g.grp ORDER BY j.grp LIMIT 1)
	FROM groups g WHERE g.grp IS NOT NULL
),
-- The jobs to lease. nth is how many leases the group has if this job and those before it get one. So each group gets its
-- first lease before any group gets its second.
chosen AS (
	SELECT waiting.seq
	FROM groups g
	CROSS JOIN LATERAL (
		SELECT count(*) AS leases
		FROM (SELECT FROM jobs j WHERE j.kind = @kind AND j.grp = g.grp AND j.leased_until > @now LIMIT @perGroup) lease
	) taken
	CROSS JOIN LATERAL (
		SELECT j.seq, j.ready, taken.leases + row_number() OVER (ORDER BY j.ready, j.seq) AS nth
		FROM (
			SELECT seq, ready FROM jobs WHERE kind = @kind AND grp = g.grp AND ready <= @now
			ORDER BY ready, seq LIMIT least(@perGroup - taken.leases, @limit)
		) j
	) waiting
	ORDER BY waiting.nth, waiting.ready, waiting.seq LIMIT @limit
),
-- The chosen jobs that no other transaction has locked. A job that still has a token was interrupted.
unlocked AS (
	SELECT j.seq, j.ready, j.token IS NOT NULL AS interrupted FROM jobs j WHERE j.seq = ANY (ARRAY (SELECT seq FROM chosen)) AND j.ready <= @now
	FOR NO KEY UPDATE SKIP LOCKED
),
-- The unlocked jobs with their new leases. An interrupted attempt is handed out again to be counted as failed, so the job
-- gets no new attempt number. The lease changes ready, so waiting_since keeps the value before, for the order.
leased AS (
	UPDATE jobs j SET attempt = j.attempt + (NOT unlocked.interrupted)::integer, token = gen_random_uuid(), leased_until = @until
	FROM unlocked WHERE j.seq = unlocked.seq
	RETURNING j.*, unlocked.ready AS waiting_since, unlocked.interrupted
)
SELECT ` + strings.Join(jobTable.columns, ", ") + `, token::text, interrupted FROM leased ORDER BY waiting_since, seq`

// Claim leases jobs that are due, under the lock of their kind (prepareClaim).
func (s jobs) Claim(ctx context.Context, kind string, now time.Time, limit, perGroup int, leaseFor time.Duration) (leases []storage.Lease, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, prepareClaim, kind); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, claim, pgx.StrictNamedArgs{
			"kind": kind, "now": now, "limit": max(limit, 0), "perGroup": max(perGroup, 0), "until": now.Add(leaseFor),
		})
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

// Extend sets the end of leases, and reports for each whether it is held. If another transaction has locked a job, such
// as that of a slow handler, Extend does not wait for it: it reports the lease as held and leaves its end, and the caller
// extends it again later.
func (s jobs) Extend(ctx context.Context, leases []storage.Lease, until time.Time) ([]bool, error) {
	return s.reportHeld(ctx, leases, `
		WITH held AS (
			SELECT jobs.seq, given.place
			FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS given (id, token, place)
			JOIN jobs ON jobs.id = given.id AND jobs.token = given.token
		), unlocked AS (
			SELECT seq FROM jobs WHERE seq IN (SELECT seq FROM held) FOR NO KEY UPDATE SKIP LOCKED
		), extended AS (
			UPDATE jobs SET leased_until = $3 FROM unlocked WHERE jobs.seq = unlocked.seq
		)
		SELECT place FROM held`, until)
}

// Finish deletes the job of a lease.
func (s jobs) Finish(ctx context.Context, l storage.Lease) error {
	return s.changeLeased(ctx, l, `DELETE FROM jobs WHERE id = @id AND token = @token`, nil)
}

// FinishAll deletes the jobs of leases, and reports for each whether its lease was held.
func (s jobs) FinishAll(ctx context.Context, leases []storage.Lease) ([]bool, error) {
	return s.reportHeld(ctx, leases, `
		DELETE FROM jobs USING unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS done (id, token, place)
		WHERE jobs.id = done.id AND jobs.token = done.token RETURNING done.place`)
}

// reportHeld runs a statement on leases, if there are any, and reports for each whether it was held. The IDs of the leases
// are $1 and their tokens $2; args are $3 and the following. The statement must return the 1-based positions of held leases.
func (s jobs) reportHeld(ctx context.Context, leases []storage.Lease, sql string, args ...any) ([]bool, error) {
	if len(leases) == 0 {
		return nil, nil
	}
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
		if err != nil {
			return err
		}
		for _, place := range places {
			held[place-1] = true
		}
		return nil
	})
	return held, err
}

// Retry makes the job due again after an attempt that did not finish it. The attempt counts, and ends a series of
// interruptions.
func (s jobs) Retry(ctx context.Context, l storage.Lease, due time.Time) error {
	return s.giveBack(ctx, l, `due = @due, interruptions = 0`, pgx.StrictNamedArgs{"due": due})
}

// Postpone makes the job due again without an attempt, so the one that Claim counted does not count.
func (s jobs) Postpone(ctx context.Context, l storage.Lease, due time.Time) error {
	return s.giveBack(ctx, l, `due = @due, attempt = attempt - 1`, pgx.StrictNamedArgs{"due": due})
}

// Fail makes the job due again after an attempt that failed, or parks it if the failure has no due time.
func (s jobs) Fail(ctx context.Context, l storage.Lease, f storage.Failure) error {
	due, parked := f.Due, f.Due.IsZero()
	if parked {
		due = parkedDue
	}
	return s.giveBack(ctx, l, `due = @due, failures = failures + 1, last_error = @error, failed_at = @at, parked = @parked,
		interruptions = CASE WHEN @interrupted THEN interruptions + 1 ELSE 0 END`,
		pgx.StrictNamedArgs{"due": due, "error": f.Error, "at": f.At, "parked": parked, "interrupted": f.Interrupted})
}

// giveBack ends a lease and sets columns of its job, which can be claimed again when it is due. set has the columns with
// their new values, for which it uses the names of args.
func (s jobs) giveBack(ctx context.Context, l storage.Lease, set string, args pgx.StrictNamedArgs) error {
	err := s.changeLeased(ctx, l, `UPDATE jobs SET `+set+`, token = NULL, leased_until = NULL WHERE id = @id AND token = @token`, args)
	if err != nil {
		return err
	}
	return s.announceOnCommit(ctx)
}

// changeLeased runs a statement that changes the job of a lease. It adds the job's @id and the lease's @token to args. It
// returns storage.ErrLeaseLost if the lease is not held.
func (s jobs) changeLeased(ctx context.Context, l storage.Lease, sql string, args pgx.StrictNamedArgs) error {
	named := pgx.StrictNamedArgs{"id": asUUID(l.ID), "token": asUUID(l.Token)}
	maps.Copy(named, args)
	return s.db.write(ctx, func(tx pgx.Tx) error {
		changed, err := tx.Exec(ctx, sql, named)
		if err == nil && changed.RowsAffected() == 0 {
			return storage.ErrLeaseLost
		}
		return err
	})
}

// asUUID parses a UUID. It returns the zero UUID, which no job and no lease has, for other texts.
func asUUID(text string) uuid.UUID {
	id, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil
	}
	return id
}

// ExpireLeases ends every current lease, so that its job can be claimed again. The jobs keep their tokens, and count as
// interrupted then.
func (s jobs) ExpireLeases(ctx context.Context, now time.Time) error {
	err := s.db.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE jobs SET leased_until = $1 WHERE leased_until > $1`, now)
		return err
	})
	if err != nil {
		return err
	}
	return s.announceOnCommit(ctx)
}

// Drop deletes the jobs of a group, leased or not.
func (s jobs) Drop(ctx context.Context, kind, group string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM jobs WHERE kind = $1 AND grp = $2`, kind, group)
		return err
	})
}

// DropUnique deletes the job with a unique key, leased or not. Unlike Drop, it is called as often as signatures end, and so
// queues its statement, as Enqueue does.
func (s jobs) DropUnique(ctx context.Context, kind, unique string) error {
	return s.db.queueExec(ctx, `DELETE FROM jobs WHERE kind = $1 AND unique_key = $2`, kind, unique)
}
