package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

var processKeyTable = table[portal.Key]{
	name:    "process_keys",
	columns: []string{"client", "value", "fingerprint", "created_at", "process", "until"},
	fields: func(k *portal.Key) []any {
		return []any{&k.Client, &k.Value, &k.Fingerprint, &k.CreatedAt, &k.Process, (*moment)(&k.Until)}
	},
}

func (s processes) CreateKey(ctx context.Context, k portal.Key) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return processKeyTable.insert(ctx, tx, k) })
}

func (s processes) UpdateKey(ctx context.Context, k portal.Key) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if !storable(k.Value) {
			return storage.ErrNotFound
		}
		there, err := processKeyTable.update(ctx, tx, k, "value = "+processKeyTable.parameter("value"))
		if err == nil && !there {
			return storage.ErrNotFound
		}
		return err
	})
}

func (s processes) Key(ctx context.Context, client, value string) (portal.Key, error) {
	return find(ctx, s.db, processKeyTable, "client = $1 AND value = $2", client, value)
}

func (s processes) DeleteKey(ctx context.Context, client, value string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if !storable(client, value) {
			return nil
		}
		_, err := tx.Exec(ctx, "DELETE FROM process_keys WHERE client = $1 AND value = $2", client, value)
		return err
	})
}

func (s processes) DeleteKeys(ctx context.Context, until time.Time, limit int) (int, error) {
	return deleteFirst(ctx, s.db, processKeyTable, "created_at", "<=", until, limit)
}
