package storage

import (
	"context"
	"time"
)

// Record is what somebody remembers for a while: who is there, say, or how often something was begun.
type Record struct {
	Key     []byte // is not empty; such as the SHA-256 of what only a visitor knows
	Value   []byte // in an encoding of its owner's
	Expires time.Time
}

// Records keeps records by key. Its methods join the transaction of their context; those that write
// answer [ErrNoTx] outside of one.
type Records interface {
	// PutRecord adds a record, or replaces the one with its key.
	PutRecord(ctx context.Context, r Record) error
	// Record returns the record with a key, also one that has expired; [ErrNotFound]. In a
	// transaction either answer holds until that ends: unlike others, a record that was not there is
	// not added by somebody else meanwhile, so of those who begin to count at once none is forgotten.
	Record(ctx context.Context, key []byte) (Record, error)
	// DeleteRecord removes a record; one that does not exist is no error.
	DeleteRecord(ctx context.Context, key []byte) error
	// DeleteRecords removes records that expired at the time given or before, the earliest first and
	// at most limit of them, and says how many.
	DeleteRecords(ctx context.Context, until time.Time, limit int) (int, error)
}
