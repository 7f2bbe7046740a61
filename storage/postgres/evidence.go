package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/storage"
)

var entryTable = table[storage.Entry]{
	name:    "evidence",
	columns: []string{"seq", "subject", "account", "kind", "at", "facts"},
	fields: func(e *storage.Entry) []any {
		return []any{&e.Seq, &e.Subject, &e.Account, &e.Kind, &e.At, (*[]byte)(&e.Facts)}
	},
}

// An entry gets its sequence number when it is recorded, but becomes visible when its transaction is
// committed, perhaps after entries with higher numbers. A reader that continues after the highest number it
// has read would miss the entry. So transactions that record hold an advisory lock in shared mode, and
// EntriesAfter waits for them by taking it in exclusive mode.
const (
	sharedLock    = `SELECT pg_advisory_xact_lock_shared(hashtextextended('innsigli.evidence', 0))`
	exclusiveLock = `SELECT pg_advisory_xact_lock(hashtextextended('innsigli.evidence', 0))`
)

// evidenceLog is the storage.EvidenceLog of a DB.
type evidenceLog struct{ db *DB }

var _ storage.EvidenceLog = evidenceLog{}

// EvidenceLog returns the log of what happened to requests and processes.
func (db *DB) EvidenceLog() storage.EvidenceLog { return evidenceLog{db} }

func (s evidenceLog) Record(ctx context.Context, entries ...storage.Entry) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sharedLock); err != nil {
			return err
		}
		for _, e := range entries {
			_, err := tx.Exec(ctx, `INSERT INTO evidence (subject, account, kind, at, facts) VALUES ($1, $2, $3, $4, $5)`,
				e.Subject, e.Account, e.Kind, e.At, string(e.Facts))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s evidenceLog) Entries(ctx context.Context, subject string) ([]storage.Entry, error) {
	return list(ctx, s.db, entryTable, "subject = $1 ORDER BY seq", subject)
}

func (s evidenceLog) EntriesAfter(ctx context.Context, seq int64, limit int) (entries []storage.Entry, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		return s.db.write(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, exclusiveLock); err != nil {
				return err
			}
			entries, err = entryTable.list(ctx, tx, "seq > $1 ORDER BY seq LIMIT $2", seq, max(limit, 0))
			return err
		})
	})
	return entries, err
}

func (s evidenceLog) DeleteEntries(ctx context.Context, before time.Time, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		deleted, err := tx.Exec(ctx, `DELETE FROM evidence WHERE seq = ANY (ARRAY (
			SELECT seq FROM evidence WHERE at < $1 ORDER BY at, seq LIMIT $2 FOR UPDATE SKIP LOCKED))`, before, max(limit, 0))
		n = int(deleted.RowsAffected())
		return err
	})
	return n, err
}
