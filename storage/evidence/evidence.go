// Package evidence chains the evidence log (spec 7.3), so that a change of it can be found, and verifies the chain.
//
// [storage.EvidenceLog] records entries without waiting. [Chain.Extend] reads the committed entries after the last
// that is chained, gives each a random salt, and appends a [storage.Batch] of their digests. Each batch includes the
// head of the batch before, so that one head commits to all entries up to it. [Chain.Checkpoint] records a timestamp
// over the head (RFC 3161) as an entry of the log.
//
// Entries about a person are erased with their salts ([Chain.Erase]): their digests stay, and nothing can be learnt
// from a digest without its salt. Old entries are deleted with their batches, from the oldest on ([Chain.Prune]). Both
// record an entry that says so, and Verify reports whatever else is missing.
//
// # Digests
//
// All digests are SHA-256. An integer is 8 bytes in big-endian order. A string is the integer of its length in bytes,
// and then its bytes. || concatenates. A time is the string that [time.RFC3339Nano] gives of it in UTC.
//
//	digest of an entry = SHA-256("innsigli evidence entry 1" || salt || seq || subject || account || kind || at || facts)
//	root of a batch    = SHA-256("innsigli evidence root 1" || n || seq 1 || digest 1 || … || seq n || digest n)
//	head of a batch    = SHA-256("innsigli evidence head 1" || previous || number || total || newest || root)
//
// The first strings, salt, subject, account, kind, at, facts and newest are strings in this sense; seq, n, number and
// total are integers. Digests, roots and heads stand without a length. previous is the head of the batch before, or 32
// zero bytes. facts are the bytes that were recorded. The page docs/reference/evidence.md describes the same for
// readers who have an export and not this program.
package evidence

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// The kinds of entries that this package records. Each is also the subject of its entries.
const (
	CheckpointKind = "evidence.checkpoint"
	ErasedKind     = "evidence.erased"
	PrunedKind     = "evidence.pruned"
)

// Head identifies a state of the log: a batch by its number, and its head.
type Head struct {
	Batch int64
	Sum   [sha256.Size]byte
}

// checkpointFacts are the facts of CheckpointKind.
type checkpointFacts struct {
	Batch int64  `json:"batch"`
	Head  string `json:"head"`  // hex
	Token []byte `json:"token"` // TimeStampToken (RFC 3161) over the head, in DER
}

// erasedFacts are the facts of ErasedKind.
type erasedFacts struct {
	Entries []erasedEntry `json:"entries"`
}

// erasedEntry is what is left of an entry that was erased.
type erasedEntry struct {
	Seq  int64     `json:"seq"`
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`
}

// prunedFacts are the facts of PrunedKind: the last batch that is deleted.
type prunedFacts struct {
	Batch int64  `json:"batch"`
	Head  string `json:"head"`  // hex
	Seq   int64  `json:"seq"`   // of the last entry
	Total int64  `json:"total"` // entries up to it
}

// digester writes the encoding of a value to a hash.
type digester struct{ hash.Hash }

func newDigester(tag string) digester {
	d := digester{sha256.New()}
	d.string(tag)
	return d
}

func (d digester) integer(n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.Write(b[:])
}

func (d digester) string(s string) {
	d.integer(int64(len(s)))
	d.Write([]byte(s))
}

func (d digester) sum() (sum [sha256.Size]byte) {
	d.Sum(sum[:0])
	return sum
}

// formatTime returns a time as it is digested and exported.
func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// digestOf returns the digest of an entry that has a salt.
func digestOf(e storage.Entry) [sha256.Size]byte {
	d := newDigester("innsigli evidence entry 1")
	d.string(string(e.Salt))
	d.integer(e.Seq)
	d.string(e.Subject)
	d.string(e.Account)
	d.string(e.Kind)
	d.string(formatTime(e.At))
	d.string(string(e.Facts))
	return d.sum()
}

// rootOf returns the root of the digests in a batch.
func rootOf(entries []storage.EntryDigest) [sha256.Size]byte {
	d := newDigester("innsigli evidence root 1")
	d.integer(int64(len(entries)))
	for _, e := range entries {
		d.integer(e.Seq)
		d.Write(e.Sum[:])
	}
	return d.sum()
}

// headOf returns the head of a batch, given the root of its entries.
func headOf(b storage.Batch, root [sha256.Size]byte) [sha256.Size]byte {
	d := newDigester("innsigli evidence head 1")
	d.Write(b.Previous[:])
	d.integer(b.Number)
	d.integer(b.Total)
	d.string(formatTime(b.Newest))
	d.Write(root[:])
	return d.sum()
}

// link returns the batch that follows last and has the entries, whose salts are set.
func link(last storage.Batch, entries []storage.Entry) storage.Batch {
	b := storage.Batch{Number: last.Number + 1, Previous: last.Head, Total: last.Total + int64(len(entries))}
	for _, e := range entries {
		if e.At.After(b.Newest) || b.Newest.IsZero() {
			b.Newest = e.At
		}
		b.Entries = append(b.Entries, storage.EntryDigest{Seq: e.Seq, Sum: digestOf(e)})
	}
	b.Head = headOf(b, rootOf(b.Entries))
	return b
}
