package postgres

import (
	"context"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/account"
)

var lineTable = table[account.Line]{
	name:    "ledger",
	columns: []string{"id", "account", "api", "at", "free"},
	fields: func(l *account.Line) []any {
		return []any{&l.ID, &l.Account, (*string)(&l.API), &l.At, &l.Free}
	},
}

func (s accounts) AddLine(ctx context.Context, l account.Line) error {
	return s.db.write(ctx, func(tx pgx.Tx) error { return lineTable.insert(ctx, tx, l) })
}

func (s accounts) DeleteLines(ctx context.Context, of string, limit int) (lines []account.Line, err error) {
	err = s.db.write(ctx, func(tx pgx.Tx) error {
		lines, err = deleteReturning(ctx, tx, lineTable, "account", of, limit)
		return err
	})
	return lines, err
}

func (s accounts) Lines(ctx context.Context, account string, from, to time.Time) iter.Seq2[account.Line, error] {
	return walk(ctx, s.db, lineTable, way{
		where: "account = $1 AND at >= $2 AND at < $3", args: []any{account, from, to}, order: []string{"at", "seq"},
	})
}
