package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

// entryTable reads entries with their salts.
var entryTable = table[storage.Entry]{
	name:    "evidence LEFT JOIN evidence_salts USING (seq)",
	columns: []string{"seq", "subject", "account", "kind", "at", "facts", "salt"},
	fields: func(e *storage.Entry) []any {
		return []any{&e.Seq, &e.Subject, &e.Account, &e.Kind, &e.At, (*[]byte)(&e.Facts), &e.Salt}
	},
}

// batchRow is a batch as it is stored.
type batchRow struct {
	storage.Batch
	previous, head, digests []byte
	seqs                    []int64
}

var batchTable = table[batchRow]{
	name:    "evidence_batches",
	columns: []string{"number", "previous", "head", "total", "newest", "seqs", "digests"},
	fields: func(b *batchRow) []any {
		return []any{&b.Number, &b.previous, &b.head, &b.Total, &b.Newest, &b.seqs, &b.digests}
	},
}

func newBatchRow(b storage.Batch) batchRow {
	r := batchRow{Batch: b, previous: b.Previous[:], head: b.Head[:]}
	for _, e := range b.Entries {
		r.seqs, r.digests = append(r.seqs, e.Seq), append(r.digests, e.Sum[:]...)
	}
	return r
}

func (r batchRow) batch() (storage.Batch, error) {
	b := r.Batch
	if len(r.previous) != sha256.Size || len(r.head) != sha256.Size || len(r.seqs) == 0 || len(r.digests) != len(r.seqs)*sha256.Size {
		return b, fmt.Errorf("postgres: batch %d of the evidence log has digests of a wrong length", b.Number)
	}
	b.Previous, b.Head = [sha256.Size]byte(r.previous), [sha256.Size]byte(r.head)
	for i, seq := range r.seqs {
		b.Entries = append(b.Entries, storage.EntryDigest{Seq: seq, Sum: [sha256.Size]byte(r.digests[i*sha256.Size:])})
	}
	return b, nil
}

// An entry gets its sequence number when it is recorded, but becomes visible when its transaction is committed, perhaps
// after entries with higher numbers. A reader that continues after the highest number it has read would miss the entry.
// So transactions that record hold an advisory lock in shared mode. EntriesAfter waits until those have ended that held it
// when the last entry that it returns was visible. It does not request the lock, so that nothing waits for EntriesAfter.
const (
	sharedLock = `SELECT pg_advisory_xact_lock_shared(hashtextextended('innsigli.evidence', 0))`
	// readingLock is held by a transaction that reads entries, and may record others: two that record would wait for each
	// other. It must read before it records.
	readingLock = `SELECT pg_advisory_xact_lock(hashtextextended('innsigli.evidence.reading', 0))`
	// recording selects the transactions of others that hold the lock.
	recording = `SELECT coalesce(array_agg(virtualtransaction), '{}') FROM pg_locks
		WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND (classid::bigint << 32 | objid::bigint) = hashtextextended('innsigli.evidence', 0) AND objsubid = 1
		AND granted AND pid <> pg_backend_pid()`
)

// recordingTime bounds how long EntriesAfter waits for transactions that record.
const recordingTime = 20 * time.Second

// evidenceLog is the storage.EvidenceLog of a DB.
type evidenceLog struct{ db *DB }

var _ storage.EvidenceLog = evidenceLog{}

// EvidenceLog returns the log of what happened to requests and processes.
func (db *DB) EvidenceLog() storage.EvidenceLog { return evidenceLog{db} }

func (s evidenceLog) Record(ctx context.Context, entries ...storage.Entry) error {
	if err := s.db.queueExec(ctx, sharedLock); err != nil {
		return err
	}
	for _, e := range entries {
		err := s.db.queueExec(ctx, `INSERT INTO evidence (subject, account, kind, at, facts) VALUES ($1, $2, $3, $4, $5)`,
			e.Subject, e.Account, e.Kind, e.At, string(e.Facts))
		if err != nil {
			return err
		}
	}
	return nil
}

func (s evidenceLog) Entries(ctx context.Context, subject string) ([]storage.Entry, error) {
	return list(ctx, s.db, entryTable, "subject = $1 ORDER BY seq", subject)
}

func (s evidenceLog) LastEntry(ctx context.Context, subject string) (storage.Entry, error) {
	return one(list(ctx, s.db, entryTable, "subject = $1 ORDER BY seq DESC LIMIT 1", subject))
}

// one returns the only record of a list.
func one[R any](list []R, err error) (r R, _ error) {
	if err != nil {
		return r, err
	}
	if len(list) == 0 {
		return r, storage.ErrNotFound
	}
	return list[0], nil
}

