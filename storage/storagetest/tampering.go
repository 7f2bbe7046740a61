package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
)

// tamperedLog is a chained log that a test changes.
type tamperedLog struct {
	entries []storage.Entry
	batches []storage.Batch
	head    evidence.Head // as a server's log has it
	random  *rand.Rand
}

// ChainedEvidence fills the evidence log of an empty backend, with a chain, and returns what it stored.
func ChainedEvidence(t *testing.T, b Backend) ([]storage.Entry, []storage.Batch) {
	l := chainedLog(t, b)
	return l.entries, l.batches
}

// TamperedEvidence fills the evidence log of an empty backend, changes it in random ways in turn, and fails the test
// unless [evidence.Verify] finds each change, and where it is. rewrite replaces all stored entries, salts and batches by
// others, beneath the methods of the backend, and may replace the backend.
func TamperedEvidence(t *testing.T, b *Backend, changes int, rewrite func(entries []storage.Entry, batches []storage.Batch)) {
	original := chainedLog(t, *b)
	for i := range changes {
		l := original.clone(uint64(i))
		change := tamperings[i%len(tamperings)]
		want, head := change.do(l)
		rewrite(l.entries, l.batches)
		result, err := evidence.Verify(evidence.Export(t.Context(), b.EvidenceLog), evidence.Options{Head: head, CheckToken: checkToken, TimestampedBefore: after(5000)})
		switch {
		case err != nil:
			t.Errorf("%s (seed %d): %v", change.name, i, err)
		case result.First == nil:
			t.Errorf("%s (seed %d) was not found", change.name, i)
		case want.Fault != result.First.Fault || want.Seq != 0 && want.Seq != result.First.Seq:
			t.Errorf("%s (seed %d): found %+v, want %+v", change.name, i, *result.First, want)
		}
	}
	rewrite(original.entries, original.batches)
	checkUntouched(t, b.EvidenceLog, evidence.Options{Head: &original.head, CheckToken: checkToken})
}

// checkUntouched fails the test unless a log verifies.
func checkUntouched(t *testing.T, log storage.EvidenceLog, o evidence.Options) evidence.Result {
	t.Helper()
	result, err := evidence.Verify(evidence.Export(t.Context(), log), o)
	if err != nil || result.First != nil {
		t.Errorf("the log as it was: %v, %+v", err, result.First)
	}
	return result
}

// token returns what stands for a timestamp over a head in these tests, and checkToken verifies it.
func token(_ context.Context, sum []byte) ([]byte, error) {
	signed := sha256.Sum256(sum)
	return signed[:], nil
}

func checkToken(head [32]byte, token []byte) (time.Time, error) {
	if want := sha256.Sum256(head[:]); !bytes.Equal(token, want[:]) {
		return time.Time{}, errors.New("the token is over something else")
	}
	return base, nil
}

// chainedLog fills a log: batches of several sizes, gaps between the Seqs, checkpoints, an erased subject, and a beginning
// that was pruned.
func chainedLog(t *testing.T, b Backend) tamperedLog {
	t.Helper()
	c := evidence.Chain{Log: b.EvidenceLog, Tx: b, Clock: func(context.Context) time.Time { return after(1000) }}
	var state evidence.State
	for i := range 60 {
		var entries []storage.Entry
		for j := range 1 + i%5 {
			entries = append(entries, exampleEntry(fmt.Sprint(i%7), fmt.Sprint("kind ", j), 10*i+j))
		}
		addEntries(t, b, entries...)
		if i%9 == 4 { // a gap, as after a transaction that was rolled back
			last := allEntries(t, b)
			gap := exampleEntry("gap", "kind", 10*i+9)
			gap.Seq = last[len(last)-1].Seq + 3
			do(t, b, func(ctx context.Context) error { return b.EvidenceLog.Restore(ctx, []storage.Entry{gap}, nil) })
		}
		var err error
		if state, err = c.Extend(t.Context(), state); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			if done, err := c.Checkpoint(t.Context(), state, 0, token); err != nil || !done {
				t.Fatal(done, err)
			}
		}
	}
	if n, err := c.Erase(t.Context(), id("3")); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if n, err := c.Prune(t.Context(), after(95), 0); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	for i := range 4 {
		addEntries(t, b, exampleEntry("end", fmt.Sprint("kind ", i), 2000+i))
		if _, err := c.Extend(t.Context(), state); err != nil {
			t.Fatal(err)
		}
	}
	l := tamperedLog{entries: allEntries(t, b)}
	var err error
	if l.batches, err = b.EvidenceLog.Batches(t.Context(), 0, 1000); err != nil {
		t.Fatal(err)
	}
	last := l.batches[len(l.batches)-1]
	l.head = evidence.Head{Batch: last.Number, Sum: last.Head}
	result := checkUntouched(t, b.EvidenceLog, evidence.Options{Head: &l.head, CheckToken: checkToken})
	if result.Entries != int64(len(l.entries)) || result.Erased == 0 || result.Checkpoints != 6 || result.Pruned == 0 || result.Unchained != 0 {
		t.Fatalf("the log that is changed: %+v", result)
	}
	return l
}

