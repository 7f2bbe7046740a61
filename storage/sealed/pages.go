package sealed

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/innsigli/innsigli/storage"
)

const pageRecord kind = "record of the signing page"

// Pages is a store in which the values of records are sealed.
func Pages(store storage.Records, keys *Keys) storage.Records { return pages{store, keys} }

// pages embeds no store either.
type pages struct {
	store storage.Records
	keys  *Keys
}

var _ storage.Records = pages{}

func (s pages) PutRecord(ctx context.Context, r storage.Record) error {
	r.Value = s.keys.seal(pageRecord, hex.EncodeToString(r.Key), r.Value)
	return s.store.PutRecord(ctx, r)
}

// Record answers storage.ErrNotFound also where none of the keys opens the value: who was there logs in
// again, and nobody is refused because a key is gone.
func (s pages) Record(ctx context.Context, key []byte) (storage.Record, error) {
	r, err := s.store.Record(ctx, key)
	if err != nil {
		return r, err
	}
	if r.Value, err = s.keys.open(pageRecord, hex.EncodeToString(r.Key), r.Value); err != nil {
		return storage.Record{}, storage.ErrNotFound
	}
	return r, nil
}

func (s pages) DeleteRecord(ctx context.Context, key []byte) error {
	return s.store.DeleteRecord(ctx, key)
}

func (s pages) DeleteRecords(ctx context.Context, until time.Time, limit int) (int, error) {
	return s.store.DeleteRecords(ctx, until, limit)
}
