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

func (s jobs) Enqueue(ctx context.Context, list ...storage.Job) error {
	var kinds, groups, uniques []string
	var dues []time.Time
	var payloads [][]byte
	for _, j := range list {
		kinds, groups, uniques = append(kinds, j.Kind), append(groups, j.Group), append(uniques, j.Unique)
		dues, payloads = append(dues, j.Due), append(payloads, j.Payload)
	}
	err := s.db.later(ctx, `
			INSERT INTO jobs (kind, grp, unique_key, due, payload)
			SELECT kind, grp, nullif(unique_key, ''), due, coalesce(payload, '')
			FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::bytea[]) WITH ORDINALITY
				AS new (kind, grp, unique_key, due, payload, place)
			ORDER BY place
			ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING`,
		kinds, groups, uniques, dues, payloads)
	return s.announced(ctx, err)
}

func (s jobs) Finish(ctx context.Context, l storage.Lease) error {
	return s.withLease(ctx, l, `DELETE FROM jobs WHERE id = $1 AND token = $2`)
}

func (s jobs) FinishAll(ctx context.Context, leases []storage.Lease) ([]bool, error) {
	finished := make([]bool, len(leases))
	if len(leases) == 0 {
		return finished, nil
	}
	ids, tokens := make([]uuid.UUID, len(leases)), make([]uuid.UUID, len(leases))
	for i, l := range leases {
		ids[i], tokens[i] = asUUID(l.ID), asUUID(l.Token)
	}
	err := s.db.write(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			DELETE FROM jobs USING unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS done (id, token, place)
			WHERE jobs.id = done.id AND jobs.token = done.token RETURNING done.place`, ids, tokens)
		if err != nil {
			return err
		}
		places, err := pgx.CollectRows(rows, pgx.RowTo[int])
		for _, place := range places {
			finished[place-1] = true
		}
		return err
	})
	return finished, err
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
	err := s.withLease(ctx, l, `UPDATE jobs SET due = $3, token = NULL, leased_until = NULL WHERE id = $1 AND token = $2`, due)
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

func (s jobs) NextDue(ctx context.Context, kind string) (due time.Time, err error) {
	err = s.db.read(ctx, func(q querier) error {
		return q.QueryRow(ctx, `SELECT ready FROM jobs WHERE kind = $1 ORDER BY ready LIMIT 1`, kind).Scan(&due)
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