// clone returns a copy to change, with a source of random numbers.
func (l tamperedLog) clone(seed uint64) *tamperedLog {
	l.random = rand.New(rand.NewPCG(seed, 1))
	l.entries, l.batches = slices.Clone(l.entries), slices.Clone(l.batches)
	for i := range l.entries {
		l.entries[i].Facts, l.entries[i].Salt = bytes.Clone(l.entries[i].Facts), bytes.Clone(l.entries[i].Salt)
	}
	for i := range l.batches {
		l.batches[i].Entries = slices.Clone(l.batches[i].Entries)
	}
	return &l
}

// explains reports whether an entry says that others were erased or pruned. They are missing without it.
func explains(e storage.Entry) bool {
	return e.Kind == evidence.ErasedKind || e.Kind == evidence.PrunedKind
}

// entry returns a random entry, but not the last, nor one that explains others.
func (l *tamperedLog) entry() *storage.Entry {
	for {
		if e := &l.entries[l.random.IntN(len(l.entries)-1)]; !explains(*e) {
			return e
		}
	}
}

// batch returns a random batch, but not the last.
func (l *tamperedLog) batch() *storage.Batch { return &l.batches[l.random.IntN(len(l.batches)-1)] }

// remove deletes entries.
func (l *tamperedLog) remove(which func(storage.Entry) bool) {
	l.entries = slices.DeleteFunc(l.entries, which)
}

// tampering changes a log, and returns what has to be found: a Seq of 0 may be any. head is nil or has to be demanded.
type tampering struct {
	name string
	do   func(l *tamperedLog) (want evidence.Finding, head *evidence.Head)
}

// changed returns the finding of a change of an entry.
func changed(e *storage.Entry) (evidence.Finding, *evidence.Head) {
	return evidence.Finding{Fault: evidence.Changed, Seq: e.Seq}, nil
}

