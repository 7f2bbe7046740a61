package postgres

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// listBatch is how many records of a long list one query reads. There is no transaction between the queries, so
// the caller may take any time over a record.
const listBatch = 256

// keysetOrder selects and orders the records of a long list for keyset pagination. The values of the columns in
// order together identify a record, and there is an index of them.
type keysetOrder struct {
	where      string // a condition; empty: all records
	args       []any
	order      []string
	descending bool
}

// all lists all records of a table.
func all[R, D any](ctx context.Context, db *DB, t table[R], to func(R) D, order ...string) iter.Seq2[D, error] {
	return some(ctx, db, t, to, keysetOrder{order: order})
}

// some lists the records of a table that the order selects.
func some[R, D any](ctx context.Context, db *DB, t table[R], to func(R) D, k keysetOrder) iter.Seq2[D, error] {
	return func(yield func(D, error) bool) {
		for r, err := range walk(ctx, db, t, k) {
			if !yield(to(r), err) {
				return
			}
		}
	}
}

// walk lists the rows of a table that the order selects.
func walk[R any](ctx context.Context, db *DB, t table[R], k keysetOrder) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for last := []any(nil); ; {
			records, next, err := batch(ctx, db, t, k, last)
			if err != nil {
				var none R
				yield(none, err)
				return
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			if len(records) < listBatch {
				return
			}
			last = next
		}
	}
}

// batch returns the records that follow the one with the values after in the columns of the order, and the last
// one's values.
func batch[R any](ctx context.Context, db *DB, t table[R], k keysetOrder, after []any) (records []R, last []any, err error) {
	if !storable(k.args...) {
		return nil, nil, nil
	}
	last = make([]any, len(k.order))
	var keys []any
	for i := range last {
		keys = append(keys, &last[i])
	}
	err = db.read(ctx, func(q querier) error {
		rows, err := q.Query(ctx, k.statement(t.name, t.columns, after != nil), slices.Concat(k.args, after)...)
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

// statement returns the query for one batch. It selects the columns and those of the order. If behind is
// set, the batch begins after a record whose values in the order follow the arguments.
func (k keysetOrder) statement(table string, columns []string, behind bool) string {
	comparison, direction, where := ">", "", cmp.Or(k.where, "true")
	if k.descending {
		comparison, direction = "<", " DESC"
	}
	order := strings.Join(k.order, ", ")
	if behind {
		values := parameters(len(k.args) + len(k.order))[len(k.args):]
		where += fmt.Sprintf(" AND (%s) %s (%s)", order, comparison, strings.Join(values, ", "))
	}
	return fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s ORDER BY %s LIMIT %d",
		strings.Join(columns, ", "), order, table, where, strings.Join(k.order, direction+", ")+direction, listBatch)
}

// AllTokens lists the tokens of all accounts in the order of their expiry. An error ends the list. AllTokens,
// like the other long lists here, reads in batches: a record that is changed meanwhile may be listed twice or
// not at all.
func (db *DB) AllTokens(ctx context.Context) iter.Seq2[account.TokenRecord, error] {
	return all(ctx, db, tokenTable, identity, "expires_at", "hash")
}

// AllSignals lists the busy signals of all accounts, the least recently used first.
func (db *DB) AllSignals(ctx context.Context) iter.Seq2[busysignal.Signal, error] {
	return all(ctx, db, signalTable, signalRow.signal, "used_at", "id")
}

// AllRequests lists the signing requests of all accounts, the oldest first.
func (db *DB) AllRequests(ctx context.Context) iter.Seq2[signing.Request, error] {
	return all(ctx, db, requestTable, requestRow.request, "created_at", "seq")
}

// RequestsOf lists the signing requests of an account, the oldest first. In a transaction it locks none of them.
func (db *DB) RequestsOf(ctx context.Context, account string) iter.Seq2[signing.Request, error] {
	return some(ctx, db, requestTable, requestRow.request, keysetOrder{where: "account = $1", args: []any{account}, order: []string{"created_at", "seq"}})
}

// AllCertificates lists the certificates that are stored for all people.
func (db *DB) AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error] {
	return all(ctx, db, certificateTable, identity, "person")
}

// AllJobs lists the jobs in the order in which they were enqueued.
func (db *DB) AllJobs(ctx context.Context) iter.Seq2[storage.Job, error] {
	return all(ctx, db, jobTable, jobRow.job, "seq")
}

// AllSubscriptions lists the webhook subscriptions by account, those of an account in the order of their
// creation.
func (db *DB) AllSubscriptions(ctx context.Context) iter.Seq2[delivery.Subscription, error] {
	return all(ctx, db, subscriptionTable, identity, "account", "seq")
}

// AllAttempts lists the delivery attempts of all subscriptions, the earliest first.
func (db *DB) AllAttempts(ctx context.Context) iter.Seq2[delivery.Attempt, error] {
	return all(ctx, db, attemptTable, identity, "at", "seq")
}

// AllDropped lists the events that were dropped for all subscriptions, the earliest first.
func (db *DB) AllDropped(ctx context.Context) iter.Seq2[delivery.Dropped, error] {
	return all(ctx, db, droppedTable, identity, "at", "seq")
}

// AllProcesses lists the processes of all accounts, in the order of their IDs.
func (db *DB) AllProcesses(ctx context.Context) iter.Seq2[portal.Process, error] {
	return all(ctx, db, processTable, processRow.process, "id")
}

// AllUnopened lists the processes with links that were not opened, in the order in which the links expire.
func (db *DB) AllUnopened(ctx context.Context) iter.Seq2[portal.Process, error] {
	return some(ctx, db, processTable, processRow.process, keysetOrder{where: "unopened_until IS NOT NULL", order: []string{"unopened_until", "seq"}})
}

// AllKeys lists the idempotency keys with which processes were created, the oldest first.
func (db *DB) AllKeys(ctx context.Context) iter.Seq2[portal.Key, error] {
	return all(ctx, db, processKeyTable, identity, "created_at", "client", "value")
}

// AllLines lists the entries of the ledger by account, those of an account in the order of their times.
func (db *DB) AllLines(ctx context.Context) iter.Seq2[account.Line, error] {
	return all(ctx, db, ledgerTable, identity, "account", "at", "seq")
}

// identity returns the record: it is stored as its domain has it.
func identity[R any](r R) R { return r }
