package storage

import (
	"context"
	"time"
)

// Job is a piece of work that is to be done in the background: a record like any other,
// so that it is stored with the change that it follows from and outlives the process.
type Job struct {
	ID string // a UUID, given by Enqueue
	// Kind names what is to be done and so who can do it.
	Kind string
	// Group is whose work it is. Groups of a kind are fair to each other: Claim bounds how
	// many jobs of one are in work at once.
	Group string
	// Unique, unless empty, is what no two jobs of a kind share.
	Unique string
	// Due is the time before which the job is not claimed.
	Due time.Time
	// Attempt counts the claims of the job, the present one included.
	Attempt int
	// Payload is what the handler needs to know, in an encoding of its own with a version.
	Payload []byte
}

// Lease is the right to do a job, for one at a time.
type Lease struct {
	Job
	Token string    // of this one lease
	Until time.Time // it is lost then, and another may claim the job
}

// Jobs is a queue of jobs. A job is there until it is finished or dropped; one whose lease
// runs out, because its process died, is claimed again. So jobs run at least once, and
// handlers have to bear a repetition.
//
// All methods but NextDue and Enqueued write and join the transaction of their context.
type Jobs interface {
	// Enqueue adds jobs. One whose Unique an existing job of its kind has, also one that is
	// being done, is left out, which is no error.
	Enqueue(ctx context.Context, jobs ...Job) error

	// Claim leases up to limit jobs of a kind that are due at now and that no lease holds,
	// the earliest due of each group first, and so that no group has more than perGroup jobs
	// under lease. Groups that have many jobs waiting keep none from those that have few.
	Claim(ctx context.Context, kind string, now time.Time, limit, perGroup int, lease time.Duration) ([]Lease, error)

	// Finish removes the job of a lease; [ErrLeaseLost].
	Finish(ctx context.Context, l Lease) error

	// FinishAll is Finish for several jobs, and says of each lease whether its job was removed;
	// if not, it was lost.
	FinishAll(ctx context.Context, leases []Lease) (finished []bool, err error)

	// Retry gives the lease back and makes the job due at the time given; [ErrLeaseLost].
	Retry(ctx context.Context, l Lease, due time.Time) error

	// Drop removes the jobs of a group, also those that are being done: their leases are
	// lost.
	Drop(ctx context.Context, kind, group string) error

	// DropUnique removes the job of the kind with that Unique, if there is one, also one that
	// is being done: its lease is lost.
	DropUnique(ctx context.Context, kind, unique string) error

	// NextDue says when the next job of the kind can be claimed, as far as due times and
	// leases tell; [ErrNotFound] when there is none.
	NextDue(ctx context.Context, kind string) (time.Time, error)

	// Enqueued returns a channel that has a value soon after a transaction of this process
	// that enqueued or retried jobs was committed. It is a hint that saves waiting: several
	// transactions may give one value, and those of other processes give none.
	Enqueued() <-chan struct{}
}
