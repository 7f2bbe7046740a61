package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage/bolt"
)

// storeFlag names the store of a server.
type storeFlag struct {
	Store string `default:"bolt:innsigli-sandbox.db" placeholder:"STORE" help:"Where all data is stored: bolt:PATH, bolt:PATH?documents=FOLDER or postgres://HOST/DATABASE (default ${default})."`
	config.DatabaseFlag
}

// worksWhileServing is part of the help of commands that use the socket of a running server.
const worksWhileServing = "This also works while a server runs on the same store."

// operate calls f on the store, through its server if one is running.
func (c storeFlag) operate(ctx context.Context, f func(operator.Operator) error) error {
	return c.operateOr(ctx, f, func(s config.Store) error { return withStore(ctx, s, f) })
}

// operateOr calls f if a running server has locked the store, and else open, which opens the store.
func (c storeFlag) operateOr(ctx context.Context, f func(operator.Operator) error, open func(config.Store) error) error {
	s, err := config.ParseStore(c.Store, c.DatabaseFlag)
	if err != nil {
		return err
	}
	if s.InPostgres() {
		return open(s)
	}
	if _, err := os.Stat(s.Path); err != nil {
		return fmt.Errorf("opening the store: %w", err)
	}
	running := operator.NewClient(s.Socket())
	if running.Answers(ctx) { // before opening, since waiting for the lock takes a second
		return f(running)
	}
	err = open(s)
	if errors.Is(err, bolt.ErrLocked) { // open has not called f
		return f(running)
	}
	return err
}

// withStore opens the store and calls f on it.
func withStore(ctx context.Context, s config.Store, f func(operator.Operator) error) error {
	db, err := s.Open(ctx, "")
	if err != nil {
		return err
	}
	return errors.Join(f(operator.New(db, operator.Options{})), db.Close())
}

// table prints rows in columns, which line separates by tabs.
func table[T any](w io.Writer, header string, rows []T, line func(T) string) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, header)
	for _, r := range rows {
		fmt.Fprintln(columns, line(r))
	}
	return columns.Flush()
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// timeText returns a time as RFC 3339 text; empty for the zero time.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// timeOrDash returns a time as RFC 3339 text, or a dash for the zero time.
func timeOrDash(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return timeText(t)
}

// orDash returns a number as text, or a dash for 0.
func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// orNull returns nil for a zero value, for JSON.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
