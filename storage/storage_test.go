package storage_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// twice runs each outermost transaction twice, as a store does after a conflict.
type twice struct{}

func (tx twice) InTx(ctx context.Context, fn func(context.Context) error) error {
	if ctx.Value(tx) != nil {
		return fn(ctx)
	}
	ctx = context.WithValue(ctx, tx, true)
	return errors.Join(fn(ctx), fn(ctx))
}

// TestAfterCommit checks that reports are made once, after the outermost transaction, and not after one that is
// rolled back.
func TestAfterCommit(t *testing.T) {
	var got []string
	report := func(ctx context.Context, text string) {
		storage.AfterCommit(ctx, func(context.Context) { got = append(got, text) })
	}
	failed := errors.New("rolled back")
	transaction := func(outcome error) error {
		return storage.InTx(t.Context(), twice{}, func(ctx context.Context) error {
			report(ctx, "outer")
			err := storage.InTx(ctx, twice{}, func(ctx context.Context) error {
				report(ctx, "inner")
				return nil
			})
			got = append(got, "end")
			return errors.Join(err, outcome)
		})
	}
	if err := transaction(failed); !errors.Is(err, failed) || !slices.Equal(got, []string{"end", "end"}) {
		t.Errorf("rolled back: %v, %v", got, err)
	}
	got = nil
	if err := transaction(nil); err != nil || !slices.Equal(got, []string{"end", "end", "outer", "inner"}) {
		t.Errorf("committed: %v, %v", got, err)
	}
	got = nil
	if report(t.Context(), "alone"); !slices.Equal(got, []string{"alone"}) {
		t.Errorf("outside of a transaction: %v", got)
	}
}

// TestClock checks that a clock gets the caller's context, and that all times have the precision that backends
// store.
func TestClock(t *testing.T) {
	type account struct{}
	moved := time.Date(2031, 5, 1, 10, 0, 0, 123456789, time.FixedZone("", 3600))
	clock := storage.Clock(func(ctx context.Context) time.Time {
		if ctx.Value(account{}) == "moved" {
			return moved
		}
		return moved.AddDate(-1, 0, 0)
	})
	want := time.Date(2031, 5, 1, 9, 0, 0, 123456000, time.UTC)
	if got := clock.Now(context.WithValue(t.Context(), account{}, "moved")); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := clock.Now(t.Context()); got != want.AddDate(-1, 0, 0) {
		t.Errorf("another account's time: %v", got)
	}
	before := time.Now().Truncate(time.Microsecond)
	if got := storage.Clock(nil).Now(t.Context()); got.Before(before) || got.After(time.Now()) || got.Location() != time.UTC {
		t.Errorf("the machine's time: %v", got)
	}
}
