package evidence

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// page is how many entries are read at once, and batchPage how many batches.
const (
	page      = 500
	batchPage = 20
)

// Export returns the whole log: each batch, followed by its entries, and then the entries that are not chained. A
// server may record, chain, erase and prune meanwhile.
func Export(ctx context.Context, log storage.EvidenceLog) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		x := exporter{ctx: ctx, log: log, yield: yield}
		if err := x.all(); err != nil && !errors.Is(err, errStopped) {
			yield(Record{}, err)
		}
	}
}

// exporter is a running Export.
type exporter struct {
	ctx     context.Context
	log     storage.EvidenceLog
	yield   func(Record, error) bool
	entries []storage.Entry // that were read and not yielded yet
	last    int64           // Seq of the last entry that was read
}

// errStopped is returned when the caller of an iterator wants no more.
var errStopped = errors.New("evidence: stopped")

func (x *exporter) put(r Record) error {
	if !x.yield(r, nil) {
		return errStopped
	}
	return nil
}

func (x *exporter) all() error {
	// Batches are read again when the entries of those before are yielded, so that what says that an entry was erased
	// meanwhile is found, too.
	for number := int64(0); ; {
		batches, err := x.log.Batches(x.ctx, number, batchPage)
		if err != nil {
			return err
		}
		if len(batches) == 0 {
			return x.rest()
		}
		for _, b := range batches {
			if err := x.put(Record{Batch: &b}); err != nil {
				return err
			}
			if err := x.upTo(b.Last()); err != nil {
				return err
			}
			number = b.Number
		}
	}
}

// upTo yields the next entries up to a Seq.
func (x *exporter) upTo(seq int64) error {
	for {
		if len(x.entries) == 0 {
			if err := x.read(); err != nil || len(x.entries) == 0 {
				return err
			}
		}
		e := x.entries[0]
		if e.Seq > seq {
			return nil
		}
		x.entries = x.entries[1:]
		if err := x.put(Record{Entry: &e}); err != nil {
			return err
		}
	}
}

// read reads the next page of entries.
func (x *exporter) read() (err error) {
	if x.entries, err = x.log.EntriesAfter(x.ctx, x.last, page); err != nil || len(x.entries) == 0 {
		return err
	}
	last := x.entries[len(x.entries)-1].Seq
	if last <= x.last {
		return fmt.Errorf("evidence: the store returned entry %d after entry %d", last, x.last)
	}
	x.last = last
	return nil
}

// rest yields the entries after the last batch.
func (x *exporter) rest() error {
	for {
		if len(x.entries) == 0 {
			if err := x.read(); err != nil || len(x.entries) == 0 {
				return err
			}
		}
		last, err := x.log.LastBatch(x.ctx)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		for _, e := range x.entries {
			if err == nil && e.Seq <= last.Last() {
				e.Salt = nil // it was chained meanwhile
			}
			if err := x.put(Record{Entry: &e}); err != nil {
				return err
			}
		}
		x.entries = nil
	}
}

// ExportSubject returns the entries about a subject, each after its batch, and after each of these batches the roots of
// the following ones up to the next checkpoint. It yields nothing if there are no such entries.
func ExportSubject(ctx context.Context, log storage.EvidenceLog, subject string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		x := exporter{ctx: ctx, log: log, yield: yield}
		if err := x.subject(subject); err != nil && !errors.Is(err, errStopped) {
			yield(Record{}, err)
		}
	}
}

func (x *exporter) subject(subject string) error {
	entries, err := x.log.Entries(x.ctx, subject)
	if err != nil {
		return err
	}
	var current storage.Batch
	for i, e := range entries {
		if e.Salt != nil && (current.Number == 0 || e.Seq > current.Last()) {
			found, err := x.batchOf(e.Seq)
			if err != nil {
				return err
			}
			if current = found; current.Number > 0 {
				if err := x.put(Record{Batch: &current, Partial: true}); err != nil {
					return err
				}
			}
		}
		if err := x.put(Record{Entry: &e}); err != nil {
			return err
		}
		if e.Salt == nil || current.Number == 0 || i+1 < len(entries) && entries[i+1].Seq <= current.Last() {
			continue
		}
		next := int64(0)
		if i+1 < len(entries) {
			next = entries[i+1].Seq
		}
		if err := x.toCheckpoint(current, next); err != nil {
			return err
		}
	}
	return nil
}

