package bolt

import (
	"context"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

func (j jobRecord) stored() storage.StoredJob {
	return storage.StoredJob{Job: j.job(), LeasedUntil: j.Until}
}

func (s jobs) Job(ctx context.Context, id string) (storage.StoredJob, error) {
	j, err := read(ctx, s.db, jobTable, id)
	return j.stored(), err
}

func (s jobs) List(ctx context.Context, q storage.JobQuery) (list []storage.StoredJob, err error) {
	err = s.db.read(ctx, func(tx *boltTx) error {
		if q.State == storage.JobParked {
			list, err = listParked(tx, q)
			return err
		}
		c := tx.Bucket([]byte(jobTable.bucket)).Cursor()
		for id, _ := c.Seek(append([]byte(q.After), 0)); id != nil && len(list) < q.Limit; id, _ = c.Next() {
			j, err := jobTable.get(tx, string(id))
			if err != nil {
				return err
			}
			if stored := j.stored(); q.Selects(stored) {
				list = append(list, stored)
			}
		}
		return nil
	})
	return list, err
}

// listParked does not go through the jobs that wait.
func listParked(tx *boltTx, q storage.JobQuery) (list []storage.StoredJob, err error) {
	var ids []string
	for kind, of := range parkedJobs(tx) {
		if q.Kind == "" || q.Kind == kind {
			ids = append(ids, of...)
		}
	}
	slices.Sort(ids)
	first, found := slices.BinarySearch(ids, q.After)
	if found {
		first++
	}
	for _, id := range ids[first:] {
		if len(list) >= q.Limit {
			break
		}
		j, err := jobTable.get(tx, id)
		if err != nil {
			return nil, err
		}
		list = append(list, j.stored())
	}
	return list, nil
}

func (s jobs) CountParked(ctx context.Context) (map[string]int, error) {
	parked := make(map[string]int)
	err := s.db.read(ctx, func(tx *boltTx) error {
		for kind, ids := range parkedJobs(tx) {
			parked[kind] = len(ids)
		}
		return nil
	})
	return parked, err
}

// parkedJobs returns the IDs of the parked jobs of each kind that has any. It seeks from kind to kind.
func parkedJobs(tx *boltTx) map[string][]string {
	parked := make(map[string][]string)
	c := tx.Bucket([]byte(jobsByTime.bucket)).Cursor()
	for k, _ := c.First(); k != nil; {
		kind := k[:len(k)-16] // without the time and the order of creation
		of := under(append(slices.Clone(kind), instant(parkedDue)...))
		if ids := jobsByTime.ids(tx, of, noLimit); len(ids) > 0 {
			parked[string(kind[4:])] = ids // behind its length
		}
		k, _ = c.Seek(under(slices.Clone(kind)).to)
	}
	return parked
}

func (s jobs) RetryNow(ctx context.Context, id string, now time.Time) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		err := jobTable.change(tx, id, func(j *jobRecord) error {
			if j.stored().State(now) == storage.JobInWork {
				return storage.ErrInWork
			}
			j.Due, j.Token, j.Until, j.Failures, j.Interruptions, j.Parked = now, "", time.Time{}, 0, 0, false
			return nil
		})
		if err == nil {
			s.db.txn(ctx).afterCommit(s.db.announce)
		}
		return err
	})
}

func (s jobs) Remove(ctx context.Context, id string) error {
	return s.db.write(ctx, func(tx *boltTx) error { return jobTable.remove(tx, id) })
}
