package bolt

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

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
}

// ready is the time from which the job can be claimed. A lease that runs out makes a job
// due like any other.
func (j jobRecord) ready() time.Time {
	if j.Token != "" {
		return j.Until
	}
	return j.Due
}

func (j jobRecord) job() storage.Job {
	return storage.Job{ID: j.ID, Kind: j.Kind, Group: j.Group, Unique: j.Unique, Due: j.Due, Attempt: j.Attempt, Payload: j.Payload}
}

// jobs is the storage.Jobs of a DB.
type jobs struct{ db *DB }

var _ storage.Jobs = jobs{}

// Jobs is the queue of jobs.
func (db *DB) Jobs() storage.Jobs { return jobs{db} }

func (s jobs) Enqueue(ctx context.Context, list ...storage.Job) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		for _, j := range list {
			r := jobRecord{ID: newJobID(), Kind: j.Kind, Group: j.Group, Unique: j.Unique, Due: j.Due, Payload: j.Payload}
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
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
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
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		err := jobTable.change(tx, l.ID, func(j *jobRecord) error {
			if err := j.check(l); err != nil {
				return err
			}
			j.Due, j.Token, j.Until = due, "", time.Time{}
			return nil
		})
		if err == nil {
			s.db.txn(ctx).afterCommit(s.db.announce)
		}
		return lost(err)
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
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
		_, err := jobTable.removeFirst(tx, jobsOfGroup, under(groupOf(kind, group)), noLimit)
		return err
	})
}

func (s jobs) DropUnique(ctx context.Context, kind, unique string) error {
	return s.db.write(ctx, func(tx *bbolt.Tx) error {
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

func (s jobs) NextDue(ctx context.Context, kind string) (due time.Time, err error) {
	err = s.db.read(ctx, func(tx *bbolt.Tx) error {
		ids := jobsByTime.ids(tx, under(text(kind)), 1)
		if len(ids) == 0 {
			return storage.ErrNotFound
		}
		j, err := jobTable.get(tx, ids[0])
		due = j.ready()
		return err
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
