package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience bounds how long an answer to a statement is waited for. The server ends a
// statement that takes too long by itself, unless its machine or the way to it is gone
// without a word.
type patience time.Duration

var _ pgx.QueryTracer = patience(0)

type endKey struct{}

// TraceQueryStart gives the statement a context that ends in time.
func (p patience) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	ctx, end := context.WithTimeout(ctx, time.Duration(p))
	return context.WithValue(ctx, endKey{}, end)
}

// TraceQueryEnd lets go of that context.
func (p patience) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if end, ok := ctx.Value(endKey{}).(context.CancelFunc); ok {
		end()
	}
}
