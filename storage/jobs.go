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
	// Unique, unless empty, is what no two jobs of a kind share, parked ones included.
	Unique string
	// Due is the time before which the job is not claimed; of a parked job, when it was parked.
	Due time.Time
	// Attempt is the number of the attempt: of a job under lease the present one, else the last one; 0: none was made.
	Attempt int
	// Payload is what the handler needs to know, in an encoding of its own with a version.
	Payload []byte

	// Failures counts the attempts that failed, since the job was enqueued or retried by an operator.
	Failures int
	// Interruptions counts the last of them that were interrupted, one after the other (Failure).
	Interruptions int
	// LastError is the error of the attempt that failed last, without personal data; empty: none has failed.
	LastError string
	// FailedAt is when that was.
	FailedAt time.Time
	// Parked: the last permitted attempt has failed. The job stays stored, and is not claimed until an
	// operator has it tried again.
	Parked bool
}

// Lease is the right to do a job, for one at a time.
type Lease struct {
	Job
	Token string    // of this one lease
	Until time.Time // it is lost then, and another may claim the job
	// Interrupted: an earlier lease of the job ran out before a result of the attempt was stored (Jobs.Finish, Retry or
	// Fail). Attempt is the number of that attempt, whose failure the holder of this lease stores instead of making
	// another (Jobs.Fail).
	Interrupted bool
}

// Failure is what becomes of a job whose attempt has failed.
type Failure struct {
	Error string    // without personal data, bounded by the caller
	At    time.Time // when the attempt failed
	Due   time.Time // when the job is due again; the zero time parks it
	// Interrupted: no result of the attempt was stored before its lease ran out. Its process died, its handler took longer
	// than it may, or its result could not be stored.
	Interrupted bool
}

// Jobs is a queue of jobs. A job is there until it is finished or dropped; one whose lease
// runs out, because its process died, is claimed again. So jobs run at least once, and
// handlers have to bear a repetition.
//
// A job that was parked keeps its Unique: none like it is enqueued beside it, so that what it was to do
// is not done twice when an operator has it tried again.
//
// All methods but NextDue, Enqueued, List, Job and CountParked write and join the transaction of their context.
type Jobs interface {
	// Enqueue adds jobs. One whose Unique an existing job of its kind has, also one that is
	// being done or is parked, is left out, which is no error. It gives the job an ID and an Attempt of 0;
	// all else is stored as it is.
	Enqueue(ctx context.Context, jobs ...Job) error

	// Claim leases up to limit jobs of a kind that are due at now, that no lease holds and that are not parked,
	// the earliest due of each group first, and so that no group has more than perGroup jobs
	// under lease. Groups that have many jobs waiting keep none from those that have few. It counts an attempt,
	// unless the lease is Interrupted.
	Claim(ctx context.Context, kind string, now time.Time, limit, perGroup int, lease time.Duration) ([]Lease, error)

	// Extend lets leases end at the time given, and reports of each whether it is held. One that
	// is not was lost. A lease whose job another transaction is changing may be held and keep its end.
	Extend(ctx context.Context, leases []Lease, until time.Time) (held []bool, err error)

	// Finish removes the job of a lease; [ErrLeaseLost].
	Finish(ctx context.Context, l Lease) error

	// FinishAll is Finish for several jobs, and says of each lease whether its job was removed;
	// if not, it was lost.
	FinishAll(ctx context.Context, leases []Lease) (finished []bool, err error)

	// Retry gives the lease back and makes the job due at the time given; [ErrLeaseLost].
	Retry(ctx context.Context, l Lease, due time.Time) error

	// Postpone gives a lease back whose attempt was not begun, in the transaction that claimed it or later, and makes the job
	// due at the time given: the attempt is not counted, and Interruptions stay; [ErrLeaseLost]. The lease is not Interrupted.
	Postpone(ctx context.Context, l Lease, due time.Time) error

	// Fail is Retry for a job whose attempt has failed: it counts and stores the failure, and may park the
	// job; [ErrLeaseLost]. Interruptions is 0 after Retry and after a failure that is not Interrupted.
	Fail(ctx context.Context, l Lease, f Failure) error

	// ExpireLeases lets all leases that last longer end at now. A process that has the store to itself calls it when it
	// starts: the leases are those of a process that died.
	ExpireLeases(ctx context.Context, now time.Time) error

	// Drop removes the jobs of a group, also those that are being done: their leases are
	// lost.
	Drop(ctx context.Context, kind, group string) error

	// DropUnique removes the job of the kind with that Unique, if there is one, also one that
	// is being done: its lease is lost.
	DropUnique(ctx context.Context, kind, unique string) error

	// NextDue returns, of each of the kinds that has jobs which are not parked, when the next one can be claimed, as
	// far as due times and leases tell.
	NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error)

	// Enqueued returns a channel that has a value soon after a transaction of this process
	// that enqueued or retried jobs was committed. It is a hint that saves waiting: several
	// transactions may give one value, and those of other processes give none.
	Enqueued() <-chan struct{}

	// List returns stored jobs in the order of their IDs. It is for operators, and may go through all jobs.
	List(ctx context.Context, q JobQuery) ([]StoredJob, error)

	// Job returns a job; [ErrNotFound].
	Job(ctx context.Context, id string) (StoredJob, error)

	// CountParked returns how many jobs of each kind are parked. Kinds that have none are left out.
	CountParked(ctx context.Context) (map[string]int, error)

	// RetryNow makes a job due at now that waits or is parked, with no failures counted; [ErrNotFound],
	// [ErrInWork].
	RetryNow(ctx context.Context, id string, now time.Time) error

	// Remove removes a job, also one that is being done: its lease is lost; [ErrNotFound].
	Remove(ctx context.Context, id string) error
}

// StoredJob is a job with the end of its lease.
type StoredJob struct {
	Job
	LeasedUntil time.Time // zero: no lease was taken, or it was given back
}

// JobState is what a stored job does at a time.
type JobState string

// The states of jobs.
const (
	JobWaiting JobState = "waiting" // for its time, for room, or for another try
	JobInWork  JobState = "working" // a server has its lease
	JobParked  JobState = "parked"  // its attempts have failed, and no other follows
)

// State returns the state of a job.
func (j StoredJob) State(now time.Time) JobState {
	switch {
	case j.Parked:
		return JobParked
	case j.LeasedUntil.After(now):
		return JobInWork
	}
	return JobWaiting
}

// JobQuery selects the jobs of a list.
type JobQuery struct {
	Kind  string    // empty: all kinds
	State JobState  // at Now; empty: all states
	Now   time.Time // required with a State
	After string    // ID of the job before the first one; empty: from the beginning
	Limit int       // how many at most
}

// Selects reports whether a job is one of those that the query asks for, on whatever page.
func (q JobQuery) Selects(j StoredJob) bool {
	return (q.Kind == "" || q.Kind == j.Kind) && (q.State == "" || q.State == j.State(q.Now))
}
