package evidence

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Record is a part of a log that is read to be exported or verified: a batch, or an entry.
type Record struct {
	Batch *storage.Batch
	Entry *storage.Entry
	// Partial is set for a batch some of whose entries are left out, in an export of one subject. If Root is not nil, it
	// stands for the digests of the batch, which are left out, too.
	Partial bool
	Root    *[32]byte
}

// Options are the options of [Verify].
type Options struct {
	// Head is a head that the chain must contain, such as the server's log has; nil: none. It shows whether entries were
	// cut off the end together with their batches, which the chain alone cannot show.
	Head *Head
	// CheckToken verifies a TimeStampToken over a head, and returns its time.
	CheckToken func(head [32]byte, token []byte) (time.Time, error)
	// TimestampedBefore is a time before which entries must have been under a checkpoint: a log that has older ones, and
	// no checkpoint at all, was computed anew without them. Zero: a log needs none.
	TimestampedBefore time.Time
}

// Fault is how a log was changed.
type Fault string

const (
	Changed   Fault = "changed"
	Removed   Fault = "removed"
	Added     Fault = "added"
	Reordered Fault = "reordered"
	Cut       Fault = "cut" // at the end
)

// Finding is a place at which a log was changed.
type Finding struct {
	Fault Fault
	Seq   int64 // of the entry, or of the first entry of the batch; 0: unknown
	Batch int64 // 0: unknown
	// Detail says what is wrong, as a sentence without its full stop.
	Detail string
}

// Result is what [Verify] found.
type Result struct {
	Entries   int64 // whose digest is in the chain
	Erased    int64 // entries that were erased
	Unchained int64 // entries after the last batch
	Batches   int64
	Last      Head
	// Pruned is the number of the last batch that was pruned before the first; 0: the log is whole.
	Pruned int64
	// Excused is how many entries are missing of batches that are there, and were pruned while the log was read, as an entry
	// says. Excused is 0 when a log is read again that is no longer pruned.
	Excused int64
	// Partial is set for an export of one subject: what was left out of it cannot be missed.
	Partial bool
	// Checkpoints are the timestamps over heads, and Timestamped and TimestampedBatch are the last of them and its batch.
	// FirstTimestamped is the first, and Oldest the time of the newest entry of the first batch: if the one is much later than
	// the other, the entries between were chained, or chained anew, long after they were recorded.
	Checkpoints              int64
	FirstTimestamped, Oldest time.Time
	Timestamped              time.Time
	TimestampedBatch         int64
	// Findings is how many were found, and First is the one with the lowest Seq; nil: the log is as it was recorded.
	Findings int64
	First    *Finding
}

// maxMissing is the most entries of which it is open whether a later entry says that they were erased, and recentHeads
// how many heads are kept for the checkpoints over them.
const (
	maxMissing  = 4 << 20
	recentHeads = 1 << 16
)

// Verify verifies a log, whose records are in the order in which [Export] yields them. An error of records is returned
// unchanged. Memory use does not depend on the length of the log, but for 8 bytes for each entry that was erased.
//
// After a batch that is not what its head says, later batches prove nothing, and Verify ends.
func Verify(records iter.Seq2[Record, error], o Options) (Result, error) {
	v := verifier{options: o, ends: map[int64]end{}}
	for r, err := range records {
		if err != nil {
			return v.Result, err
		}
		switch {
		case r.Batch != nil:
			v.batch(r)
		case r.Entry != nil:
			v.entry(*r.Entry)
		}
		if v.broken {
			break
		}
	}
	v.finish()
	return v.Result, nil
}

// verifier is the state of Verify.
type verifier struct {
	Result
	options Options
	current Record        // the last batch
	next    int           // index of the next expected entry of current
	lastSeq int64         // of the last entry, present or missing
	ends    map[int64]end // of the last recentHeads batches
	// missing are the entries that are expected and are not there, in ascending order. Those that were erased are negated.
	missing   []int64
	gaps      []gap // that no record of pruning explained yet
	headFound bool
	broken    bool
}

// end is the end of a batch.
type end struct {
	head [32]byte
	seq  int64 // of its last entry; 0: unknown
}

// maxGaps is the most gaps that are remembered.
const maxGaps = 1000

// gap is a place at which the batches from one to another are missing.
type gap struct {
	from, to int64
	after    int64    // Seq of the last entry before it
	seq      int64    // of the first entry behind it
	previous [32]byte // of the first batch behind it
}

