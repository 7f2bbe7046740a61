package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/busysignal"
)

var signalTable = table[signalRow]{
	name:    "busy_signals",
	columns: []string{"id", "account", "created_at", "used_at", "holder", "holder_user", "holder_since"},
	fields: func(s *signalRow) []any {
		return []any{&s.ID, &s.Account, &s.CreatedAt, &s.UsedAt, &s.holder, &s.holderUser, &s.holderSince}
	},
}

// signalRow is a stored signal. Its holder has columns of its own, which are NULL if there is none; the Holder
// of the embedded signal is not used.
type signalRow struct {
	busysignal.Signal
	holder, holderUser *string
	holderSince        *time.Time
}

func storedSignal(s busysignal.Signal) signalRow {
	row := signalRow{Signal: s}
	if h := s.Holder; h != nil {
		row.holder, row.holderUser, row.holderSince = &h.ID, h.UserID, &h.Since
	}
	return row
}

func (r signalRow) signal() busysignal.Signal {
	s := r.Signal
	if r.holder != nil {
		s.Holder = &busysignal.Holder{ID: *r.holder, UserID: r.holderUser, Since: *r.holderSince}
	}
	return s
}

// signals is the busysignal.Store of a DB.
type signals struct{ db *DB }

var _ busysignal.Store = signals{}

// BusySignals returns the store of busy signals.
func (db *DB) BusySignals() busysignal.Store { return signals{db} }

func (s signals) Signal(ctx context.Context, id string) (busysignal.Signal, error) {
	row, err := find(ctx, s.db, signalTable, "id = $1", id)
	return row.signal(), err
}

func (s signals) AddSignal(ctx context.Context, signal busysignal.Signal) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return signalTable.insert(ctx, tx, storedSignal(signal)) })
}

func (s signals) UpdateSignal(ctx context.Context, signal busysignal.Signal) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return signalTable.replace(ctx, tx, storedSignal(signal)) })
}

func (s signals) DeleteSignal(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return signalTable.remove(ctx, tx, id) })
}

func (s signals) DeleteUnusedSignals(ctx context.Context, lastUse time.Time, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		n, err = signalTable.removeFirst(ctx, tx, "used_at", lastUse, limit)
		return err
	})
	return n, err
}