var tamperings = []tampering{
	{"a subject that was changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entry()
		e.Subject += "x"
		return changed(e)
	}},
	{"an account that was changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entry()
		e.Account = "x"
		return changed(e)
	}},
	{"a kind that was changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entry()
		e.Kind = "process.completed"
		return changed(e)
	}},
	{"a time that was changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entry()
		e.At = e.At.Add(time.Microsecond)
		return changed(e)
	}},
	{"facts that were changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entry()
		i := 1 + l.random.IntN(len(e.Facts))
		e.Facts = json.RawMessage(fmt.Sprintf("%s %s", e.Facts, bytes.Repeat([]byte(" "), i)))
		if len(e.Facts)%2 == 0 {
			e.Facts = json.RawMessage(`{"changed":true}`)
		}
		return changed(e)
	}},
	{"parts that were moved between members", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		i := slices.IndexFunc(l.entries, func(e storage.Entry) bool { return e.Account != "" && l.random.IntN(20) == 0 })
		e := &l.entries[max(i, 0)]
		e.Subject, e.Account = e.Subject+e.Account[:1], e.Account[1:]
		return changed(e)
	}},
	{"an entry that was removed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		seq := l.entry().Seq
		l.remove(func(e storage.Entry) bool { return e.Seq == seq })
		return evidence.Finding{Fault: evidence.Removed, Seq: seq}, nil
	}},
	{"entries that were erased without a record", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entry()
		subject, first := e.Subject, slices.IndexFunc(l.entries, func(o storage.Entry) bool { return o.Subject == e.Subject })
		seq := l.entries[first].Seq
		l.remove(func(e storage.Entry) bool { return e.Subject == subject })
		return evidence.Finding{Fault: evidence.Removed, Seq: seq}, nil
	}},
	{"an entry that was added", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e, free := *l.entry(), l.entries[0].Seq-1-l.random.Int64N(5)
		for i := range l.entries[1:] {
			if seq := l.entries[i].Seq + 1; seq < l.entries[i+1].Seq && l.random.IntN(3) == 0 {
				free = seq
			}
		}
		e.Seq = free
		at, _ := slices.BinarySearchFunc(l.entries, free, func(e storage.Entry, seq int64) int { return int(e.Seq - seq) })
		l.entries = slices.Insert(l.entries, at, e)
		for _, b := range l.batches {
			for _, digest := range b.Entries {
				if digest.Seq == free { // it was erased
					return evidence.Finding{Fault: evidence.Changed, Seq: free}, nil
				}
			}
		}
		return evidence.Finding{Fault: evidence.Added, Seq: free}, nil
	}},
	{"two entries that were swapped", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		x, y := l.entry(), l.entry()
		for x.Seq >= y.Seq {
			x, y = l.entry(), l.entry()
		}
		*x, *y = *y, *x
		x.Seq, y.Seq = y.Seq, x.Seq
		return changed(x)
	}},
	{"an end that was cut off", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		from := l.random.IntN(len(l.entries))
		seq := l.entries[from].Seq
		if slices.ContainsFunc(l.entries[from:], explains) {
			seq = 0
		}
		l.entries = l.entries[:from]
		return evidence.Finding{Fault: evidence.Removed, Seq: seq}, nil
	}},
	{"an end that was cut off with its batches", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		from := len(l.batches) - 1 - l.random.IntN(3) // what explains erased and pruned entries is before
		last := l.batches[from-1].Last()
		l.batches = l.batches[:from]
		l.remove(func(e storage.Entry) bool { return e.Seq > last })
		return evidence.Finding{Fault: evidence.Cut, Seq: last + 1}, &l.head
	}},
	{"batches that were cut off", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		seq := l.batches[len(l.batches)-1].Entries[0].Seq
		l.batches = l.batches[:len(l.batches)-1]
		return evidence.Finding{Fault: evidence.Cut, Seq: seq}, nil
	}},
	{"a salt that was changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entry()
		e.Salt[l.random.IntN(len(e.Salt))] ^= 1 << l.random.IntN(8)
		return changed(e)
	}},
	{"a salt that was removed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entry()
		e.Salt = nil
		return changed(e)
	}},
	{"a digest that was changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		b := l.batch()
		d := &b.Entries[l.random.IntN(len(b.Entries))]
		d.Sum[l.random.IntN(32)] ^= 1 << l.random.IntN(8)
		return evidence.Finding{Fault: evidence.Changed, Seq: b.Entries[0].Seq}, nil
	}},
	{"a batch whose record was changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		b := l.batch()
		switch i := l.random.IntN(32); l.random.IntN(4) {
		case 0:
			b.Head[i] ^= 1 << l.random.IntN(8)
		case 1:
			b.Previous[i] ^= 1 << l.random.IntN(8)
		case 2:
			b.Total++
		case 3:
			b.Newest = b.Newest.Add(time.Microsecond)
		}
		return evidence.Finding{Fault: evidence.Changed, Seq: b.Entries[0].Seq}, nil
	}},
	{"a batch that was removed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		i := l.random.IntN(len(l.batches) - 4)
		b := l.batches[i]
		within := func(e storage.Entry) bool { return e.Seq >= b.Entries[0].Seq && e.Seq <= b.Last() }
		l.batches = slices.Delete(l.batches, i, i+1)
		seq := l.batches[i].Entries[0].Seq
		if slices.ContainsFunc(l.entries, func(e storage.Entry) bool { return within(e) && explains(e) }) {
			seq = 0
		}
		l.remove(within)
		return evidence.Finding{Fault: evidence.Removed, Seq: seq}, nil
	}},
	{"a checkpoint that was changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		for {
			if e := l.entry(); e.Kind == evidence.CheckpointKind {
				e.Facts = bytes.Replace(e.Facts, []byte(`"batch":`), []byte(`"batch":1`), 1)
				return changed(e)
			}
		}
	}},
	{"a record of erasing or pruning that was changed", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		var those []*storage.Entry
		for i := range l.entries {
			if explains(l.entries[i]) {
				those = append(those, &l.entries[i])
			}
		}
		e := those[l.random.IntN(len(those))]
		e.Facts = append(e.Facts, ' ')
		return evidence.Finding{Fault: evidence.Removed}, nil
	}},
	{"an entry that was changed, with its batch chained anew", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entry()
		e.Kind = "process.completed"
		i := slices.IndexFunc(l.batches, func(b storage.Batch) bool { return b.Last() >= e.Seq })
		l.batches[i] = relink(l, l.batches[i])
		if i == len(l.batches)-1 {
			return evidence.Finding{Fault: evidence.Changed}, &l.head
		}
		return evidence.Finding{Fault: evidence.Changed, Seq: l.batches[i+1].Entries[0].Seq}, nil
	}},
	{"a record of pruning that names the batch it is in, or one after it", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.forge(evidence.PrunedKind, prunedFacts(l.head.Batch+1+l.random.Int64N(3), l.head.Sum, 1<<40))
		return evidence.Finding{Fault: evidence.Changed, Seq: e.Seq}, nil
	}},
	{"an end that was cut off, with a record of pruning that names the head it had", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		head := l.head
		last := l.batches[len(l.batches)-3].Last()
		l.batches = l.batches[:len(l.batches)-2]
		l.remove(func(e storage.Entry) bool { return e.Seq > last })
		e := l.forge(evidence.PrunedKind, prunedFacts(head.Batch, head.Sum, last))
		return evidence.Finding{Fault: evidence.Changed, Seq: e.Seq}, &head
	}},
	{"an entry that was removed, with a record of pruning that has another Seq than its batch", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		seq := l.entry().Seq
		l.remove(func(e storage.Entry) bool { return e.Seq == seq })
		b := l.batch()
		l.forge(evidence.PrunedKind, prunedFacts(b.Number, b.Head, 1<<40))
		return evidence.Finding{Fault: evidence.Removed, Seq: seq}, nil
	}},
	{"an entry that was removed, with a record of erasing in a chain computed anew", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		seq := l.entry().Seq
		l.remove(func(e storage.Entry) bool { return e.Seq == seq })
		last := &l.entries[len(l.entries)-1]
		last.Subject, last.Kind = evidence.ErasedKind, evidence.ErasedKind
		last.Facts = json.RawMessage(fmt.Sprintf(`{"entries":[{"seq":%d,"kind":"kind 0","at":"2026-03-01T00:00:00Z"}]}`, seq))
		l.relinkFrom(0)
		return evidence.Finding{Fault: evidence.Changed}, &l.head
	}},
	{"a checkpoint over a batch that does not come before it", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		sum, _ := token(context.Background(), l.head.Sum[:])
		facts, _ := json.Marshal(map[string]any{"batch": l.head.Batch + 1 + l.random.Int64N(3), "head": fmt.Sprintf("%x", l.head.Sum), "token": sum})
		e := l.forge(evidence.CheckpointKind, string(facts))
		return evidence.Finding{Fault: evidence.Changed, Seq: e.Seq}, nil
	}},
	{"a chain computed anew, with nothing in place of its checkpoints", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		for i := range l.entries {
			if l.entries[i].Kind == evidence.CheckpointKind {
				l.entries[i].Kind = "kind 0"
			}
		}
		l.relinkFrom(0)
		return evidence.Finding{Fault: evidence.Removed}, nil
	}},
	{"a first batch that counts entries of which it has none", func(l *tamperedLog) (evidence.Finding, *evidence.Head) {
		e := l.entries[len(l.entries)-1]
		l.entries, l.batches = []storage.Entry{e}, []storage.Batch{{Number: 1, Total: 2 + l.random.Int64N(9), Newest: e.At, Entries: []storage.EntryDigest{{Seq: e.Seq}}}}
		l.batches[0] = relink(l, l.batches[0])
		return evidence.Finding{Fault: evidence.Changed, Seq: e.Seq}, nil
	}},
}

