package evidence

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// batchSize is the most entries of a batch.
const batchSize = 1000

// saltSize is the length of a salt in bytes.
const saltSize = 16

// Chain appends to the chain of a log, and deletes from the log what may be deleted. Its methods may be called on several
// servers at once: of two that append the same batch, one fails, and continues after the batch of the other.
type Chain struct {
	Log   storage.EvidenceLog
	Tx    storage.Transactor
	Clock storage.Clock
}

// Extend chains the entries that are committed, and returns the last batch; the zero State if nothing was ever recorded.
// known is an earlier result of Extend, or zero: while nothing was recorded since, the store is read once and not written.
func (c Chain) Extend(ctx context.Context, known State) (last State, err error) {
	if last = known; last.Head.Batch == 0 {
		if last, err = c.state(ctx); err != nil {
			return known, err
		}
	}
	for {
		entries, err := c.Log.EntriesAfter(ctx, last.seq, batchSize)
		if err != nil {
			return last, fmt.Errorf("evidence: reading entries to chain: %w", err)
		}
		if len(entries) == 0 {
			return last, nil
		}
		failpoint.Here("evidence/read")
		next := last
		if entries[0].Salt == nil {
			err = c.Tx.InTx(ctx, func(ctx context.Context) error {
				batch, err := c.append(ctx, entries)
				next = stateOf(batch)
				return err
			})
		}
		if entries[0].Salt != nil || errors.Is(err, storage.ErrMoved) { // another server has chained them
			if next, err = c.state(ctx); err == nil && next.seq <= last.seq {
				err = fmt.Errorf("entry %d is chained, and the last batch is %d, which ends before it: run innsigli evidence verify", entries[0].Seq, next.Head.Batch)
			}
		}
		if err != nil {
			return last, fmt.Errorf("evidence: chaining entries: %w", err)
		}
		last = next
		failpoint.Here("evidence/chained")
	}
}

// State is the last batch of a chain.
type State struct {
	Head  Head
	Total int64 // entries up to it, with those that were erased or pruned
	seq   int64 // of the last of them
}

func stateOf(b storage.Batch) (s State) {
	if b.Number > 0 {
		s = State{Head{b.Number, b.Head}, b.Total, b.Last()}
	}
	return s
}

// state returns the last batch, zero if there is none.
func (c Chain) state(ctx context.Context) (State, error) {
	last, err := c.Log.LastBatch(ctx)
	if errors.Is(err, storage.ErrNotFound) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("evidence: reading the last batch: %w", err)
	}
	return stateOf(last), nil
}

// append appends a batch of entries that are not chained. It joins the transaction.
func (c Chain) append(ctx context.Context, entries []storage.Entry) (storage.Batch, error) {
	last, err := c.Log.LastBatch(ctx)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return storage.Batch{}, err
	}
	if last.Number > 0 && entries[0].Seq <= last.Last() {
		return storage.Batch{}, storage.ErrMoved
	}
	salted, salts := slices.Clone(entries), make([][]byte, len(entries)) // the function of a transaction may run twice
	for i := range salted {
		salts[i] = make([]byte, saltSize)
		rand.Read(salts[i]) // does not fail
		salted[i].Salt = salts[i]
	}
	batch := link(last, salted)
	return batch, c.Log.AddBatch(ctx, batch, salts)
}

// record records an entry of this package. It joins the transaction.
func (c Chain) record(ctx context.Context, kind string, facts any) error {
	encoded, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	return c.Log.Record(ctx, storage.Entry{Subject: kind, Kind: kind, At: c.Clock.Now(ctx), Facts: encoded})
}

// appendRest chains everything that is recorded, in the transaction of ctx.
func (c Chain) appendRest(ctx context.Context) error {
	for {
		last, err := c.state(ctx)
		if err != nil {
			return err
		}
		entries, err := c.Log.EntriesAfter(ctx, last.seq, batchSize)
		if err != nil || len(entries) == 0 {
			return err
		}
		if _, err := c.append(ctx, entries); err != nil {
			return err
		}
	}
}

