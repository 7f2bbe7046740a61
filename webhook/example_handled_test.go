package webhook_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/innsigli/innsigli/webhook"
)

// inDatabase records events in the transaction in which they are handled, in
//
//	CREATE TABLE handled (id text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())
//
// Rows that are older than two days may be deleted.
type inDatabase struct{ pool *pgxpool.Pool }

type transaction struct{} // key of a context value

func (d inDatabase) Once(ctx context.Context, id string, handle func(ctx context.Context) error) error {
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		// While another transaction handles the same event, this statement waits for its end.
		added, err := tx.Exec(ctx, "INSERT INTO handled (id) VALUES ($1) ON CONFLICT DO NOTHING", id)
		if err != nil || added.RowsAffected() == 0 {
			return err
		}
		return handle(context.WithValue(ctx, transaction{}, tx))
	})
}

// An event that is recorded in the transaction of its effect takes effect once.
func ExampleHandled() {
	var pool *pgxpool.Pool // of the application
	key, err := webhook.ParseKey("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		fmt.Println(err)
		return
	}
	receiver := &webhook.Receiver{Keys: []webhook.Key{key}, Handled: inDatabase{pool}}
	receiver.Handler(func(ctx context.Context, e webhook.Event) error {
		tx := ctx.Value(transaction{}).(pgx.Tx)
		_, err := tx.Exec(ctx, "INSERT INTO documents (event) VALUES ($1)", e.Data)
		return err
	})
	// Output:
}
