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

// Jobs is the queue of jobs.
func (db *DB) Jobs() storage.Jobs { return jobs{db} }

// parkedDue is when a parked job is due as far as the indexes know, and the version before.
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
	err := s.db.later(ctx, `
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

// Extend leaves jobs alone that another transaction has locked: that may be the handler's own, which takes its time.
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

// withLeases runs a statement that returns the places of those leases that are still the latest ones taken.
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

// asUUID is the zero UUID, which no job and no lease has, of what is none.
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

// withLease changes the job of a lease that is still the latest one taken.
func (s jobs) withLease(ctx context.Context, l storage.Lease, sql string, args ...any) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		id, err := uuid.Parse(l.ID)
		token, bad := uuid.Parse(l.Token)
		if err != nil || bad != nil { // nobody was given such a lease
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

// announced has the end of the transaction announced, if what it did went well.
func (s jobs) announced(ctx context.Context, err error) error {
	if err == nil {
		s.db.txn(ctx).afterCommit(s.db.announce)
	}
	return err
}

// announce says that there are jobs, unless that was said and not heard yet.
func (db *DB) announce() {
	select {
	case db.enqueued <- struct{}{}:
	default:
	}
}
