package postgres

import (
	"context"
	"iter"
	"time"

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

// Webhooks returns the store of subscriptions, signing keys, delivery attempts and dropped events.
func (db *DB) Webhooks() delivery.Store { return webhooks{db} }

// subscriptionLock locks the subscriptions of an account while one is added, so that concurrent transactions
// cannot exceed the limit.
const subscriptionLock = `SELECT pg_advisory_xact_lock(hashtextextended('innsigli.webhooks:' || $1, 0))`

func (s webhooks) CreateSubscription(ctx context.Context, sub delivery.Subscription, limit int) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, subscriptionLock, sub.Account); err != nil {
			return err
		}
		var number int
		err := tx.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM webhook_subscriptions WHERE account = $1 LIMIT $2) there`,
			sub.Account, max(limit, 0)).Scan(&number)
		if err != nil {
			return err
		}
		if number >= limit {
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

// Keys locks the keys that it reads in a transaction, because the caller is going to change them.
func (s webhooks) Keys(ctx context.Context) (keys []delivery.SigningKey, err error) {
	err = s.db.read(ctx, func(q querier) error {
		keys, err = signingKeyTable.list(ctx, q, "true ORDER BY number"+rowLock(q))
		return err
	})
	return keys, err
}

func (s webhooks) DeleteKey(ctx context.Context, number int) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return signingKeyTable.remove(ctx, tx, number) })
}

var (
	attemptTable = table[delivery.Attempt]{
		name: "webhook_attempts",
		columns: []string{
			"subscription", "event", "type", "purpose", "number", "at", "duration", "status", "failure", "detail", "next",
		},
		fields: func(a *delivery.Attempt) []any {
			return []any{
				&a.Subscription, &a.Event, &a.Type, (*string)(&a.Purpose), &a.Number, &a.At, (*int64)(&a.Duration),
				&a.Status, (*string)(&a.Failure), &a.Detail, (*moment)(&a.Next),
			}
		},
	}

	droppedTable = table[delivery.Dropped]{
		name:    "webhook_dropped",
		columns: []string{"subscription", "event", "type", "at", "body"},
		fields:  func(d *delivery.Dropped) []any { return []any{&d.Subscription, &d.Event, &d.Type, &d.At, &d.Body} },
	}

	// droppedHeads reads the records of droppedTable without their bodies.
	droppedHeads = table[delivery.Dropped]{
		name:    droppedTable.name,
		columns: droppedTable.columns[:4],
		fields:  func(d *delivery.Dropped) []any { return []any{&d.Subscription, &d.Event, &d.Type, &d.At} },
	}
)

func (s webhooks) AddAttempt(ctx context.Context, a delivery.Attempt) error {
	return s.db.queueExec(ctx, attemptTable.insertStatement(), attemptTable.fields(&a)...)
}

func (s webhooks) Attempts(ctx context.Context, subscription string) iter.Seq2[delivery.Attempt, error] {
	return walk(ctx, s.db, attemptTable, keysetOrder{
		where: "subscription = $1", args: []any{subscription}, order: []string{"at", "seq"}, descending: true,
	})
}

func (s webhooks) DeleteAttempts(ctx context.Context, before time.Time, limit int) (int, error) {
	return deleteFirst(ctx, s.db, attemptTable, "at", "<", before, limit)
}

func (s webhooks) DeleteAttemptsOf(ctx context.Context, subscription string, limit int) (int, error) {
	return deleteSome(ctx, s.db, attemptTable, "subscription", subscription, limit)
}

func (s webhooks) AddDropped(ctx context.Context, d delivery.Dropped) error {
	return s.db.write(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO webhook_dropped (subscription, event, type, at, body) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (subscription, event) DO UPDATE SET type = excluded.type, at = excluded.at, body = excluded.body`,
			droppedTable.fields(&d)...)
		return err
	})
}

func (s webhooks) Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error) {
	return list(ctx, s.db, droppedHeads, "subscription = $1 ORDER BY at, seq", subscription)
}

func (s webhooks) RemoveDropped(ctx context.Context, subscription, event string) (d delivery.Dropped, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		if d, err = droppedTable.find(ctx, tx, "subscription = $1 AND event = $2", subscription, event); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM webhook_dropped WHERE subscription = $1 AND event = $2`, subscription, event)
		return err
	})
	return d, err
}

func (s webhooks) DeleteDropped(ctx context.Context, before time.Time, limit int) (int, error) {
	return deleteFirst(ctx, s.db, droppedTable, "at", "<", before, limit)
}