func (v *verifier) found(f Finding) {
	v.Findings++
	if v.First == nil || f.Seq < v.First.Seq {
		v.First = &f
	}
}

// batch verifies a batch, and the order in which it comes.
func (v *verifier) batch(r Record) {
	v.endBatch()
	b, last := *r.Batch, v.current.Batch
	seq := v.lastSeq + 1
	if len(b.Entries) > 0 {
		seq = b.Entries[0].Seq
	}
	broken := func(f Fault, detail string) {
		v.found(Finding{f, seq, b.Number, detail})
		v.broken = true
	}
	root := rootOf(b.Entries)
	if r.Root != nil {
		root = *r.Root
	}
	switch {
	case v.Unchained > 0:
		broken(Reordered, fmt.Sprintf("batch %d comes after entries that are not in it", b.Number))
		return
	case b.Number < 1 || len(b.Entries) == 0 && r.Root == nil:
		broken(Changed, fmt.Sprintf("batch %d has no entries", b.Number))
		return
	case last != nil && b.Number <= last.Number:
		broken(Reordered, fmt.Sprintf("batch %d comes after batch %d", b.Number, last.Number))
		return
	case headOf(b, root) != b.Head:
		broken(Changed, fmt.Sprintf("the record of batch %d is not what its head says", b.Number))
		return
	case r.Root == nil && !ascending(v.lastSeq, b.Entries):
		broken(Reordered, fmt.Sprintf("the entries of batch %d are not in order", b.Number))
		return
	}
	follows := last != nil && b.Number == last.Number+1
	if follows && b.Previous != last.Head {
		broken(Changed, fmt.Sprintf("batch %d does not follow batch %d, whose head is another", b.Number, last.Number))
		return
	}
	v.Partial = v.Partial || r.Partial || r.Root != nil
	switch {
	case follows && r.Root == nil && b.Total != last.Total+int64(len(b.Entries)), b.Number == 1 && (b.Previous != [32]byte{} || r.Root == nil && b.Total != int64(len(b.Entries))):
		broken(Changed, fmt.Sprintf("batch %d counts entries wrongly, or is not the first", b.Number))
		return
	case !follows && b.Number > 1 && !v.Partial:
		g := gap{from: 1, to: b.Number - 1, after: v.lastSeq, seq: seq, previous: b.Previous}
		if last != nil {
			g.from = last.Number + 1
		}
		if v.gaps = append(v.gaps, g); len(v.gaps) > maxGaps {
			broken(Removed, "many batches are missing")
			return
		}
	}
	if v.Batches++; v.Batches == 1 {
		v.Oldest = b.Newest
	}
	v.current, v.next = r, 0
	v.Last = Head{b.Number, b.Head}
	ending := end{head: b.Head}
	if r.Root == nil {
		ending.seq = b.Last()
	}
	if v.ends[b.Number] = ending; len(v.ends) > recentHeads {
		delete(v.ends, b.Number-recentHeads)
	}
	// The batch before may have been pruned. What a record says of its head proves nothing, and this batch has it.
	if h := v.options.Head; h != nil && (h.Batch == b.Number || h.Batch == b.Number-1 && !follows) {
		sum := b.Head
		if h.Batch < b.Number {
			sum = b.Previous
		}
		if v.headFound = true; h.Sum != sum {
			broken(Changed, fmt.Sprintf("the head of batch %d is %x, and the one that is demanded is %x", h.Batch, sum, h.Sum))
		}
	}
}

// ascending reports whether the Seq of each entry is higher than that of the entry before, which is last for the first.
func ascending(last int64, entries []storage.EntryDigest) bool {
	for _, e := range entries {
		if e.Seq <= last {
			return false
		}
		last = e.Seq
	}
	return true
}

// endBatch notes the entries of the last batch that did not come.
func (v *verifier) endBatch() {
	if v.current.Batch == nil || v.current.Root != nil {
		return
	}
	v.miss(len(v.current.Batch.Entries))
}

// miss notes that the expected entries up to an index are missing.
func (v *verifier) miss(to int) {
	for ; v.next < to; v.next++ {
		v.lastSeq = v.current.Batch.Entries[v.next].Seq
		if v.current.Partial {
			continue
		}
		if v.missing = append(v.missing, v.lastSeq); len(v.missing) > maxMissing {
			v.broken = true // finish reports them
			return
		}
	}
}

