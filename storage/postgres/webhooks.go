package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/webhook/delivery"
)

var (
	subscriptionTable = table[delivery.Subscription]{
		name: "webhook_subscriptions",
		columns: []string{
			"id", "account", "url", "event_types", "active", "reason", "created_at", "updated_at",
			"secret", "generation", "activated_at", "failing_since", "alerted_at",
		},
		fields: func(s *delivery.Subscription) []any {
			return []any{
				&s.ID, &s.Account, &s.URL, &s.EventTypes, &s.Active, (*string)(&s.Reason), &s.CreatedAt, &s.UpdatedAt,
				&s.Secret, &s.Generation, (*moment)(&s.ActivatedAt), (*moment)(&s.FailingSince), (*moment)(&s.AlertedAt),
			}
		},
	}

	signingKeyTable = table[delivery.SigningKey]{
		name:    "webhook_keys",
		columns: []string{"number", "public_key", "private_key", "created_at", "ends_at"},
		fields: func(k *delivery.SigningKey) []any {
			return []any{&k.Number, &k.Public, &k.Private, &k.CreatedAt, (*moment)(&k.EndsAt)}
		},
	}
)

// webhooks is the delivery.Store of a DB.
type webhooks struct{ db *DB }

var _ delivery.Store = webhooks{}

// Webhooks is the store of subscriptions and of what is sent to them.
func (db *DB) Webhooks() delivery.Store { return webhooks{db} }

// subscribing is locked by the transaction that adds a subscription to an account: so each of
// them counts what the one before has added.
const subscribing = `SELECT pg_advisory_xact_lock(hashtextextended('innsigli.webhooks:' || $1, 0))`

func (s webhooks) CreateSubscription(ctx context.Context, sub delivery.Subscription, limit int) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, subscribing, sub.Account); err != nil {
			return err
		}
		var there int
		err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM webhook_subscriptions WHERE account = $1 LIMIT $2) there`,
			sub.Account, max(limit, 0)).Scan(&there)
		if err != nil {
			return err
		}
		if there >= limit {
			return delivery.ErrTooMany
		}
		return subscriptionTable.insert(ctx, tx, sub)
	})
}

func (s webhooks) UpdateSubscription(ctx context.Context, sub delivery.Subscription) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return subscriptionTable.replace(ctx, tx, sub) })
}

func (s webhooks) DeleteSubscription(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return subscriptionTable.remove(ctx, tx, id) })
}

func (s webhooks) Subscription(ctx context.Context, id string) (delivery.Subscription, error) {
	return find(ctx, s.db, subscriptionTable, "id = $1", id)
}

func (s webhooks) Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error) {
	return list(ctx, s.db, subscriptionTable, "account = $1 ORDER BY seq", account)
}

func (s webhooks) CreateKey(ctx context.Context, k delivery.SigningKey) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return signingKeyTable.insert(ctx, tx, k) })
}

func (s webhooks) UpdateKey(ctx context.Context, k delivery.SigningKey) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return signingKeyTable.replace(ctx, tx, k) })
}

// Keys that are read in a transaction then stay as they are: it is going to change them.
func (s webhooks) Keys(ctx context.Context) (keys []delivery.SigningKey, err error) {
	err = s.db.read(ctx, func(q querier) error {
		keys, err = signingKeyTable.list(ctx, q, "true ORDER BY number"+lock(q))
		return err
	})
	return keys, err
}

func (s webhooks) DeleteKey(ctx context.Context, number int) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return signingKeyTable.remove(ctx, tx, number) })
}