// batchOf returns the batch that an entry is in, zero if there is none.
func (x *exporter) batchOf(seq int64) (found storage.Batch, err error) {
	last, err := x.log.LastBatch(x.ctx)
	if errors.Is(err, storage.ErrNotFound) {
		return found, nil
	}
	from := func(number int64) (b storage.Batch) { // the first batch from a number on
		if err == nil {
			var list []storage.Batch
			if list, err = x.log.Batches(x.ctx, number-1, 1); len(list) > 0 {
				b = list[0]
			}
		}
		return b
	}
	n := sort.Search(int(last.Number), func(n int) bool {
		b := from(int64(n) + 1)
		return b.Number == 0 || b.Last() >= seq
	})
	return from(int64(n) + 1), err
}

// toCheckpoint yields what shows that a batch was timestamped: the roots of the batches after it, and then the batch with
// the first checkpoint over it or a later one, and that checkpoint. If there is none yet, it yields nothing. It ends before
// the batch of the entry next; 0: there is none.
func (x *exporter) toCheckpoint(b storage.Batch, next int64) error {
	checkpoint, err := x.checkpointOver(b)
	if err != nil || checkpoint.Seq == 0 {
		return err
	}
	for number := b.Number; ; {
		batches, err := x.log.Batches(x.ctx, number, batchPage)
		if err != nil || len(batches) == 0 {
			return err
		}
		for _, b := range batches {
			switch number = b.Number; {
			case next > 0 && b.Last() >= next:
				return nil
			case b.Last() >= checkpoint.Seq:
				err := x.put(Record{Batch: &b, Partial: true})
				if err == nil {
					err = x.put(Record{Entry: &checkpoint})
				}
				return err
			}
			root := rootOf(b.Entries)
			b.Entries = nil
			if err := x.put(Record{Batch: &b, Root: &root}); err != nil {
				return err
			}
		}
	}
}

// checkpointOver returns the first checkpoint over a batch or a later one; its Seq is 0 if there is none that is chained.
func (x *exporter) checkpointOver(b storage.Batch) (storage.Entry, error) {
	for last := b.Last(); ; {
		entries, err := x.log.EntriesAfter(x.ctx, last, page)
		if err != nil || len(entries) == 0 {
			return storage.Entry{}, err
		}
		for _, e := range entries {
			var facts checkpointFacts
			if e.Kind == CheckpointKind && e.Salt != nil && json.Unmarshal(e.Facts, &facts) == nil && facts.Batch >= b.Number {
				return e, nil
			}
		}
		last = entries[len(entries)-1].Seq
	}
}

// entryLine is an entry as it is exported.
type entryLine struct {
	Seq     int64           `json:"seq"`
	Subject string          `json:"subject"`
	Account string          `json:"account"`
	Kind    string          `json:"kind"`
	At      time.Time       `json:"at"`
	Facts   json.RawMessage `json:"facts"`
	// Recorded are the facts as they were recorded, if the member facts has other bytes.
	Recorded []byte `json:"recorded,omitempty"`
	Salt     string `json:"salt,omitempty"` // hex
}

// batchLine is a batch as it is exported.
type batchLine struct {
	Batch    int64        `json:"batch"`
	Previous string       `json:"previous"` // hex, like all digests
	Head     string       `json:"head"`
	Total    int64        `json:"total"`
	Newest   time.Time    `json:"newest"`
	Partial  bool         `json:"partial,omitempty"`
	Root     string       `json:"root,omitempty"`
	Entries  []digestLine `json:"entries,omitempty"`
}

type digestLine struct {
	Seq    int64  `json:"seq"`
	Digest string `json:"digest"`
}

// WriteRecord writes a record as a line of JSON. A batch has the member "batch", and an entry does not.
func WriteRecord(w io.Writer, r Record) error {
	line, err := encode(r)
	if err == nil {
		_, err = w.Write(line)
	}
	return err
}

