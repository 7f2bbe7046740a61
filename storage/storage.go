// Package storage is the vocabulary that the service's packages and its
// storage backends share: transactions, documents, jobs, the evidence log and the
// errors that callers tell apart. It holds no rule of any domain and imports none.
//
// Each domain package declares the small Store of records it needs; a backend
// (storage/bolt, storage/postgres) implements them all together with the interfaces
// below, and storage/storagetest is the suite that every backend passes.
//
// # Transactions
//
// [Transactor.InTx] runs a function in a transaction that travels in its
// context. Store methods called with that context join it, whichever domain
// they belong to, so that a change and what follows from it are stored together
// or not at all. Methods that write need a transaction and answer [ErrNoTx]
// outside one; methods that read open a short one of their own when there is
// none.
//
// A record that is read by its key in a transaction stays as it was read until the
// transaction ends, but for what the transaction itself writes. One that was not
// there may be added by another meanwhile: adding it then is [ErrExists], and the
// transaction may go on.
package storage

import (
	"context"
	"crypto"
	"errors"
	"io"
	"time"
)

var (
	// ErrNotFound: there is no such record or document.
	ErrNotFound = errors.New("storage: not found")
	// ErrExists: another record has that key or that unique value.
	ErrExists = errors.New("storage: already exists")
	// ErrNoTx: the method joins a transaction, and its context carries none.
	ErrNoTx = errors.New("storage: not in a transaction")
	// ErrMoved: the document's head is not the base of the revision.
	ErrMoved = errors.New("storage: document has moved on")
	// ErrTooLarge: the document is longer than the limit given.
	ErrTooLarge = errors.New("storage: document too large")
	// ErrLeaseLost: the job's lease ran out and another has taken it, or the job is gone.
	ErrLeaseLost = errors.New("storage: lease lost")
	// ErrInWork: a server has the job's lease.
	ErrInWork = errors.New("storage: the job is in work")
	// ErrUnavailable: the store cannot be reached just now, and the call may be made again
	// later. Whether a transaction that ends with it was committed may not be known.
	ErrUnavailable = errors.New("storage: not available")
	// ErrFull: there is no room left, and nothing of the transaction was stored.
	ErrFull = errors.New("storage: no room left")
)

// IsTemporary reports whether the same call may go well later: the store was not reached, or had
// no room.
func IsTemporary(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrFull)
}

// Transactor runs transactions.
type Transactor interface {
	// InTx calls fn with a context that carries a transaction and commits when
	// fn returns nil; what was written is durable when InTx has returned nil.
	// An error of fn rolls everything back and is returned as it is.
	// fn does no I/O of its own and may be run more than once. InTx within a
	// transaction joins it.
	InTx(ctx context.Context, fn func(ctx context.Context) error) error
}

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

// Clock returns the current time for the caller of a service, which ctx tells, such as the account. The nil Clock is the
// machine's. Services take one in their options and ask nothing else for the time at which they act.
type Clock func(ctx context.Context) time.Time

// Now returns the time in UTC, truncated to the microsecond, which is what every backend keeps.
func (c Clock) Now(ctx context.Context) time.Time {
	now := time.Now
	if c != nil {
		now = func() time.Time { return c(ctx) }
	}
	return now().UTC().Truncate(time.Microsecond)
}

// Documents keeps documents: a base that never changes and revisions appended
// to it. A document is read while it grows; a reader sees the length it had when
// opened.
type Documents interface {
	// Create stores what r delivers, up to its end, as a new document and is
	// durable on return. It hashes on the way with every hash named, and keeps
	// the hash states for [Blob.Hashed]. A longer input than limit bytes is
	// [ErrTooLarge]; an error of r is returned as it is; neither leaves
	// anything behind. Memory use is bounded whatever the length.
	//
	// A document that no transaction ever kept (see Keep) is swept. Create does
	// not join a transaction.
	Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (Ref, error)

	// Keep says that a record stored in the same transaction refers to the
	// document, so that it is not swept any more. It joins the transaction.
	Keep(ctx context.Context, id string) error

	// Open opens the document for reading as it is now.
	Open(ctx context.Context, id string) (Blob, error)

	// Append adds revisions one after another. The first one's Base is the
	// document's length now, each later one's the end of the one before, else
	// [ErrMoved] and nothing is added. It joins the transaction.
	Append(ctx context.Context, id string, revisions ...Revision) error

	// Delete removes the document; one that does not exist is no error. Open
	// blobs of it fail with [ErrNotFound] from then on, but for what they have read
	// ahead. It joins the transaction.
	Delete(ctx context.Context, id string) error

	// Sweep removes documents created before the time given that were never
	// kept, also those whose Create did not end, and says how many.
	Sweep(ctx context.Context, before time.Time) (int, error)
}

// Ref names a document just created.
type Ref struct {
	ID   string
	Size int64 // bytes
	// Sums are the digests by the hashes named in Create, in their order.
	Sums [][]byte
}

// Blob is an open document. ReadAt may be called from several goroutines.
type Blob interface {
	io.ReaderAt
	io.Closer
	Size() int64
	// Hashed returns hash states over a beginning of the document, none or one
	// for each hash. They are a cache and may be missing.
	Hashed() []Midstate
}

// Midstate is the state of a hash after the first Offset bytes of a document,
// as its encoding.BinaryMarshaler gives it.
type Midstate struct {
	Hash   crypto.Hash
	Offset int64
	State  []byte
}

// Revision is what a document grows by: Bytes appended at offset Base.
type Revision struct {
	Base  int64
	Bytes []byte
	// Hashed are states after the last of Bytes, for the reader that comes
	// next; they replace the document's earlier ones of the same hash.
	Hashed []Midstate
}