func (s evidenceLog) EntriesAfter(ctx context.Context, seq int64, limit int) (entries []storage.Entry, err error) {
	err = s.db.read(ctx, func(q querier) error {
		if s.db.txn(ctx) != nil {
			if _, err := q.Exec(ctx, readingLock); err != nil {
				return err
			}
		}
		var last *int64
		const visible = `SELECT max(seq) FROM (SELECT seq FROM evidence WHERE seq > $1 ORDER BY seq LIMIT $2) AS page`
		if err := q.QueryRow(ctx, visible, seq, max(limit, 0)).Scan(&last); err != nil || last == nil {
			entries = nil
			return err
		}
		if err := awaitRecording(ctx, q); err != nil {
			return err
		}
		entries, err = entryTable.list(ctx, q, "seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3", seq, *last, max(limit, 0))
		return err
	})
	return entries, err
}

// awaitRecording waits until all transactions have ended that now record entries.
func awaitRecording(ctx context.Context, q querier) error {
	var before []string
	if err := q.QueryRow(ctx, recording).Scan(&before); err != nil || len(before) == 0 {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, recordingTime)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-bounded.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%w: a transaction that records evidence has not ended within %v", storage.ErrUnavailable, recordingTime)
		}
		var waiting bool
		if err := q.QueryRow(ctx, `SELECT (`+recording+`) && $1::text[]`, before).Scan(&waiting); err != nil || !waiting {
			return err
		}
	}
}

func (s evidenceLog) AddBatch(ctx context.Context, b storage.Batch, salts [][]byte) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		last, err := lastBatch(ctx, tx)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		if !b.Follows(last) {
			return storage.ErrMoved
		}
		r := newBatchRow(b)
		if err := batchTable.insert(ctx, tx, r); errors.Is(err, storage.ErrExists) {
			return storage.ErrMoved // by a transaction that was committed meanwhile
		} else if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO evidence_salts (seq, salt) SELECT * FROM unnest($1::bigint[], $2::bytea[])", r.seqs, salts)
		return err
	})
}

func (s evidenceLog) Batches(ctx context.Context, number int64, limit int) (batches []storage.Batch, err error) {
	rows, err := list(ctx, s.db, batchTable, "number > $1 ORDER BY number LIMIT $2", number, max(limit, 0))
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		b, err := r.batch()
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
	return batches, nil
}

func (s evidenceLog) LastBatch(ctx context.Context) (b storage.Batch, err error) {
	err = s.db.read(ctx, func(q querier) error {
		b, err = lastBatch(ctx, q)
		return err
	})
	return b, err
}

// lastBatch reads the last batch without a lock on it, which would need a privilege to change it.
func lastBatch(ctx context.Context, q querier) (storage.Batch, error) {
	r, err := one(batchTable.list(ctx, q, "true ORDER BY number DESC LIMIT 1"))
	if err != nil {
		return storage.Batch{}, err
	}
	return r.batch()
}

func (s evidenceLog) DeleteEntries(ctx context.Context, seqs ...int64) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		for _, table := range []string{"evidence", "evidence_salts"} {
			if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE seq = ANY ($1)", seqs); err != nil {
				return permitted(err)
			}
		}
		return nil
	})
}

// permitted returns storage.ErrNotPermitted for the error of a role that may not delete evidence.
func permitted(err error) error {
	if err = translate(err); errors.Is(err, ErrNotGranted) {
		return fmt.Errorf("%w: %w", storage.ErrNotPermitted, err)
	}
	return err
}

func (s evidenceLog) DeleteBatch(ctx context.Context, number int64) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		r, err := one(batchTable.list(ctx, tx, "number = $1", number))
		if err != nil {
			return err
		}
		for _, statement := range []string{
			"DELETE FROM evidence WHERE seq <= $1", "DELETE FROM evidence_salts WHERE seq <= $1",
		} {
			if _, err := tx.Exec(ctx, statement, r.seqs[len(r.seqs)-1]); err != nil {
				return permitted(err)
			}
		}
		_, err = tx.Exec(ctx, "DELETE FROM evidence_batches WHERE number = $1", number)
		return permitted(err)
	})
}

func (s evidenceLog) Restore(ctx context.Context, entries []storage.Entry, batches []storage.Batch) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		highest := int64(0)
		for _, e := range entries {
			_, err := tx.Exec(ctx, `INSERT INTO evidence (seq, subject, account, kind, at, facts) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6)`,
				e.Seq, e.Subject, e.Account, e.Kind, e.At, string(e.Facts))
			if err == nil && e.Salt != nil {
				_, err = tx.Exec(ctx, "INSERT INTO evidence_salts (seq, salt) VALUES ($1, $2)", e.Seq, e.Salt)
			}
			if err != nil {
				return err
			}
			highest = max(highest, e.Seq)
		}
		for _, b := range batches {
			if err := batchTable.insert(ctx, tx, newBatchRow(b)); err != nil {
				return err
			}
			highest = max(highest, b.Last())
		}
		if highest == 0 {
			return nil
		}
		_, err := tx.Exec(ctx, `SELECT setval(sequence, greatest($1, nextval(sequence) - 1)) FROM (SELECT pg_get_serial_sequence('evidence', 'seq')::regclass) AS s (sequence)`, highest)
		return err
	})
}
