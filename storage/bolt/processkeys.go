package bolt

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

var (
	processKeysByAge = index[processKeyRecord]{bucket: "portal.key.age", grows: true, key: func(k processKeyRecord) []byte { return instant(k.CreatedAt) }}
	processKeyTable  = table[processKeyRecord]{bucket: "portal.key", indexes: []index[processKeyRecord]{processKeysByAge}}
)

type processKeyRecord struct {
	Client      string    `json:"client"`
	Value       string    `json:"value"`
	Fingerprint string    `json:"fingerprint"`
	CreatedAt   time.Time `json:"createdAt"`
	Process     string    `json:"process,omitempty"`
	Until       time.Time `json:"until,omitzero"`
}

func (r processKeyRecord) key() portal.Key { return portal.Key(r) }

func (s processes) CreateKey(ctx context.Context, k portal.Key) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return processKeyTable.insert(tx, string(idempotencyKey(k.Client, k.Value)), processKeyRecord(k))
	})
}

func (s processes) UpdateKey(ctx context.Context, k portal.Key) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return processKeyTable.update(tx, string(idempotencyKey(k.Client, k.Value)), processKeyRecord(k))
	})
}

func (s processes) Key(ctx context.Context, client, value string) (portal.Key, error) {
	record, err := read(ctx, s.db, processKeyTable, string(idempotencyKey(client, value)))
	return record.key(), err
}

func (s processes) DeleteKey(ctx context.Context, client, value string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		err := processKeyTable.remove(tx, string(idempotencyKey(client, value)))
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		return err
	})
}

func (s processes) DeleteKeys(ctx context.Context, until time.Time, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx *boltTx) error {
		n, err = processKeyTable.removeFirst(tx, processKeysByAge, upTo(until), limit)
		return err
	})
	return n, err
}
