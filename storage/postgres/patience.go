package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience bounds how long an answer to a statement is waited for. The server ends a
// statement that takes too long by itself, unless its machine or the way to it is gone
// without a word. pgx asks a tracer for the context of each kind of statement.
type patience time.Duration

var (
	_ pgx.QueryTracer    = patience(0)
	_ pgx.CopyFromTracer = patience(0)
	_ pgx.PrepareTracer  = patience(0)
)

type endKey struct{}

// begin gives a statement a context that ends in time, and end lets go of it.
func (p patience) begin(ctx context.Context) context.Context {
	ctx, end := context.WithTimeout(ctx, time.Duration(p))
	return context.WithValue(ctx, endKey{}, end)
}

func (patience) end(ctx context.Context) {
	if end, ok := ctx.Value(endKey{}).(context.CancelFunc); ok {
		end()
	}
}

func (p patience) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return p.begin(ctx)
}

func (p patience) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	p.end(ctx)
}

func (p patience) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromStartData) context.Context {
	return p.begin(ctx)
}

func (p patience) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromEndData) {
	p.end(ctx)
}

func (p patience) TracePrepareStart(ctx context.Context, _ *pgx.Conn, _ pgx.TracePrepareStartData) context.Context {
	return p.begin(ctx)
}

func (p patience) TracePrepareEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TracePrepareEndData) {
	p.end(ctx)
}
