package bolt

import (
	"context"
	"iter"
	"time"

	"go.etcd.io/bbolt"

	"github.com/innsigli/innsigli/account"
)

var (
	linesOfAccount = index[lineRecord]{bucket: "account.line.account", key: func(l lineRecord) []byte { return lineTime(l.Account, l.At) }}
	lineTable      = table[lineRecord]{bucket: "account.line", indexes: []index[lineRecord]{linesOfAccount}}
)

func lineTime(account string, at time.Time) []byte { return append(text(account), instant(at)...) }

type lineRecord struct {
	ID      string      `json:"id"`
	Account string      `json:"account"`
	API     account.API `json:"api"`
	At      time.Time   `json:"at"`
	Free    bool        `json:"free,omitempty"`
}

func (r lineRecord) line() account.Line { return account.Line(r) }

func (s accounts) AddLine(ctx context.Context, l account.Line) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		return lineTable.insert(tx, l.ID, lineRecord(l))
	})
}

func (s accounts) DeleteLines(ctx context.Context, account string, limit int) (n int, err error) {
	err = s.db.write(ctx, func(tx *bbolt.Tx) error {
		n, err = lineTable.removeFirst(tx, linesOfAccount, under(text(account)), limit)
		return err
	})
	return n, err
}

func (s accounts) Lines(ctx context.Context, account string, from, to time.Time) iter.Seq2[account.Line, error] {
	return within(ctx, s.db, lineTable, linesOfAccount, span{from: lineTime(account, from), to: lineTime(account, to)}, lineRecord.line)
}
