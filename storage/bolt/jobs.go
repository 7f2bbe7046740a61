package bolt

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/innsigli/innsigli/storage"
)

var (
	// jobsOfGroup has the jobs of a kind group by group, those of each by the time at
	// which they can be claimed.
	jobsOfGroup = index[jobRecord]{bucket: "job.group", key: func(j jobRecord) []byte {
		return append(groupOf(j.Kind, j.Group), instant(j.ready())...)
	}}

	jobsByTime = index[jobRecord]{bucket: "job.time", key: func(j jobRecord) []byte {
		return append(text(j.Kind), instant(j.ready())...)
	}}

	leasedJobs = index[jobRecord]{bucket: "job.leased", key: func(j jobRecord) []byte {
		if j.Token == "" {
			return nil
		}
		return append(groupOf(j.Kind, j.Group), instant(j.Until)...)
	}}

	uniqueJobs = index[jobRecord]{bucket: "job.unique", unique: true, key: func(j jobRecord) []byte {
		if j.Unique == "" {
			return nil
		}
		return uniqueKey(j.Kind, j.Unique)
	}}

	jobTable = table[jobRecord]{bucket: "job", indexes: []index[jobRecord]{jobsOfGroup, jobsByTime, leasedJobs, uniqueJobs}}
)

// groupOf is what the keys of a group's jobs begin with.
func groupOf(kind, group string) []byte { return append(text(kind), text(group)...) }

func uniqueKey(kind, unique string) []byte { return append(text(kind), text(unique)...) }

type jobRecord struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Group   string    `json:"group"`
	Unique  string    `json:"unique,omitempty"`
	Due     time.Time `json:"due"`
	Attempt int       `json:"attempt"`
	Payload []byte    `json:"payload,omitempty"`
	Token   string    `json:"token,omitempty"` // of the lease, if one was taken
	Until   time.Time `json:"until,omitzero"`

	Failures      int       `json:"failures,omitempty"`
	Interruptions int       `json:"interruptions,omitempty"`
	LastError     string    `json:"lastError,omitempty"`
	FailedAt      time.Time `json:"failedAt,omitzero"`
	Parked        bool      `json:"parked,omitempty"` // Due is parkedDue then
}

// parkedDue is when a parked job is due as far as the indexes know, and earlier versions of this package.
var parkedDue = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// ready is the time from which the job can be claimed. A lease that runs out makes a job
// due like any other.
func (j jobRecord) ready() time.Time {
	if j.Token != "" {
		return j.Until
	}
	return j.Due
}

func (j jobRecord) job() storage.Job {
	due := j.Due
	if j.Parked {
		due = j.FailedAt
	}
	return storage.Job{
		ID: j.ID, Kind: j.Kind, Group: j.Group, Unique: j.Unique, Due: due, Attempt: j.Attempt, Payload: j.Payload,
		Failures: j.Failures, Interruptions: j.Interruptions, LastError: j.LastError, FailedAt: j.FailedAt, Parked: j.Parked,
	}
}

// newJobRecord is a job that was not claimed yet.
func newJobRecord(j storage.Job) jobRecord {
	r := jobRecord{
		ID: newJobID(), Kind: j.Kind, Group: j.Group, Unique: j.Unique, Due: j.Due, Payload: j.Payload,
		Failures: j.Failures, Interruptions: j.Interruptions, LastError: j.LastError, FailedAt: j.FailedAt, Parked: j.Parked,
	}
	if r.Parked {
		r.Due = parkedDue
	}
	return r
}

// jobs is the storage.Jobs of a DB.
type jobs struct{ db *DB }

var _ storage.Jobs = jobs{}

// Jobs is the queue of jobs.
func (db *DB) Jobs() storage.Jobs { return jobs{db} }

func (s jobs) Enqueue(ctx context.Context, list ...storage.Job) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		for _, j := range list {
			r := newJobRecord(j)
			if err := jobTable.insert(tx, r.ID, r); err != nil && !errors.Is(err, storage.ErrExists) {
				return err
			}
		}
		s.db.txn(ctx).afterCommit(s.db.announce)
		return nil
	})
}

// newJobID is a UUID that begins with the time (RFC 9562 section 5.7), so that jobs of the same time
// are side by side in the file and a transaction with many of them writes few pages.
func newJobID() string { return uuid.Must(uuid.NewV7()).String() }

func (s jobs) Finish(ctx context.Context, l storage.Lease) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		return lost(jobTable.removeIf(tx, l.ID, func(j jobRecord) error { return j.check(l) }))
	})
}

