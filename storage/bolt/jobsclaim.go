package bolt

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/innsigli/innsigli/storage"
)

func (s jobs) Claim(ctx context.Context, kind string, now time.Time, limit, perGroup int, leaseFor time.Duration) (leases []storage.Lease, err error) {
	if s.db.txn(ctx) == nil {
		return nil, storage.ErrNoTx
	}
	var chosen []candidate
	err = s.db.read(ctx, func(tx *boltTx) error {
		chosen = inTurns(claimable(tx, kind, now, min(perGroup, limit), perGroup), limit)
		return nil
	})
	if err != nil || len(chosen) == 0 {
		return nil, err // and the file is left alone: idle servers ask again and again
	}
	err = s.db.write(ctx, func(tx *boltTx) error {
		for _, c := range chosen {
			err := jobTable.change(tx, c.id, func(j *jobRecord) error {
				interrupted := j.Token != ""
				if !interrupted {
					j.Attempt++
				}
				j.Token, j.Until = uuid.NewString(), now.Add(leaseFor)
				leases = append(leases, storage.Lease{Job: j.job(), Token: j.Token, Until: j.Until, Interrupted: interrupted})
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return leases, err
}

// candidate is a job that can be claimed.
type candidate struct {
	id string
	// place sorts as the time from which it can be claimed does, and of equal ones by
	// their creation.
	place []byte
	turn  int // how many jobs of its group are in work when it is
}

// claimable are the first few jobs of each group that can be claimed, so that no group has
// more than perGroup in work. It seeks from group to group: a backlog is not gone through.
func claimable(tx *boltTx, kind string, now time.Time, few, perGroup int) []candidate {
	var all []candidate
	c := tx.Bucket([]byte(jobsOfGroup.bucket)).Cursor()
	of, due := under(text(kind)), upTo(now)
	for k, _ := c.Seek(of.from); k != nil && of.holds(k); {
		group, place := bytes.Clone(groupPart(k)), k[len(groupPart(k)):]
		if due.holds(place) {
			all = append(all, firstOf(tx, group, now, few, perGroup)...)
		}
		k, _ = c.Seek(under(group).to)
	}
	return all
}

// groupPart is what a key of jobsOfGroup has before the time and the order of creation.
func groupPart(key []byte) []byte { return key[:len(key)-16] }

// firstOf are the first few jobs of a group that can be claimed.
func firstOf(tx *boltTx, group []byte, now time.Time, few, perGroup int) []candidate {
	running := span{from: append(bytes.Clone(group), upTo(now).to...), to: under(group).to}
	turn := len(leasedJobs.ids(tx, running, perGroup))
	few = min(few, perGroup-turn)
	var first []candidate
	c := tx.Bucket([]byte(jobsOfGroup.bucket)).Cursor()
	for k, id := c.Seek(group); len(first) < few && k != nil && bytes.HasPrefix(k, group); k, id = c.Next() {
		place := k[len(group):]
		if !upTo(now).holds(place) {
			break
		}
		turn++
		first = append(first, candidate{string(id), bytes.Clone(place), turn})
	}
	return first
}

// inTurns chooses so many of the candidates: those first whose groups have the fewest jobs
// in work, so that a group with many waiting keeps none from the others; of equal ones,
// those that have been waiting longest. They are in the order of their waiting.
func inTurns(all []candidate, limit int) []candidate {
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.turn, b.turn), bytes.Compare(a.place, b.place))
	})
	chosen := all[:max(0, min(limit, len(all)))]
	slices.SortFunc(chosen, func(a, b candidate) int { return bytes.Compare(a.place, b.place) })
	return chosen
}