// prunedFacts returns the facts of a record of pruning up to a batch.
func prunedFacts(batch int64, head [sha256.Size]byte, seq int64) string {
	return fmt.Sprintf(`{"batch":%d,"head":"%x","seq":%d,"total":0}`, batch, head, seq)
}

// forge appends an entry about the log itself, in a batch of its own that continues the chain.
func (l *tamperedLog) forge(kind, facts string) storage.Entry {
	last := l.batches[len(l.batches)-1]
	e := storage.Entry{Seq: last.Last() + 1, Subject: kind, Kind: kind, At: last.Newest, Facts: json.RawMessage(facts), Salt: bytes.Repeat([]byte{7}, 16)}
	l.entries = append(l.entries, e)
	l.batches = append(l.batches, relink(l, storage.Batch{
		Number: last.Number + 1, Previous: last.Head, Total: last.Total + 1, Newest: e.At, Entries: []storage.EntryDigest{{Seq: e.Seq}},
	}))
	return e
}

// relinkFrom computes the batches from an index on anew, over the entries as they are now.
func (l *tamperedLog) relinkFrom(first int) {
	for i := first; i < len(l.batches); i++ {
		if i > 0 {
			l.batches[i].Previous = l.batches[i-1].Head
		}
		l.batches[i] = relink(l, l.batches[i])
	}
}

