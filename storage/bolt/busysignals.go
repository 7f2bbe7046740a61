package bolt

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/busysignal"
)

var (
	signalUse   = index[signalRecord]{bucket: "busysignal.use", key: func(s signalRecord) []byte { return instant(s.UsedAt) }}
	signalTable = table[signalRecord]{bucket: "busysignal", indexes: []index[signalRecord]{signalUse}}
)

type signalRecord struct {
	ID        string        `json:"id"`
	Account   string        `json:"account"`
	CreatedAt time.Time     `json:"createdAt"`
	UsedAt    time.Time     `json:"usedAt"`
	Holder    *holderRecord `json:"holder,omitempty"`
}

type holderRecord struct {
	ID     string    `json:"id"`
	UserID *string   `json:"userId,omitempty"`
	Since  time.Time `json:"since"`
}

func storedSignal(s busysignal.Signal) signalRecord {
	return signalRecord{s.ID, s.Account, s.CreatedAt, s.UsedAt, (*holderRecord)(s.Holder)}
}

func (r signalRecord) signal() busysignal.Signal {
	return busysignal.Signal{
		ID:        r.ID,
		Account:   r.Account,
		CreatedAt: r.CreatedAt,
		UsedAt:    r.UsedAt,
		Holder:    (*busysignal.Holder)(r.Holder),
	}
}

// signals is the busysignal.Store of a DB.
type signals struct{ db *DB }

var _ busysignal.Store = signals{}

// BusySignals is the store of busy signals.
func (db *DB) BusySignals() busysignal.Store { return signals{db} }

func (s signals) Signal(ctx context.Context, id string) (busysignal.Signal, error) {
	record, err := read(ctx, s.db, signalTable, id)
	return record.signal(), err
}

func (s signals) AddSignal(ctx context.Context, signal busysignal.Signal) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return signalTable.insert(tx, signal.ID, storedSignal(signal))
	})
}

func (s signals) UpdateSignal(ctx context.Context, signal busysignal.Signal) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return signalTable.update(tx, signal.ID, storedSignal(signal))
	})
}

func (s signals) DeleteSignal(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return signalTable.remove(tx, id)
	})
}

func (s signals) DeleteUnusedSignals(ctx context.Context, lastUse time.Time, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx *boltTx) error {
		n, err = signalTable.removeFirst(tx, signalUse, upTo(lastUse), limit)
		return err
	})
	return n, err
}