// entry verifies an entry.
func (v *verifier) entry(e storage.Entry) {
	b := v.current.Batch
	if b == nil || v.current.Root != nil || e.Seq > b.Last() {
		v.unchained(e)
		return
	}
	expected, ok := slices.BinarySearchFunc(b.Entries, e.Seq, func(d storage.EntryDigest, seq int64) int { return cmp.Compare(d.Seq, seq) })
	switch {
	case ok && expected < v.next:
		v.found(Finding{Reordered, e.Seq, b.Number, fmt.Sprintf("entry %d comes after entry %d, or twice", e.Seq, v.lastSeq)})
		return
	case !ok:
		v.found(Finding{Added, e.Seq, b.Number, fmt.Sprintf("entry %d (%s) was not in the log when batch %d was made", e.Seq, e.Kind, b.Number)})
		return
	}
	v.miss(expected)
	v.next, v.lastSeq = expected+1, e.Seq
	switch {
	case e.Salt == nil:
		v.found(Finding{Changed, e.Seq, b.Number, fmt.Sprintf("entry %d (%s) has no salt", e.Seq, e.Kind)})
	case digestOf(e) != b.Entries[expected].Sum:
		v.found(Finding{Changed, e.Seq, b.Number, fmt.Sprintf("entry %d (%s), or its salt, is not what was recorded", e.Seq, e.Kind)})
	default:
		v.Entries++
		v.about(e)
	}
}

// unchained takes an entry that is behind all batches so far.
func (v *verifier) unchained(e storage.Entry) {
	switch v.endBatch(); {
	case e.Seq <= v.lastSeq:
		v.found(Finding{Reordered, e.Seq, 0, fmt.Sprintf("entry %d comes after entry %d", e.Seq, v.lastSeq)})
	case e.Salt != nil:
		v.found(Finding{Cut, e.Seq, 0, fmt.Sprintf("entry %d (%s) was chained, and its batch is missing: the chain ends with batch %d", e.Seq, e.Kind, v.Last.Batch)})
	}
	v.Unchained++
	v.lastSeq = max(v.lastSeq, e.Seq)
}

// about takes what an entry that is verified says about the log.
func (v *verifier) about(e storage.Entry) {
	var err error
	switch e.Kind {
	case CheckpointKind:
		err = v.checkpoint(e)
	case ErasedKind:
		err = v.erased(e)
	case PrunedKind:
		err = v.pruned(e)
	}
	if err != nil {
		v.found(Finding{Changed, e.Seq, v.current.Batch.Number, fmt.Sprintf("entry %d (%s): %v", e.Seq, e.Kind, err)})
	}
}

func (v *verifier) checkpoint(e storage.Entry) error {
	var facts checkpointFacts
	if err := json.Unmarshal(e.Facts, &facts); err != nil {
		return err
	}
	head, err := parseSum(facts.Head)
	if err != nil {
		return err
	}
	if facts.Batch >= v.current.Batch.Number {
		return fmt.Errorf("it is over batch %d, and is in batch %d itself", facts.Batch, v.current.Batch.Number)
	}
	if known, ok := v.ends[facts.Batch]; ok && known.head != head {
		return fmt.Errorf("the head of batch %d is another than the one with the timestamp", facts.Batch)
	}
	v.Checkpoints++
	if v.options.CheckToken == nil {
		return nil
	}
	at, err := v.options.CheckToken(head, facts.Token)
	if err != nil {
		return fmt.Errorf("the timestamp over batch %d: %w", facts.Batch, err)
	}
	if v.Timestamped, v.TimestampedBatch = at, facts.Batch; v.FirstTimestamped.IsZero() {
		v.FirstTimestamped = at
	}
	return nil
}

func (v *verifier) erased(e storage.Entry) error {
	var facts erasedFacts
	if err := json.Unmarshal(e.Facts, &facts); err != nil {
		return err
	}
	for _, one := range facts.Entries {
		if one.Kind == CheckpointKind || one.Kind == ErasedKind || one.Kind == PrunedKind {
			return fmt.Errorf("it says that entry %d was erased, and entries of the log about itself are not", one.Seq)
		}
		if i, ok := slices.BinarySearchFunc(v.missing, one.Seq, func(missing, seq int64) int { return cmp.Compare(max(missing, -missing), seq) }); ok && v.missing[i] > 0 {
			v.missing[i] = -one.Seq
			v.Erased++
		}
	}
	return nil
}