// LyingPrune fails the test if a record that the role of servers can add has [evidence.Chain.Prune] delete more than
// the caller asked for. server, operator and owner are users of the same empty log; owner writes what the other could.
func LyingPrune(t *testing.T, server, operator, owner Backend) {
	t.Helper()
	chain := evidence.Chain{Log: operator.EvidenceLog, Tx: operator, Clock: func(context.Context) time.Time { return after(500) }}
	for i := range 3 {
		addEntries(t, server, exampleEntry("s", "kind", 100*i))
		chainAll(t, server)
	}
	last, err := server.EvidenceLog.LastBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lie := exampleEntry("s", evidence.PrunedKind, 400)
	lie.Subject, lie.Facts = evidence.PrunedKind, json.RawMessage(prunedFacts(last.Number, last.Head, last.Last()))
	addEntries(t, server, lie)
	if n, err := chain.Prune(t.Context(), after(0), 0); n != 0 || err != nil {
		t.Errorf("deleted %d entries that are not old, %v", n, err)
	}
	if n, err := chain.Prune(t.Context(), after(50), 0); n != 1 || err != nil {
		t.Errorf("deleted %d entries, of which one is old, %v", n, err)
	}
	// A batch that says it is old, at a number that is free now, takes no newer entries with it.
	all := allEntries(t, server)
	old := relink(&tamperedLog{}, storage.Batch{Number: 1, Total: 1, Newest: after(-1000), Entries: []storage.EntryDigest{{Seq: all[len(all)-1].Seq}}})
	do(t, owner, func(ctx context.Context) error { return owner.EvidenceLog.Restore(ctx, nil, []storage.Batch{old}) })
	if n, err := chain.Prune(t.Context(), after(50), 0); n != 0 || err == nil {
		t.Errorf("deleted %d entries with a batch that is older than they are, %v", n, err)
	}
	if left := allEntries(t, server); len(left) != len(all) {
		t.Errorf("%d of %d entries are left", len(left), len(all))
	}
}

// relink returns a batch over the entries as they are now, by the format that docs/reference/evidence.md describes, of which
// this is a second implementation.
func relink(l *tamperedLog, b storage.Batch) storage.Batch {
	integer := func(n int64) string { return string(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	text := func(s string) string { return integer(int64(len(s))) + s }
	at := func(t time.Time) string { return text(t.UTC().Format(time.RFC3339Nano)) }
	digests := text("innsigli evidence root 1") + integer(int64(len(b.Entries)))
	for i := range b.Entries {
		d := &b.Entries[i]
		for _, e := range l.entries {
			if e.Seq == d.Seq {
				d.Sum = sha256.Sum256([]byte(text("innsigli evidence entry 1") + text(string(e.Salt)) + integer(e.Seq) +
					text(e.Subject) + text(e.Account) + text(e.Kind) + at(e.At) + text(string(e.Facts))))
			}
		}
		digests += integer(d.Seq) + string(d.Sum[:])
	}
	root := sha256.Sum256([]byte(digests))
	b.Head = sha256.Sum256([]byte(text("innsigli evidence head 1") + string(b.Previous[:]) + integer(b.Number) + integer(b.Total) + at(b.Newest) + string(root[:])))
	return b
}
