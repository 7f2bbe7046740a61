package storage

import "context"

// InTx is tx.InTx, after which the functions run that fn and the transactions within it have given to
// [AfterCommit]. A service whose transaction may contain another service's reports begins it with InTx.
func InTx(ctx context.Context, tx Transactor, fn func(ctx context.Context) error) error {
	if ctx.Value(afterCommitKey{}) != nil { // it is part of another transaction
		return tx.InTx(ctx, fn)
	}
	var after []func()
	err := tx.InTx(ctx, func(ctx context.Context) error {
		after = nil // fn may be run more than once
		return fn(context.WithValue(ctx, afterCommitKey{}, &after))
	})
	if err != nil {
		return err
	}
	for _, report := range after {
		report()
	}
	return nil
}

// AfterCommit calls report when the outermost transaction of ctx that [InTx] has begun is committed, and never if it is
// rolled back. Outside of such a transaction it calls report at once.
func AfterCommit(ctx context.Context, report func()) {
	after, ok := ctx.Value(afterCommitKey{}).(*[]func())
	if !ok {
		report()
		return
	}
	*after = append(*after, report)
}

type afterCommitKey struct{}
