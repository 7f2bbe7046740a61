package bolt

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/storage"
)

var (
	pageRecordExpiry = index[pageRecord]{bucket: "page.record.expiry", key: func(r pageRecord) []byte { return instant(r.Expires) }}
	pageRecordTable  = table[pageRecord]{bucket: "page.record", indexes: []index[pageRecord]{pageRecordExpiry}}
)

type pageRecord struct {
	Key     []byte    `json:"key"`
	Value   []byte    `json:"value"`
	Expires time.Time `json:"expires"`
}

// pages is the storage.Records of a DB.
type pages struct{ db *DB }

var _ storage.Records = pages{}

// Pages returns the store of the signing page's records, which expire.
func (db *DB) Pages() storage.Records { return pages{db} }

func (s pages) PutRecord(ctx context.Context, r storage.Record) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return pageRecordTable.save(tx, string(r.Key), pageRecord(r))
	})
}

func (s pages) Record(ctx context.Context, key []byte) (storage.Record, error) {
	record, err := read(ctx, s.db, pageRecordTable, string(key))
	return storage.Record(record), err
}

func (s pages) DeleteRecord(ctx context.Context, key []byte) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		err := pageRecordTable.remove(tx, string(key))
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		return err
	})
}

func (s pages) DeleteRecords(ctx context.Context, until time.Time, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx *boltTx) error {
		n, err = pageRecordTable.removeFirst(tx, pageRecordExpiry, upTo(until), limit)
		return err
	})
	return n, err
}
