package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

// jobTable describes how jobs are read. Other statements write them.
var jobTable = table[jobRow]{
	name:    "jobs",
	columns: []string{"id", "kind", "grp", "unique_key", "due", "attempt", "payload", "failures", "last_error", "failed_at", "parked", "leased_until", "interruptions"},
	fields: func(j *jobRow) []any {
		return []any{
			&j.ID, &j.Kind, &j.Group, &j.unique, &j.Due, &j.Attempt, &j.Payload,
			&j.Failures, &j.LastError, (*moment)(&j.FailedAt), &j.Parked, (*moment)(&j.LeasedUntil), &j.Interruptions,
		}
	},
}

// jobRow is a stored job. The Unique of the embedded job is not used.
type jobRow struct {
	storage.StoredJob
	unique *string
}

func (r jobRow) stored() storage.StoredJob {
	j := r.StoredJob
	if r.unique != nil {
		j.Unique = *r.unique
	}
	if j.Parked {
		j.Due = j.FailedAt
	}
	return j
}

func (r jobRow) job() storage.Job { return r.stored().Job }

// selectJobs is the beginning of a statement that reads jobs.
var selectJobs = "SELECT " + strings.Join(jobTable.columns, ", ") + " FROM jobs "

func (s jobs) Job(ctx context.Context, id string) (storage.StoredJob, error) {
	list, err := s.query(ctx, "WHERE id = $1", asUUID(id))
	if err == nil && len(list) == 0 {
		err = storage.ErrNotFound
	}
	if err != nil {
		return storage.StoredJob{}, err
	}
	return list[0], nil
}

func (s jobs) List(ctx context.Context, q storage.JobQuery) ([]storage.StoredJob, error) {
	inState := map[storage.JobState]string{
		"":                 "$3::timestamptz IS NOT NULL", // all
		storage.JobParked:  "$3::timestamptz IS NOT NULL AND parked",
		storage.JobInWork:  "NOT parked AND leased_until > $3",
		storage.JobWaiting: "NOT parked AND (leased_until IS NULL OR leased_until <= $3)",
	}
	state, known := inState[q.State]
	if !known {
		return nil, nil
	}
	return s.query(ctx, "WHERE id > $1 AND ($2 = '' OR kind = $2) AND "+state+" ORDER BY id LIMIT $4", asUUID(q.After), q.Kind, q.Now, max(q.Limit, 0))
}

func (s jobs) query(ctx context.Context, where string, args ...any) (list []storage.StoredJob, err error) {
	err = s.db.read(ctx, func(q querier) error {
		rows, err := q.Query(ctx, selectJobs+where, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (storage.StoredJob, error) {
			var j jobRow
			err := row.Scan(jobTable.fields(&j)...)
			return j.stored(), err
		})
		return err
	})
	return list, err
}

func (s jobs) CountParked(ctx context.Context) (map[string]int, error) {
	var parked map[string]int
	err := s.db.read(ctx, func(q querier) error {
		rows, err := q.Query(ctx, `SELECT kind, count(*) FROM jobs WHERE parked GROUP BY kind`)
		if err != nil {
			return err
		}
		parked = make(map[string]int)
		var kind string
		var n int
		_, err = pgx.ForEachRow(rows, []any{&kind, &n}, func() error {
			parked[kind] = n
			return nil
		})
		return err
	})
	return parked, err
}

func (s jobs) RetryNow(ctx context.Context, id string, now time.Time) error {
	err := s.change(ctx, id, `
		UPDATE jobs SET due = $2, failures = 0, interruptions = 0, parked = false, token = NULL, leased_until = NULL
		WHERE id = $1 AND (leased_until IS NULL OR leased_until <= $2)`, now)
	if errors.Is(err, storage.ErrNotFound) {
		if _, err := s.Job(ctx, id); err == nil {
			return storage.ErrInWork
		}
	}
	if err != nil {
		return err
	}
	return s.announceOnCommit(ctx)
}

func (s jobs) Remove(ctx context.Context, id string) error {
	return s.change(ctx, id, `DELETE FROM jobs WHERE id = $1`)
}

// change runs a statement that changes a job; storage.ErrNotFound if there is none.
func (s jobs) change(ctx context.Context, id, sql string, args ...any) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		changed, err := tx.Exec(ctx, sql, append([]any{asUUID(id)}, args...)...)
		if err == nil && changed.RowsAffected() == 0 {
			err = storage.ErrNotFound
		}
		return err
	})
}
