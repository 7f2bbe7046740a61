package postgres

import (
	"context"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/webhook/delivery"
)

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

	// droppedHeads are the records of droppedTable without their bodies, to be read alone.
	droppedHeads = table[delivery.Dropped]{
		name:    droppedTable.name,
		columns: droppedTable.columns[:4],
		fields:  func(d *delivery.Dropped) []any { return []any{&d.Subscription, &d.Event, &d.Type, &d.At} },
	}
)

func (s webhooks) AddAttempt(ctx context.Context, a delivery.Attempt) error {
	return s.db.later(ctx, attemptTable.inserting(), attemptTable.fields(&a)...)
}

func (s webhooks) Attempts(ctx context.Context, subscription string) iter.Seq2[delivery.Attempt, error] {
	return walk(ctx, s.db, attemptTable, way{
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
