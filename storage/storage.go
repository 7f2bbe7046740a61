// Package storage declares what the service's packages and its storage backends share: transactions, documents, jobs,
// the evidence log and the errors that callers distinguish. It implements no rule of a domain and imports no domain.
//
// Each domain package declares a small Store interface for its records. A backend (storage/bolt, storage/postgres)
// implements these and the interfaces below. Package storage/storagetest is the test suite that every backend passes.
//
// # Transactions
//
// [Transactor.InTx] runs a function in a transaction, which the context of the function carries. Store methods of all
// domains that are called with that context join the transaction, so that a change and its consequences are stored
// together or not at all. Methods that write return [ErrNoTx] outside a transaction. Methods that read begin a short
// transaction of their own if the context carries none.
//
// If a transaction reads a record by its key, no other transaction changes the record until that one ends. If the record
// does not exist, another transaction may add it meanwhile: adding it then is [ErrExists], and the transaction may go on.
package storage

import (
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"time"
)

var (
	// ErrNotFound is returned if there is no such record or document.
	ErrNotFound = errors.New("storage: not found")
	// ErrExists is returned if another record has the key or a unique value.
	ErrExists = errors.New("storage: already exists")
	// ErrNoTx is returned by a method that needs a transaction if its context carries none.
	ErrNoTx = errors.New("storage: not in a transaction")
	// ErrMoved is returned if the base of a revision is not the document's length.
	ErrMoved = errors.New("storage: document was changed by another writer")
	// ErrTooLarge is returned if a document is longer than the limit.
	ErrTooLarge = errors.New("storage: document too large")
	// ErrLeaseLost is returned if the lease expired and the job was claimed again, or the job was deleted.
	ErrLeaseLost = errors.New("storage: lease lost")
	// ErrInWork is returned if a server has the job's lease.
	ErrInWork = errors.New("storage: the job is being worked on")
	// ErrUnavailable is returned if the store is temporarily unavailable. The caller may try again later. It may be
	// unknown whether a transaction that fails with ErrUnavailable was committed.
	ErrUnavailable = errors.New("storage: not available")
	// ErrNotPermitted is returned if the user whom the store is opened as may not do this.
	ErrNotPermitted = errors.New("storage: not permitted")
	// ErrFull is returned if the disk is full. Nothing of the transaction was stored.
	ErrFull = errors.New("storage: no room left")
)

// IsTemporary reports whether the same call may succeed later, because the store was unavailable or its disk
// full.
func IsTemporary(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrFull)
}

// Transactor runs transactions.
type Transactor interface {
	// InTx calls fn with a context that carries a transaction, and commits the transaction if fn returns nil. The
	// changes are durable when InTx has returned nil. If fn returns an error, InTx rolls the transaction back and
	// returns the error unchanged. fn must do no other I/O, because it may be run more than once. Within a
	// transaction, InTx joins it, and an error of fn rolls the whole transaction back, also if its caller ignores the error.
	//
	// InTx may wait for the functions of other transactions, also after fn has returned. A caller therefore must not hold
	// a lock that the function of another transaction takes.
	InTx(ctx context.Context, fn func(ctx context.Context) error) error
}