func (s jobs) FinishAll(ctx context.Context, leases []storage.Lease) ([]bool, error) {
	finished := make([]bool, len(leases))
	for i, l := range leases {
		err := s.Finish(ctx, l)
		if err != nil && !errors.Is(err, storage.ErrLeaseLost) {
			return nil, err
		}
		finished[i] = err == nil
	}
	return finished, nil
}

func (s jobs) Retry(ctx context.Context, l storage.Lease, due time.Time) error {
	return s.giveBack(ctx, l, func(j *jobRecord) { j.Due, j.Interruptions = due, 0 })
}

func (s jobs) Postpone(ctx context.Context, l storage.Lease, due time.Time) error {
	return s.giveBack(ctx, l, func(j *jobRecord) {
		j.Due = due
		j.Attempt--
	})
}

func (s jobs) Fail(ctx context.Context, l storage.Lease, f storage.Failure) error {
	return s.giveBack(ctx, l, func(j *jobRecord) {
		j.Failures++
		j.Interruptions++
		if !f.Interrupted {
			j.Interruptions = 0
		}
		j.Due, j.LastError, j.FailedAt, j.Parked = f.Due, f.Error, f.At, f.Due.IsZero()
		if j.Parked {
			j.Due = parkedDue
		}
	})
}

// giveBack ends a lease and changes its job.
func (s jobs) giveBack(ctx context.Context, l storage.Lease, change func(*jobRecord)) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		err := jobTable.change(tx, l.ID, func(j *jobRecord) error {
			if err := j.check(l); err != nil {
				return err
			}
			j.Token, j.Until = "", time.Time{}
			change(j)
			return nil
		})
		if err == nil {
			s.db.txn(ctx).afterCommit(s.db.announce)
		}
		return lost(err)
	})
}

func (s jobs) Extend(ctx context.Context, leases []storage.Lease, until time.Time) ([]bool, error) {
	held := make([]bool, len(leases))
	err := s.db.write(ctx, func(tx *boltTx) error {
		for i, l := range leases {
			err := lost(jobTable.change(tx, l.ID, func(j *jobRecord) error {
				j.Until = until
				return j.check(l)
			}))
			if err != nil && !errors.Is(err, storage.ErrLeaseLost) {
				return err
			}
			held[i] = err == nil
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

func (s jobs) ExpireLeases(ctx context.Context, now time.Time) error {
	if s.db.txn(ctx) == nil {
		return storage.ErrNoTx
	}
	var leased []string
	err := s.db.read(ctx, func(tx *boltTx) error {
		leased = leasedJobs.ids(tx, every(), noLimit)
		return nil
	})
	if err != nil || len(leased) == 0 {
		return err // the file is not written
	}
	return s.db.write(ctx, func(tx *boltTx) error {
		for _, id := range leased {
			err := jobTable.change(tx, id, func(j *jobRecord) error {
				if j.Until.After(now) {
					j.Until = now
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		s.db.txn(ctx).afterCommit(s.db.announce)
		return nil
	})
}

// check says whether a lease is still the latest one taken.
func (j jobRecord) check(l storage.Lease) error {
	if j.Token == "" || j.Token != l.Token {
		return storage.ErrLeaseLost
	}
	return nil
}

// lost is the error about a lease whose job may be gone.
func lost(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return storage.ErrLeaseLost
	}
	return err
}

func (s jobs) Drop(ctx context.Context, kind, group string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		_, err := jobTable.removeFirst(tx, jobsOfGroup, under(groupOf(kind, group)), noLimit)
		return err
	})
}

func (s jobs) DropUnique(ctx context.Context, kind, unique string) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		j, err := jobTable.find(tx, uniqueJobs, uniqueKey(kind, unique))
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return jobTable.remove(tx, j.ID)
	})
}

func (s jobs) NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error) {
	due := make(map[string]time.Time)
	err := s.db.read(ctx, func(tx *boltTx) error {
		for _, kind := range kinds {
			ids := jobsByTime.ids(tx, under(text(kind)), 1)
			if len(ids) == 0 {
				continue
			}
			j, err := jobTable.get(tx, ids[0])
			if err != nil {
				return jobsByTime.contradicts(ids[0], err)
			}
			if !j.Parked {
				due[kind] = j.ready()
			}
		}
		return nil
	})
	return due, err
}

func (s jobs) Enqueued() <-chan struct{} { return s.db.enqueued }

// announce says that there are jobs, unless that was said and not heard yet.
func (db *DB) announce() {
	select {
	case db.enqueued <- struct{}{}:
	default:
	}
}
