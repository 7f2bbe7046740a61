package storage

import (
	"context"
	"time"
)

// Job is a unit of background work. It is a record like any other: it is stored in the transaction of the
// change that causes it, and survives a restart.
type Job struct {
	ID string // a UUID, given by Enqueue
	// Kind identifies the handler that runs the job.
	Kind string
	// Group is the account or other owner of the job. The groups of a kind share the workers fairly: Claim limits how
	// many jobs of a group are leased at once.
	Group string
	// Unique, unless empty, is a value that no two jobs of a kind share, including parked ones.
	Unique string
	// Due is the time from which the job can be claimed. For a parked job, it is when the job was parked.
	Due time.Time
	// Attempt is the number of the present attempt if the job is leased, otherwise that of the last one; 0 means none.
	Attempt int
	// Payload is the input of the handler, in a versioned encoding of the handler.
	Payload []byte

	// Failures is the number of failed attempts since the job was enqueued or retried by an operator.
	Failures int
	// Interruptions is the number of successive interrupted attempts among these, up to the last one (see Failure).
	Interruptions int
	// LastError is the error of the last failed attempt, without personal data; empty if none has failed.
	LastError string
	// FailedAt is the time of the last failed attempt.
	FailedAt time.Time
	// Parked reports whether the last permitted attempt has failed. A parked job stays stored, but is not claimed
	// until an operator retries it.
	Parked bool
}

// Lease is the exclusive right to run a job.
type Lease struct {
	Job
	Token string    // identifies this lease
	Until time.Time // when the lease expires, after which the job can be claimed again
	// Interrupted reports whether an earlier lease of the job expired before a result of its attempt was stored (Jobs.Finish,
	// Retry or Fail). Attempt is then the number of that attempt. The holder of this lease stores its failure (Jobs.Fail)
	// instead of making another attempt.
	Interrupted bool
}

// Failure is the result of a failed attempt.
type Failure struct {
	Error string    // without personal data, bounded by the caller
	At    time.Time // when the attempt failed
	Due   time.Time // when the job is due again; the zero time parks it
	// Interrupted reports whether the lease expired before a result of the attempt was stored: its process died, its handler
	// overran its time limit, or its result could not be stored.
	Interrupted bool
}

// Jobs is a queue of jobs. A job is stored until it is finished or dropped. If its lease expires, because its process died, it
// is claimed again. So jobs run at least once, and handlers must tolerate a repetition.
//
// A parked job keeps its Unique, so that no other job with that value is enqueued. Otherwise the work would be done twice
// after an operator retries the parked job.
//
// All methods but NextDue, Enqueued, List, Job and CountParked write and join the transaction of their context.
type Jobs interface {
	// Enqueue adds jobs. It skips a job if an existing one of its kind has the same Unique, even if that is leased or
	// parked; this is no error. It sets the ID, and Attempt to 0, and stores all other fields unchanged.
	Enqueue(ctx context.Context, jobs ...Job) error

	// Claim leases up to limit jobs of a kind that are due at now and neither leased nor parked, the earliest due of each
	// group first. The leases end leaseFor after now. No group gets more than perGroup leases, and groups with many jobs do
	// not delay those with few. Claim increments Attempt, unless the lease is Interrupted.
	Claim(ctx context.Context, kind string, now time.Time, limit, perGroup int, leaseFor time.Duration) ([]Lease, error)

	// Extend sets the expiry of leases, and reports for each whether it is held; one that is not was lost. A lease whose
	// job another transaction is changing may be held and keep its expiry.
	Extend(ctx context.Context, leases []Lease, until time.Time) (held []bool, err error)

	// Finish deletes the job of a lease; [ErrLeaseLost].
	Finish(ctx context.Context, l Lease) error

	// FinishAll is Finish for several leases. It reports for each whether its job was deleted; if not, the lease was lost.
	FinishAll(ctx context.Context, leases []Lease) (finished []bool, err error)

	// Retry returns the lease and makes the job due at the given time; [ErrLeaseLost].
	Retry(ctx context.Context, l Lease, due time.Time) error

	// Postpone returns the lease of an attempt that was not begun, also in the transaction that claimed it, and makes the job
	// due at the given time; [ErrLeaseLost]. It decrements Attempt and keeps Interruptions. The lease must not be Interrupted.
	Postpone(ctx context.Context, l Lease, due time.Time) error

	// Fail is Retry after a failed attempt: it counts and stores the failure, and may park the job; [ErrLeaseLost].
	// Retry, and a Failure that is not Interrupted, set Interruptions to 0.
	Fail(ctx context.Context, l Lease, f Failure) error

	// ExpireLeases makes all leases that expire later expire at now. A process that uses the store alone calls it when it
	// starts: the leases are those of a process that died.
	ExpireLeases(ctx context.Context, now time.Time) error

	// Drop deletes the jobs of a group. The leases of those that are leased are lost.
	Drop(ctx context.Context, kind, group string) error

	// DropUnique deletes the job of the kind with that Unique, if there is one. If it is leased, its lease is lost.
	DropUnique(ctx context.Context, kind, unique string) error

	// NextDue returns, for each of the kinds with jobs that are not parked, when the next one can be claimed according to
	// due times and leases.
	NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error)

	// Enqueued returns a channel that receives a value soon after the commit of a transaction of this process that
	// enqueued or retried jobs. It is a hint that shortens waiting: several transactions may send one value, and those
	// of other processes send none.
	Enqueued() <-chan struct{}

	// List returns stored jobs in the order of their IDs. It is for operators, and may read all jobs.
	List(ctx context.Context, q JobQuery) ([]StoredJob, error)

	// Job returns a job; [ErrNotFound].
	Job(ctx context.Context, id string) (StoredJob, error)

	// CountParked returns the number of parked jobs of each kind, without kinds that have none.
	CountParked(ctx context.Context) (map[string]int, error)

	// RetryNow makes a waiting or parked job due at now, and resets its failures; [ErrNotFound], [ErrInWork].
	RetryNow(ctx context.Context, id string, now time.Time) error

	// Remove deletes a job; [ErrNotFound]. If the job is leased, its lease is lost.
	Remove(ctx context.Context, id string) error
}

// StoredJob is a job with the expiry of its lease.
type StoredJob struct {
	Job
	LeasedUntil time.Time // zero: the job has no lease
}

// JobState is the state of a stored job at a time.
type JobState string

// The states of jobs.
const (
	JobWaiting JobState = "waiting" // until it is due or a worker is free
	JobInWork  JobState = "working" // leased by a server
	JobParked  JobState = "parked"  // its last permitted attempt has failed
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
	Limit int       // the maximum number of jobs
}

// Selects reports whether the query selects a job, apart from After and Limit.
func (q JobQuery) Selects(j StoredJob) bool {
	return (q.Kind == "" || q.Kind == j.Kind) && (q.State == "" || q.State == j.State(q.Now))
}
