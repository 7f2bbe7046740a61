package postgres

import (
	"context"
	"iter"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// AllTokens lists the tokens of all accounts, those that expire first first. It ends with
// an error, if there is one. As the other long lists here, it reads a few records at a
// time: what is changed while it runs may be seen twice, or not at all.
func (db *DB) AllTokens(ctx context.Context) iter.Seq2[account.TokenRecord, error] {
	return all(ctx, db, tokenTable, itself, "expires_at", "hash")
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

// RequestsOf lists the signing requests of an account, the oldest first. In a transaction it locks none of them.
func (db *DB) RequestsOf(ctx context.Context, account string) iter.Seq2[signing.Request, error] {
	return some(ctx, db, requestTable, requestRow.request, way{where: "account = $1", args: []any{account}, order: []string{"created_at", "seq"}})
}

// AllCertificates lists the kept certificates of all people.
func (db *DB) AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error] {
	return all(ctx, db, certificateTable, itself, "person")
}

// AllJobs lists the jobs in the order in which they were enqueued.
func (db *DB) AllJobs(ctx context.Context) iter.Seq2[storage.Job, error] {
	return all(ctx, db, jobTable, jobRow.job, "seq")
}

// AllSubscriptions lists the webhook subscriptions account by account, those of each in the order
// of their creation.
func (db *DB) AllSubscriptions(ctx context.Context) iter.Seq2[delivery.Subscription, error] {
	return all(ctx, db, subscriptionTable, itself, "account", "seq")
}

// AllAttempts lists the attempts to reach all subscriptions, the earliest first.
func (db *DB) AllAttempts(ctx context.Context) iter.Seq2[delivery.Attempt, error] {
	return all(ctx, db, attemptTable, itself, "at", "seq")
}

// AllDropped lists the events that were given up for all subscriptions, the earliest first.
func (db *DB) AllDropped(ctx context.Context) iter.Seq2[delivery.Dropped, error] {
	return all(ctx, db, droppedTable, itself, "at", "seq")
}

// AllProcesses lists the processes of all accounts, in the order of their IDs.
func (db *DB) AllProcesses(ctx context.Context) iter.Seq2[portal.Process, error] {
	return all(ctx, db, processTable, processRow.process, "id")
}

// AllUnopened lists the processes that have links which were not opened, those first whose links
// expire first.
func (db *DB) AllUnopened(ctx context.Context) iter.Seq2[portal.Process, error] {
	return some(ctx, db, processTable, processRow.process, way{where: "unopened_until IS NOT NULL", order: []string{"unopened_until", "seq"}})
}

// AllKeys lists the idempotency keys of all clients that processes were created with, the oldest
// first.
func (db *DB) AllKeys(ctx context.Context) iter.Seq2[portal.Key, error] {
	return all(ctx, db, processKeyTable, itself, "created_at", "client", "value")
}

// AllLines lists the ledger account by account, the lines of each in the order of their times.
func (db *DB) AllLines(ctx context.Context) iter.Seq2[account.Line, error] {
	return all(ctx, db, lineTable, itself, "account", "at", "seq")
}

// itself is a record that is stored as its domain has it.
func itself[R any](r R) R { return r }