func (v *verifier) pruned(e storage.Entry) error {
	var facts prunedFacts
	if err := json.Unmarshal(e.Facts, &facts); err != nil {
		return err
	}
	head, err := parseSum(facts.Head)
	if err != nil {
		return err
	}
	if facts.Batch >= v.current.Batch.Number {
		return fmt.Errorf("it is about batch %d, and is in batch %d itself", facts.Batch, v.current.Batch.Number)
	}
	known, seen := v.ends[facts.Batch]
	switch {
	case seen && known.head != head:
		return fmt.Errorf("the head of batch %d is another than that of the batch that was pruned", facts.Batch)
	case seen && known.seq != 0 && known.seq != facts.Seq:
		return fmt.Errorf("the last entry of batch %d is %d, and not %d", facts.Batch, known.seq, facts.Seq)
	}
	for _, g := range v.gaps {
		if g.from <= facts.Batch && facts.Batch <= g.to && (facts.Seq <= g.after || facts.Seq >= g.seq) {
			return fmt.Errorf("entry %d is not one of batches %d to %d", facts.Seq, g.from, g.to)
		}
	}
	n := 0 // entries that are deleted while the log is read
	for n < len(v.missing) && max(v.missing[n], -v.missing[n]) <= facts.Seq {
		if v.missing[n] > 0 {
			v.Excused++
		}
		n++
	}
	v.missing = v.missing[n:]
	for len(v.gaps) > 0 && v.gaps[0].to <= facts.Batch {
		g := v.gaps[0]
		if facts.Batch == g.to && head != g.previous {
			return fmt.Errorf("batch %d does not follow the batch that was pruned", g.to+1)
		}
		v.Pruned, v.gaps = g.to, v.gaps[1:]
	}
	return nil
}

// finish reports what no later entry explained.
func (v *verifier) finish() {
	if !v.broken && v.Unchained == 0 {
		v.endBatch()
	}
	missing := slices.DeleteFunc(v.missing, func(seq int64) bool { return seq < 0 })
	switch {
	case v.broken && len(missing) > 0 && v.First != nil:
		v.First.Detail += fmt.Sprintf("; before it %d entries are missing, from entry %d on, which may have been erased", len(missing), missing[0])
	default:
		for _, seq := range missing {
			v.found(Finding{Removed, seq, 0, fmt.Sprintf("entry %d is missing, and no entry says that it was erased", seq)})
		}
	}
	for _, g := range v.gaps {
		if !v.broken { // else a later entry may say that they were pruned
			v.found(Finding{Removed, g.seq, g.from, fmt.Sprintf("batches %d to %d are missing, and no entry says that they were pruned", g.from, g.to)})
		}
	}
	if v.First == nil && v.Checkpoints == 0 && v.Oldest.Before(v.options.TimestampedBefore) && v.Batches > 0 {
		v.found(Finding{Removed, 0, 0, fmt.Sprintf("the log has entries from %s, and no checkpoint with a timestamp", formatTime(v.Oldest))})
	}
	if h := v.options.Head; h != nil && !v.headFound && !v.broken {
		f := Finding{Cut, v.lastSeq + 1, h.Batch, fmt.Sprintf("the chain ends with batch %d, and batch %d, whose head is demanded, is missing", v.Last.Batch, h.Batch)}
		if h.Batch <= v.Last.Batch {
			f.Fault, f.Seq, f.Detail = Removed, 0, fmt.Sprintf("batch %d, whose head is demanded, is not in the chain: it was pruned, or is not in a partial export", h.Batch)
		}
		v.found(f)
	}
}

// parseSum parses a digest in lower-case hex.
func parseSum(s string) (sum [32]byte, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(sum) {
		return sum, fmt.Errorf("%q is not a SHA-256 value in hex", s)
	}
	return [32]byte(b), nil
}

// ParseHead parses a head in the form BATCH:HEX, as [Head.String] formats it.
func ParseHead(s string) (h Head, err error) {
	var sum string
	if n, _ := fmt.Sscanf(s, "%d:%s", &h.Batch, &sum); n != 2 || h.Batch < 1 {
		return h, fmt.Errorf("%q is not a head of the form BATCH:HEX", s)
	}
	h.Sum, err = parseSum(sum)
	return h, err
}

// String returns the head in the form BATCH:HEX.
func (h Head) String() string { return fmt.Sprintf("%d:%x", h.Batch, h.Sum) }