// Checkpoint records a timestamp over a head, which Extend returned, as an entry; a later batch chains it. timestamp
// returns a TimeStampToken (RFC 3161) whose message imprint is the SHA-256 value sum.
//
// If the log has no other entry since the last checkpoint, or that is younger than interval, Checkpoint does nothing and
// returns false.
func (c Chain) Checkpoint(ctx context.Context, at State, interval time.Duration, timestamp func(ctx context.Context, sum []byte) ([]byte, error)) (bool, error) {
	due, err := c.checkpointDue(ctx, at, interval)
	if err != nil || !due {
		return false, err
	}
	token, err := timestamp(ctx, at.Head.Sum[:])
	if err != nil {
		return false, err
	}
	failpoint.Here("evidence/timestamped")
	err = c.Tx.InTx(ctx, func(ctx context.Context) error {
		return c.record(ctx, CheckpointKind, checkpointFacts{at.Head.Batch, hex.EncodeToString(at.Head.Sum[:]), token})
	})
	if err != nil {
		return false, fmt.Errorf("evidence: recording a checkpoint: %w", err)
	}
	failpoint.Here("evidence/checkpoint")
	return true, nil
}

// checkpointDue reports whether a head needs a checkpoint.
func (c Chain) checkpointDue(ctx context.Context, at State, interval time.Duration) (bool, error) {
	if at.Head.Batch == 0 {
		return false, nil
	}
	last, err := c.Log.LastEntry(ctx, CheckpointKind)
	if errors.Is(err, storage.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("evidence: reading the last checkpoint: %w", err)
	}
	if age := c.Clock.Now(ctx).Sub(last.At); age < interval && age >= 0 {
		return false, nil
	}
	var facts checkpointFacts
	if err := json.Unmarshal(last.Facts, &facts); err != nil {
		return false, fmt.Errorf("evidence: reading the last checkpoint, entry %d: %w", last.Seq, err)
	}
	since, err := c.batch(ctx, facts.Batch)
	if errors.Is(err, storage.ErrNotFound) {
		return true, nil // it is pruned
	}
	if err != nil {
		return false, fmt.Errorf("evidence: reading batch %d: %w", facts.Batch, err)
	}
	newer, err := c.Log.EntriesAfter(ctx, since.Last(), 2)
	if err != nil {
		return false, fmt.Errorf("evidence: reading entries after the last checkpoint: %w", err)
	}
	return len(newer) > 1 || len(newer) == 1 && newer[0].Seq != last.Seq, nil
}

// batch returns the batch with a number; storage.ErrNotFound.
func (c Chain) batch(ctx context.Context, number int64) (storage.Batch, error) {
	found, err := c.Log.Batches(ctx, number-1, 1)
	if err == nil && (len(found) == 0 || found[0].Number != number) {
		err = storage.ErrNotFound
	}
	if err != nil {
		return storage.Batch{}, err
	}
	return found[0], nil
}

// Erase deletes all entries about a subject, a request or a process, and their salts, and returns how many. In the same
// transaction it records which entries were erased, by their Seq, Kind and At alone, and chains that.
func (c Chain) Erase(ctx context.Context, subject string) (erased int, err error) {
	switch subject {
	case CheckpointKind, ErasedKind, PrunedKind:
		return 0, fmt.Errorf("evidence: entries of the log about itself (%s) are not erased", subject)
	}
	if _, err := c.Extend(ctx, State{}); err != nil {
		return 0, err
	}
	err = c.inTx(ctx, func(ctx context.Context) error {
		if err := c.appendRest(ctx); err != nil { // so that each has a digest, and before this transaction records
			return err
		}
		entries, err := c.Log.Entries(ctx, subject)
		if err != nil || len(entries) == 0 {
			return err
		}
		facts, seqs := erasedFacts{}, []int64(nil)
		for _, e := range entries {
			facts.Entries = append(facts.Entries, erasedEntry{e.Seq, e.Kind, e.At.UTC()})
			seqs = append(seqs, e.Seq)
		}
		erased = len(seqs)
		if err := c.record(ctx, ErasedKind, facts); err != nil {
			return err
		}
		return errors.Join(c.appendRest(ctx), c.Log.DeleteEntries(ctx, seqs...))
	})
	if err != nil {
		return 0, fmt.Errorf("evidence: erasing the entries about %s: %w", subject, err)
	}
	return erased, nil
}

// inTx runs fn in a transaction, and once more if another server appended a batch meanwhile.
func (c Chain) inTx(ctx context.Context, fn func(context.Context) error) (err error) {
	for range 10 {
		if err = c.Tx.InTx(ctx, fn); !errors.Is(err, storage.ErrMoved) {
			return err
		}
	}
	return err
}

