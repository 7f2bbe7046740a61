package storage

import "context"

// InTx runs fn in a transaction, as tx.InTx does. After the commit it calls the functions that were given to
// [AfterCommit] meanwhile, with ctx. It calls none if it is not known whether the transaction was committed.
// A service whose transaction may contain another service's reports begins it with InTx. Transactions of
// several Transactors must not be nested.
func InTx(ctx context.Context, tx Transactor, fn func(ctx context.Context) error) error {
	if ctx.Value(afterCommitKey{}) != nil { // it is part of another transaction
		return tx.InTx(ctx, fn)
	}
	var after []func(context.Context)
	err := tx.InTx(ctx, func(ctx context.Context) error {
		after = nil // fn may be run more than once
		return fn(context.WithValue(ctx, afterCommitKey{}, &after))
	})
	if err != nil {
		return err
	}
	for _, report := range after {
		report(ctx)
	}
	return nil
}

// AfterCommit calls report when the outermost transaction of ctx that [InTx] has begun is committed, and never if it is
// rolled back. Outside of such a transaction it calls report at once.
func AfterCommit(ctx context.Context, report func(ctx context.Context)) {
	after, ok := ctx.Value(afterCommitKey{}).(*[]func(context.Context))
	if !ok {
		report(ctx)
		return
	}
	*after = append(*after, report)
}

type afterCommitKey struct{}
