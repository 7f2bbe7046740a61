package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// tries is how often a transaction is run that others get in the way of.
const tries = 10

// collided says whether a transaction was undone because of others that ran at the same
// time, so that it may be run again.
func collided(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && (said.Code == serializationFailure || said.Code == deadlockDetected)
}

// pause lets the others get on, each for a time of its own, so that the same ones do
// not meet again.
func pause(ctx context.Context, try int) error {
	longest := min(time.Millisecond<<try, 100*time.Millisecond)
	select {
	case <-time.After(rand.N(longest)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
