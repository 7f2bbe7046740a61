package bolt

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

// listBatch is how many records of a long list are read at once. Between batches there is
// no transaction, so that who goes through the list may take his time.
const listBatch = 256

// AllTokens lists the tokens of all accounts, those that expire first first. It ends with
// an error, if there is one. As the other long lists here, it reads a few records at a
// time: what is changed while it runs may be seen twice, or not at all.
func (db *DB) AllTokens(ctx context.Context) iter.Seq2[account.TokenRecord, error] {
	return all(ctx, db, tokenTable, tokenExpiry, func(r tokenRecord) account.TokenRecord { return account.TokenRecord(r) })
}

// AllSignals lists the busy signals of all accounts, those that were used least recently
// first.
func (db *DB) AllSignals(ctx context.Context) iter.Seq2[busysignal.Signal, error] {
	return all(ctx, db, signalTable, signalUse, signalRecord.signal)
}

// AllRequests lists the signing requests of all accounts, the oldest first.
func (db *DB) AllRequests(ctx context.Context) iter.Seq2[signing.Request, error] {
	return all(ctx, db, requestTable, requestsByAge, func(r requestRecord) signing.Request { return signing.Request(r) })
}

// RequestsOf lists the signing requests of an account, the oldest first. It may be called in a transaction.
func (db *DB) RequestsOf(ctx context.Context, account string) iter.Seq2[signing.Request, error] {
	return within(ctx, db, requestTable, requestsOfAccount, under(text(account)), func(r requestRecord) signing.Request { return signing.Request(r) })
}

// AllCertificates lists the kept certificates of all people, those that expire first first.
func (db *DB) AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error] {
	return all(ctx, db, certificateTable, certificateExpiry, func(r certificateRecord) signing.KeptCertificate { return signing.KeptCertificate(r) })
}

// AllJobs lists the jobs kind by kind, those first that can be claimed first.
func (db *DB) AllJobs(ctx context.Context) iter.Seq2[storage.Job, error] {
	return all(ctx, db, jobTable, jobsByTime, jobRecord.job)
}

// AllSubscriptions lists the webhook subscriptions account by account, those of each in the order
// of their creation.
func (db *DB) AllSubscriptions(ctx context.Context) iter.Seq2[delivery.Subscription, error] {
	return all(ctx, db, subscriptionTable, subscriptionsOfAccount, func(r subscriptionRecord) delivery.Subscription { return delivery.Subscription(r) })
}

// AllAttempts lists the attempts to reach all subscriptions, the earliest first.
func (db *DB) AllAttempts(ctx context.Context) iter.Seq2[delivery.Attempt, error] {
	return all(ctx, db, attemptTable, attemptsByTime, func(r attemptRecord) delivery.Attempt { return delivery.Attempt(r) })
}

// AllDropped lists the events that were given up for all subscriptions, the earliest first.
func (db *DB) AllDropped(ctx context.Context) iter.Seq2[delivery.Dropped, error] {
	return all(ctx, db, droppedTable, droppedByTime, func(r droppedRecord) delivery.Dropped { return delivery.Dropped(r) })
}

// AllProcesses lists the processes of all accounts, in the order of their IDs.
func (db *DB) AllProcesses(ctx context.Context) iter.Seq2[portal.Process, error] {
	return all(ctx, db, processTable, processTable.byID(), processRecord.process)
}

// AllUnopened lists the processes that have links which were not opened, those first whose links
// expire first.
func (db *DB) AllUnopened(ctx context.Context) iter.Seq2[portal.Process, error] {
	return all(ctx, db, processTable, unopenedProcesses, processRecord.process)
}

// AllKeys lists the idempotency keys of all clients that processes were created with, the oldest
// first.
func (db *DB) AllKeys(ctx context.Context) iter.Seq2[portal.Key, error] {
	return all(ctx, db, processKeyTable, processKeysByAge, processKeyRecord.key)
}

// AllLines lists the ledger account by account, the lines of each in the order of their times.
func (db *DB) AllLines(ctx context.Context) iter.Seq2[account.Line, error] {
	return all(ctx, db, lineTable, linesOfAccount, lineRecord.line)
}

// all goes through the records in the order of an index.
func all[R, D any](ctx context.Context, db *DB, t table[R], ix index[R], to func(R) D) iter.Seq2[D, error] {
	return within(ctx, db, t, ix, every(), to)
}

// within goes through the records in the span of an index.
func within[R, D any](ctx context.Context, db *DB, t table[R], ix index[R], in span, to func(R) D) iter.Seq2[D, error] {
	return func(yield func(D, error) bool) {
		for in := in; ; {
			records, last, err := batch(ctx, db, t, ix, in)
			if err != nil {
				var none D
				yield(none, err)
				return
			}
			for _, r := range records {
				if !yield(to(r), nil) {
					return
				}
			}
			if len(records) < listBatch {
				return
			}
			in.from = append(last, 0) // the next key there can be
		}
	}
}

// batch reads the first records in the span of an index, and the key of the last one.
func batch[R any](ctx context.Context, db *DB, t table[R], ix index[R], in span) (records []R, last []byte, err error) {
	err = db.read(ctx, func(tx *boltTx) error {
		c := tx.Bucket([]byte(ix.bucket)).Cursor()
		for k, id := c.Seek(in.from); k != nil && in.holds(k) && len(records) < listBatch; k, id = c.Next() {
			if ix.bucket == t.bucket {
				id = k
			}
			r, err := t.get(tx, string(id))
			if err != nil {
				return ix.contradicts(string(id), err)
			}
			records, last = append(records, r), append(last[:0], k...)
		}
		return nil
	})
	return records, last, err
}