// WriteEntry writes an entry as a line of JSON, without its salt.
func WriteEntry(w io.Writer, e storage.Entry) error {
	e.Salt = nil
	return WriteRecord(w, Record{Entry: &e})
}

// encode returns the line of a record.
func encode(r Record) ([]byte, error) {
	var line any
	if b := r.Batch; b != nil {
		out := batchLine{
			Batch: b.Number, Previous: hex.EncodeToString(b.Previous[:]), Head: hex.EncodeToString(b.Head[:]),
			Total: b.Total, Newest: b.Newest.UTC(), Partial: r.Partial,
		}
		if r.Root != nil {
			out.Root = hex.EncodeToString(r.Root[:])
		} else {
			for _, e := range b.Entries {
				out.Entries = append(out.Entries, digestLine{e.Seq, hex.EncodeToString(e.Sum[:])})
			}
		}
		line = out
	} else {
		e := r.Entry
		out := entryLine{Seq: e.Seq, Subject: e.Subject, Account: e.Account, Kind: e.Kind, At: e.At.UTC(), Salt: hex.EncodeToString(e.Salt)}
		plain, err := json.Marshal(e.Facts)
		if err != nil {
			return nil, fmt.Errorf("evidence: the facts of entry %d: %w", e.Seq, err)
		}
		if out.Facts = plain; !bytes.Equal(plain, e.Facts) {
			out.Recorded = e.Facts
		}
		line = out
	}
	encoded, err := json.Marshal(line)
	return append(encoded, '\n'), err
}

// maxLine is the length of the longest line of an export in bytes.
const maxLine = 64 << 20

// ReadRecords reads records that WriteRecord has written. A line that it would not have written, byte for byte, is an
// error of the type [*LineError].
func ReadRecords(from io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, maxLine)
		for number := 1; lines.Scan(); number++ {
			r, decodeErr := decode(lines.Bytes())
			if decodeErr != nil {
				err := lines.Err()
				if err == nil { // else the line was cut off
					err = &LineError{number, decodeErr}
				}
				yield(Record{}, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Record{}, fmt.Errorf("evidence: reading the export: %w", err))
		}
	}
}

// LineError is returned for a line that is not as it was exported.
type LineError struct {
	Line int // from 1
	err  error
}

// Error implements error.
func (e *LineError) Error() string {
	return fmt.Sprintf("line %d is not a line of an export: %v", e.Line, e.err)
}

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.err }

var errOtherBytes = errors.New("it is not written as this program writes it")

func decode(line []byte) (r Record, err error) {
	var in struct {
		batchLine
		entryLine
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return r, err
	}
	if in.Batch != 0 {
		r, err = in.batchLine.record()
	} else {
		r, err = in.entryLine.record()
	}
	if err != nil {
		return r, err
	}
	again, err := encode(r)
	if err == nil && !bytes.Equal(again[:len(again)-1], line) {
		err = errOtherBytes
	}
	return r, err
}

func (l batchLine) record() (Record, error) {
	b := storage.Batch{Number: l.Batch, Total: l.Total, Newest: l.Newest}
	var errs [3]error
	b.Previous, errs[0] = parseSum(l.Previous)
	b.Head, errs[1] = parseSum(l.Head)
	r := Record{Batch: &b, Partial: l.Partial}
	if l.Root != "" {
		var root [32]byte
		root, errs[2] = parseSum(l.Root)
		r.Root = &root
	}
	for _, e := range l.Entries {
		sum, err := parseSum(e.Digest)
		if err != nil {
			return r, err
		}
		b.Entries = append(b.Entries, storage.EntryDigest{Seq: e.Seq, Sum: sum})
	}
	return r, errors.Join(errs[:]...)
}

func (l entryLine) record() (Record, error) {
	e := storage.Entry{Seq: l.Seq, Subject: l.Subject, Account: l.Account, Kind: l.Kind, At: l.At, Facts: slices.Clone(l.Facts)}
	if l.Recorded != nil {
		e.Facts = l.Recorded
	}
	if l.Salt == "" {
		return Record{Entry: &e}, nil
	}
	salt, err := hex.DecodeString(l.Salt)
	e.Salt = salt
	return Record{Entry: &e}, err
}
