package postgres

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// listBatch is how many records of a long list are read at once. Between batches there is
// no transaction, so that who goes through the list may take his time.
const listBatch = 256

// jobTable is how AllJobs reads jobs; all else about them is in statements of their own.
var jobTable = table[jobRow]{
	name:    "jobs",
	columns: []string{"id", "kind", "grp", "unique_key", "due", "attempt", "payload"},
	fields: func(j *jobRow) []any {
		return []any{&j.ID, &j.Kind, &j.Group, &j.unique, &j.Due, &j.Attempt, &j.Payload}
	},
}

// jobRow is a job as it is stored. The Unique of the embedded job is not used.
type jobRow struct {
	storage.Job
	unique *string
}

func (r jobRow) job() storage.Job {
	j := r.Job
	if r.unique != nil {
		j.Unique = *r.unique
	}
	return j
}

// AllTokens lists the tokens of all accounts, those that expire first first. It ends with
// an error, if there is one. As the other long lists here, it reads a few records at a
// time: what is changed while it runs may be seen twice, or not at all.
func (db *DB) AllTokens(ctx context.Context) iter.Seq2[account.TokenRecord, error] {
	return all(ctx, db, tokenTable, func(t account.TokenRecord) account.TokenRecord { return t }, "expires_at", "hash")
}

// AllSignals lists the busy signals of all accounts, those that were used least recently
// first.
func (db *DB) AllSignals(ctx context.Context) iter.Seq2[busysignal.Signal, error] {
	return all(ctx, db, signalTable, signalRow.signal, "used_at", "id")
}

// AllRequests lists the signing requests of all accounts, the oldest first.
func (db *DB) AllRequests(ctx context.Context) iter.Seq2[signing.Request, error] {
	return all(ctx, db, requestTable, requestRow.request, "created_at", "seq")
}

// AllCertificates lists the kept certificates of all people.
func (db *DB) AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error] {
	return all(ctx, db, certificateTable, func(c signing.KeptCertificate) signing.KeptCertificate { return c }, "person")
}

// AllJobs lists the jobs in the order in which they were enqueued.
func (db *DB) AllJobs(ctx context.Context) iter.Seq2[storage.Job, error] {
	return all(ctx, db, jobTable, jobRow.job, "seq")
}

// all goes through the records in the order of columns whose values no two of them share,
// and of which there is an index.
func all[R, D any](ctx context.Context, db *DB, t table[R], to func(R) D, order ...string) iter.Seq2[D, error] {
	return func(yield func(D, error) bool) {
		for last := []any(nil); ; {
			rows, next, err := batch(ctx, db, t, order, last)
			if err != nil {
				var none D
				yield(none, err)
				return
			}
			for _, r := range rows {
				if !yield(to(r), nil) {
					return
				}
			}
			if len(rows) < listBatch {
				return
			}
			last = next
		}
	}
}

// batch reads the records that come after the one with these values of the columns that
// they are ordered by, and says which the last one has.
func batch[R any](ctx context.Context, db *DB, t table[R], order []string, after []any) (records []R, last []any, err error) {
	columns, condition := strings.Join(order, ", "), "true"
	if after != nil {
		condition = fmt.Sprintf("(%s) > (%s)", columns, strings.Join(parameters(len(after)), ", "))
	}
	statement := fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s ORDER BY %s LIMIT %d",
		strings.Join(t.columns, ", "), columns, t.name, condition, columns, listBatch)
	last = make([]any, len(order))
	var keys []any
	for i := range last {
		keys = append(keys, &last[i])
	}
	err = db.read(ctx, func(q querier) error {
		rows, err := q.Query(ctx, statement, after...)
		if err != nil {
			return err
		}
		records, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r R, err error) {
			return r, row.Scan(append(t.fields(&r), keys...)...)
		})
		return err
	})
	return records, last, err
}
