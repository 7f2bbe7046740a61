package bolt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/storage"
)

// An entry's id is the key of its place in the log, so that the table is in that order.
var (
	entriesOfSubject = index[entryRecord]{bucket: "evidence.subject", key: func(e entryRecord) []byte { return text(e.Subject) }}
	entriesByTime    = index[entryRecord]{bucket: "evidence.time", key: func(e entryRecord) []byte { return instant(e.At) }}
	entryTable       = table[entryRecord]{bucket: "evidence", indexes: []index[entryRecord]{entriesOfSubject, entriesByTime}}
)

type entryRecord struct {
	Seq     int64     `json:"seq"`
	Subject string    `json:"subject"`
	Account string    `json:"account"`
	Kind    string    `json:"kind"`
	At      time.Time `json:"at"`
	// Facts are bytes here, because encoding/json writes a RawMessage anew and what is
	// evidence stays as it was recorded.
	Facts []byte `json:"facts"`
}

func (r entryRecord) entry() storage.Entry {
	return storage.Entry{Seq: r.Seq, Subject: r.Subject, Account: r.Account, Kind: r.Kind, At: r.At, Facts: r.Facts}
}

// evidenceLog is the storage.EvidenceLog of a DB.
type evidenceLog struct{ db *DB }

var _ storage.EvidenceLog = evidenceLog{}

// EvidenceLog is the log of what happened to requests and processes.
func (db *DB) EvidenceLog() storage.EvidenceLog { return evidenceLog{db} }

func (s evidenceLog) Record(ctx context.Context, entries ...storage.Entry) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		for _, e := range entries {
			if err := record(tx, e); err != nil {
				return fmt.Errorf("bolt: recording %s of %s: %w", e.Kind, e.Subject, err)
			}
		}
		return nil
	})
}

func record(tx *bbolt.Tx, e storage.Entry) error {
	if !json.Valid(e.Facts) {
		return errors.New("the facts are not JSON")
	}
	next := tx.Bucket([]byte(entryTable.bucket)).Sequence() + 1 // which insert takes
	r := entryRecord{int64(next), e.Subject, e.Account, e.Kind, e.At, e.Facts}
	return entryTable.insert(tx, string(number(next)), r)
}

func (s evidenceLog) Entries(ctx context.Context, subject string) ([]storage.Entry, error) {
	records, err := list(ctx, s.db, entryTable, entriesOfSubject, under(text(subject)))
	return convert(records, entryRecord.entry), err
}

func (s evidenceLog) EntriesAfter(ctx context.Context, seq int64, limit int) (entries []storage.Entry, err error) {
	err = s.db.read(ctx, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(entryTable.bucket)).Cursor()
		for k, _ := c.Seek(number(uint64(max(seq, 0)) + 1)); k != nil && len(entries) < limit; k, _ = c.Next() {
			r, err := entryTable.get(tx, string(k))
			if err != nil {
				return err
			}
			entries = append(entries, r.entry())
		}
		return nil
	})
	return entries, err
}

func (s evidenceLog) DeleteEntries(ctx context.Context, earlier time.Time, limit int) (int, error) {
	return removeBefore(ctx, s.db, entryTable, entriesByTime, earlier, limit)
}