// InTx runs fn in a transaction, as tx.InTx does. After the commit it calls, with ctx, the functions that were
// passed to [AfterCommit] meanwhile. It calls none if it is unknown whether the transaction was committed. A
// service whose transaction may include reports of another service begins it with InTx. Transactions of several
// Transactors must not be nested.
func InTx(ctx context.Context, tx Transactor, fn func(ctx context.Context) error) error {
	if ctx.Value(afterCommitKey{}) != nil { // part of another transaction
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

// AfterCommit calls report when the outermost transaction that [InTx] has begun for ctx is committed, and never
// if it is rolled back. Outside such a transaction AfterCommit calls report at once.
func AfterCommit(ctx context.Context, report func(ctx context.Context)) {
	after, ok := ctx.Value(afterCommitKey{}).(*[]func(context.Context))
	if !ok {
		report(ctx)
		return
	}
	*after = append(*after, report)
}

type afterCommitKey struct{}

// Clock returns the current time for the caller of a service, such as an account, which ctx identifies. The nil
// Clock is that of the machine. Services take a Clock in their options and use no other time.
type Clock func(ctx context.Context) time.Time

// Now returns the time in UTC, truncated to the microsecond, the precision of all backends.
func (c Clock) Now(ctx context.Context) time.Time {
	now := time.Now
	if c != nil {
		now = func() time.Time { return c(ctx) }
	}
	return now().UTC().Truncate(time.Microsecond)
}

// Documents stores documents. A document has a base that never changes, and revisions that are appended to it.
// It may be read while it grows; a reader sees the length that it had when it was opened.
type Documents interface {
	// Create stores the content of r as a new document. The content is on the disk on return, so that Keep makes the
	// document durable. Create hashes the content with the given hashes, and stores the hash states for [Blob.Hashed]. A
	// content longer than limit is [ErrTooLarge]. An error of r is returned unchanged. In both cases nothing is stored.
	// Memory use does not depend on the length.
	//
	// A document that no transaction has kept (see Keep) is swept, and may be gone when the process of the caller has
	// ended. Create does not join a transaction.
	Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (Ref, error)

	// Keep marks the document as referred to by a record that is stored in the same transaction, so that it is not
	// swept. It joins the transaction.
	Keep(ctx context.Context, id string) error

	// Open opens the document for reading, as it is now.
	Open(ctx context.Context, id string) (Blob, error)

	// Append appends revisions. The Base of the first must be the document's length, and that of each later one the
	// end of the one before; otherwise Append returns [ErrMoved] and appends nothing. It joins the transaction.
	Append(ctx context.Context, id string, revisions ...Revision) error

	// Delete deletes the document; one that does not exist is no error. Afterwards its open blobs return
	// [ErrNotFound], except for content that they have cached. It joins the transaction.
	Delete(ctx context.Context, id string) error

	// Sweep deletes documents that were created before the given time and never kept, including those whose Create
	// did not end, and returns how many.
	Sweep(ctx context.Context, before time.Time) (int, error)
}

// Ref identifies a document just created.
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
	// Hashed returns the states of hashes of a beginning of the document, at most one for each hash. They are a cache
	// and may be missing.
	Hashed() []Midstate
}

// Midstate is the state of a hash after the first Offset bytes of a document, as its encoding.BinaryMarshaler
// returns it.
type Midstate struct {
	Hash   crypto.Hash
	Offset int64
	State  []byte
}

// Revision is an addition to a document: Bytes appended at offset Base.
type Revision struct {
	Base  int64
	Bytes []byte
	// Hashed are the hash states after the last of Bytes. They replace the document's earlier states of the
	// same hashes.
	Hashed []Midstate
}

// Entry is an entry of the evidence log (spec 7.3). It records, for example, who was asked for a signature, by whom, over
// which digest, with which certificate, and when. It contains no document.
type Entry struct {
	// Seq is the entry's position in the log, assigned by Record; later entries have higher ones.
	Seq     int64
	Subject string // ID of the request or process
	Account string
	Kind    string // what happened, such as "signature.asked"
	At      time.Time
	Facts   json.RawMessage // a JSON object, as its Kind defines it
	// Salt is the random value in the entry's digest, set by AddBatch; nil: the entry is not chained yet.
	Salt []byte
}

// Batch is a link of the chain over the evidence log. Package storage/evidence defines its digests.
type Batch struct {
	Number   int64             // 1, 2, 3 and so on
	Previous [sha256.Size]byte // head of the batch before; zeros in the first
	Head     [sha256.Size]byte
	Total    int64         // entries in this batch and all before it
	Newest   time.Time     // the latest At of the entries
	Entries  []EntryDigest // in the order of their Seq, at least one
}

// Last returns the Seq of the last entry.
func (b Batch) Last() int64 { return b.Entries[len(b.Entries)-1].Seq }

// Follows reports whether the batch may be appended to a chain that ends with last, the zero Batch if it has none.
func (b Batch) Follows(last Batch) bool {
	return b.Number == last.Number+1 && (last.Number == 0 || b.Entries[0].Seq > last.Last())
}

// EntryDigest is the digest of one entry.
type EntryDigest struct {
	Seq int64
	Sum [sha256.Size]byte
}

// EvidenceLog stores entries in the order in which they were recorded, and the chain over them. No method changes an
// entry or a batch. Package storage/evidence appends to the chain, and says when entries and batches are deleted.
type EvidenceLog interface {
	// Record adds entries. It joins the transaction, and does not wait for the chain.
	Record(ctx context.Context, entries ...Entry) error
	// Entries returns the entries about a subject in the order of their Seq.
	Entries(ctx context.Context, subject string) ([]Entry, error)
	// LastEntry returns the entry about a subject with the highest Seq; [ErrNotFound].
	LastEntry(ctx context.Context, subject string) (Entry, error)
	// EntriesAfter returns up to limit entries whose Seq is greater than seq, in the order of their Seq. It waits for
	// transactions that may still add an entry with a lower Seq than the last that it returns. So a transaction that also
	// records must read first: then another such transaction waits until it ends, and they do not wait for each other.
	EntriesAfter(ctx context.Context, seq int64, limit int) ([]Entry, error)

	// AddBatch appends a batch, and stores the salts of its entries, in their order. It joins the transaction. Unless
	// the Number follows that of the last batch, which another server may have added, and the first Seq is higher than
	// the last of that batch, it is [ErrMoved], and the transaction fails.
	AddBatch(ctx context.Context, b Batch, salts [][]byte) error
	// Batches returns up to limit batches whose Number is greater than number, in the order of their Number.
	Batches(ctx context.Context, number int64, limit int) ([]Batch, error)
	// LastBatch returns the batch with the highest Number; [ErrNotFound].
	LastBatch(ctx context.Context) (Batch, error)

	// DeleteEntries deletes entries with their salts; one that does not exist is no error. It joins the transaction. If
	// the store does not let its user delete evidence, it is [ErrNotPermitted].
	DeleteEntries(ctx context.Context, seqs ...int64) error
	// DeleteBatch deletes the batch with a Number, and all entries whose Seq is not higher than its last, with their
	// salts. It joins the transaction. [ErrNotFound], [ErrNotPermitted].
	DeleteBatch(ctx context.Context, number int64) error

	// Restore adds entries of another log with their Seq and Salt, and batches as they are. It joins the transaction.
	// Entries that are recorded later have higher Seqs.
	Restore(ctx context.Context, entries []Entry, batches []Batch) error
}

// Record is a value with an expiry time, such as a session or a counter of attempts.
type Record struct {
	Key     []byte // not empty, such as the SHA-256 of a session token
	Value   []byte // in an encoding of the caller
	Expires time.Time
}

// Records stores records by key. Its methods join the transaction of their context. Methods that write return
// [ErrNoTx] outside one.
type Records interface {
	// PutRecord adds a record, or replaces the one with its key.
	PutRecord(ctx context.Context, r Record) error
	// Record returns the record with a key, even if it has expired; [ErrNotFound]. In a transaction, no other transaction
	// changes or adds a record with the key until that one ends. So concurrent transactions that begin a counter do not
	// overwrite each other's value.
	Record(ctx context.Context, key []byte) (Record, error)
	// DeleteRecord deletes a record; one that does not exist is no error.
	DeleteRecord(ctx context.Context, key []byte) error
	// DeleteRecords deletes up to limit records that expire at the given time or before, the earliest first, and returns
	// how many.
	DeleteRecords(ctx context.Context, until time.Time, limit int) (int, error)
}

// Rate limits how often something may happen: PerSecond times a second on average, and Burst times at once. The
// zero Rate is no limit.
type Rate struct{ PerSecond, Burst int }

// Cost returns the time in which a bucket regains one token.
func (r Rate) Cost() time.Duration { return time.Second / time.Duration(r.PerSecond) }

// Buckets are token buckets that all servers of a deployment share. A bucket is identified by a key. A backend for one
// process needs none. The methods do not join a transaction.
type Buckets interface {
	// Draw takes up to n tokens from the bucket of a key, by the backend's own clock. It returns how many it took, and
	// the time from now until the bucket is full. A new bucket is full. Concurrent callers together never get more
	// tokens than the bucket has.
	Draw(ctx context.Context, key string, r Rate, n int) (drawn int, full time.Duration, err error)
	// DeleteFull deletes up to limit full buckets, and returns how many.
	DeleteFull(ctx context.Context, limit int) (int, error)
}
