package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
)

// settling is how long after its start a server may ask more than an idle one.
const settling = 15 * time.Second

// idleTrial measures how many transactions a second a server without clients makes: one at most.
func idleTrial(ctx context.Context, flags *flag.FlagSet, args []string, out io.Writer) (err error) {
	store := flags.String("postgres", "", "URL of an empty database")
	span := flags.Duration("for", time.Minute, "how long transactions are counted")
	if err := flags.Parse(args); err != nil {
		return err
	}
	h, err := newHouse(ctx, *store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.remove()) }()
	s, err := h.newServer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	pause(ctx, settling)
	before, err := transactions(ctx, *store)
	if err != nil {
		return err
	}
	pause(ctx, *span)
	after, err := transactions(ctx, *store)
	if err != nil {
		return err
	}
	rate := float64(after-before) / span.Seconds()
	err = new(figures).table(out, [][2]any{
		{"an idle server, for", *span},
		{"transactions", after - before},
		{"a second", fmt.Sprintf("%.2f", rate)},
	})
	if err == nil && rate > 1 {
		err = errBroken
	}
	return err
}

// transactions returns how many transactions of a database have ended. To ask that is one or two of them.
func transactions(ctx context.Context, store string) (n int64, err error) {
	conn, err := pgx.Connect(ctx, store)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return n, conn.QueryRow(ctx, `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
}