// Prune deletes the oldest batches whose entries are all from before a time, with these entries, and returns how many
// entries the batches had. In the transaction that deletes the first batch it records and chains the number and head of
// the last; each further transaction deletes one batch. A call that was interrupted is continued by the next one that
// begins: unless interval has passed since the last such record, Prune does nothing.
//
// Roles that cannot delete can add records and batches. So what they say decides nothing alone: the entries themselves
// must be from before the time.
//
// If the store does not let its user delete evidence, the error is storage.ErrNotPermitted, and nothing is changed.
func (c Chain) Prune(ctx context.Context, before time.Time, interval time.Duration) (deleted int64, err error) {
	if _, err := c.Extend(ctx, State{}); err != nil {
		return 0, err
	}
	last, err := c.Log.LastEntry(ctx, PrunedKind)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return 0, fmt.Errorf("evidence: reading the last record of pruning: %w", err)
	}
	if err == nil {
		if age := c.Clock.Now(ctx).Sub(last.At); age < interval && age >= 0 {
			return 0, nil
		}
	}
	first, through, err := c.prunable(ctx, before)
	if err != nil || through.Number == 0 {
		return 0, err
	}
	if err := c.checkOld(ctx, first, before); err != nil {
		return 0, err
	}
	err = c.inTx(ctx, func(ctx context.Context) error {
		if err := c.appendRest(ctx); err != nil { // before this transaction records: see EntriesAfter
			return err
		}
		facts := prunedFacts{through.Number, hex.EncodeToString(through.Head[:]), through.Last(), through.Total}
		if err := c.record(ctx, PrunedKind, facts); err != nil {
			return err
		}
		return errors.Join(c.appendRest(ctx), c.Log.DeleteBatch(ctx, first.Number))
	})
	if errors.Is(err, storage.ErrNotFound) { // another server has deleted the batch meanwhile
		return c.Prune(ctx, before, interval)
	}
	if err != nil {
		return 0, fmt.Errorf("evidence: pruning batches up to %d: %w", through.Number, err)
	}
	failpoint.Here("evidence/pruning")
	more, err := c.deleteBatches(ctx, through.Number, before)
	return int64(len(first.Entries)) + more, err
}

// checkOld returns an error unless all entries up to the last of a batch, the first one, are from before a time, as the
// batch says.
func (c Chain) checkOld(ctx context.Context, b storage.Batch, before time.Time) error {
	for seq := int64(0); seq < b.Last(); {
		entries, err := c.Log.EntriesAfter(ctx, seq, batchSize)
		if err != nil {
			return fmt.Errorf("evidence: reading the entries of batch %d: %w", b.Number, err)
		}
		if len(entries) == 0 {
			return nil
		}
		for _, e := range entries {
			if seq = e.Seq; seq <= b.Last() && !e.At.Before(before) {
				return fmt.Errorf("evidence: batch %d, which is from before %s, would be deleted with entry %d, which is not: run innsigli evidence verify", b.Number, formatTime(before), seq)
			}
		}
	}
	return nil
}

// deleteBatches deletes all batches up to one that are from before a time, and returns how many entries they had.
func (c Chain) deleteBatches(ctx context.Context, through int64, before time.Time) (deleted int64, err error) {
	for {
		next, err := c.Log.Batches(ctx, 0, 1)
		if err != nil || len(next) == 0 || next[0].Number > through || !next[0].Newest.Before(before) {
			return deleted, err
		}
		if err := c.checkOld(ctx, next[0], before); err != nil {
			return deleted, err
		}
		err = c.Tx.InTx(ctx, func(ctx context.Context) error { return c.Log.DeleteBatch(ctx, next[0].Number) })
		if err != nil && !errors.Is(err, storage.ErrNotFound) { // not found: another server is pruning, too
			return deleted, fmt.Errorf("evidence: deleting batch %d: %w", next[0].Number, err)
		}
		deleted += int64(len(next[0].Entries))
		failpoint.Here("evidence/pruned")
	}
}

// Prunable reports whether there is a batch whose entries are all from before a time.
func (c Chain) Prunable(ctx context.Context, before time.Time) (bool, error) {
	first, err := c.Log.Batches(ctx, 0, 1)
	return len(first) > 0 && first[0].Newest.Before(before), err
}

// prunable returns the first batch, and the last of the batches from there on whose entries are all from before a time;
// through is zero if there is none.
func (c Chain) prunable(ctx context.Context, before time.Time) (first, through storage.Batch, err error) {
	for {
		next, err := c.Log.Batches(ctx, through.Number, 100)
		if err != nil {
			return first, through, fmt.Errorf("evidence: reading batches: %w", err)
		}
		for _, b := range next {
			if !b.Newest.Before(before) {
				return first, through, nil
			}
			if through = b; first.Number == 0 {
				first = b
			}
		}
		if len(next) == 0 {
			return first, through, nil
		}
	}
}
