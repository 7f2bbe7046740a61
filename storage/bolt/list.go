package bolt

import (
	"context"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
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

// AllCertificates lists the kept certificates of all people, those that expire first first.
func (db *DB) AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error] {
	return all(ctx, db, certificateTable, certificateExpiry, func(r certificateRecord) signing.KeptCertificate { return signing.KeptCertificate(r) })
}

// AllJobs lists the jobs kind by kind, those first that can be claimed first.
func (db *DB) AllJobs(ctx context.Context) iter.Seq2[storage.Job, error] {
	return all(ctx, db, jobTable, jobsByTime, jobRecord.job)
}

// all goes through the records in the order of an index.
func all[R, D any](ctx context.Context, db *DB, t table[R], ix index[R], to func(R) D) iter.Seq2[D, error] {
	return func(yield func(D, error) bool) {
		for from := []byte(nil); ; {
			records, last, err := batch(ctx, db, t, ix, from)
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
			from = append(last, 0) // the next key there can be
		}
	}
}

// batch reads the next records from a key of the index on, and the key of the last one.
func batch[R any](ctx context.Context, db *DB, t table[R], ix index[R], from []byte) (records []R, last []byte, err error) {
	err = db.read(ctx, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(ix.bucket)).Cursor()
		for k, id := c.Seek(from); k != nil && len(records) < listBatch; k, id = c.Next() {
			r, err := t.get(tx, string(id))
			if err != nil {
				return err
			}
			records, last = append(records, r), append(last[:0], k...)
		}
		return nil
	})
	return records, last, err
}
