package bolt

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// An entry's id is the key of its place in the log, so that the table is in that order; a batch's is the key of its
// number. saltBucket has the salts of entries by the entries' ids.
var (
	entriesOfSubject = index[entryRecord]{bucket: "evidence.subject", key: func(e entryRecord) []byte { return text(e.Subject) }}
	entryTable       = table[entryRecord]{bucket: "evidence", indexes: []index[entryRecord]{entriesOfSubject}, grows: true}
	batchTable       = table[batchRecord]{bucket: "evidence.batches", grows: true}
)

const saltBucket = bucket("evidence.salts")

// entriesByTimeBucket was an index of version 4 and before.
const entriesByTimeBucket = bucket("evidence.time")

type entryRecord struct {
	Seq     int64     `json:"seq"`
	Subject string    `json:"subject"`
	Account string    `json:"account"`
	Kind    string    `json:"kind"`
	At      time.Time `json:"at"`
	// Facts are bytes here, because encoding/json writes a RawMessage anew and what is
	// evidence stays as it was recorded.
	Facts []byte `json:"facts"`
}

// entry returns the entry of a record, with its salt.
func (r entryRecord) entry(tx *boltTx, id []byte) storage.Entry {
	e := storage.Entry{Seq: r.Seq, Subject: r.Subject, Account: r.Account, Kind: r.Kind, At: r.At, Facts: r.Facts}
	if salt := saltBucket.get(tx).Get(id); salt != nil {
		e.Salt = append([]byte(nil), salt...)
	}
	return e
}

// batchRecord is a batch of the chain. Digests are those of all entries, one after the other.
type batchRecord struct {
	Number   int64     `json:"number"`
	Previous []byte    `json:"previous"`
	Head     []byte    `json:"head"`
	Total    int64     `json:"total"`
	Newest   time.Time `json:"newest"`
	Seqs     []int64   `json:"seqs"`
	Digests  []byte    `json:"digests"`
}

func newBatchRecord(b storage.Batch) batchRecord {
	r := batchRecord{Number: b.Number, Previous: b.Previous[:], Head: b.Head[:], Total: b.Total, Newest: b.Newest}
	for _, e := range b.Entries {
		r.Seqs, r.Digests = append(r.Seqs, e.Seq), append(r.Digests, e.Sum[:]...)
	}
	return r
}

func (r batchRecord) batch() (storage.Batch, error) {
	if len(r.Previous) != sha256.Size || len(r.Head) != sha256.Size || len(r.Seqs) == 0 || len(r.Digests) != len(r.Seqs)*sha256.Size {
		return storage.Batch{}, fmt.Errorf("%w: batch %d of the evidence log has digests of a wrong length", ErrDamaged, r.Number)
	}
	b := storage.Batch{Number: r.Number, Previous: [sha256.Size]byte(r.Previous), Head: [sha256.Size]byte(r.Head), Total: r.Total, Newest: r.Newest}
	for i, seq := range r.Seqs {
		b.Entries = append(b.Entries, storage.EntryDigest{Seq: seq, Sum: [sha256.Size]byte(r.Digests[i*sha256.Size:])})
	}
	return b, nil
}

// evidenceLog is the storage.EvidenceLog of a DB.
type evidenceLog struct{ db *DB }

var _ storage.EvidenceLog = evidenceLog{}

// EvidenceLog is the log of what happened to requests and processes.
func (db *DB) EvidenceLog() storage.EvidenceLog { return evidenceLog{db} }

func (s evidenceLog) Record(ctx context.Context, entries ...storage.Entry) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		for _, e := range entries {
			e.Seq = int64(tx.Bucket([]byte(entryTable.bucket)).Sequence()) + 1 // which insert takes
			if err := record(tx, e); err != nil {
				return fmt.Errorf("bolt: recording %s of %s: %w", e.Kind, e.Subject, err)
			}
		}
		return nil
	})
}

func record(tx *boltTx, e storage.Entry) error {
	if !json.Valid(e.Facts) {
		return errors.New("the facts are not JSON")
	}
	return entryTable.insert(tx, string(number(uint64(e.Seq))), entryRecord{e.Seq, e.Subject, e.Account, e.Kind, e.At, e.Facts})
}

func (s evidenceLog) Entries(ctx context.Context, subject string) (entries []storage.Entry, err error) {
	err = s.db.read(ctx, func(tx *boltTx) error {
		for _, id := range entriesOfSubject.ids(tx, under(text(subject)), noLimit) {
			r, err := entryTable.get(tx, id)
			if err != nil {
				return entriesOfSubject.contradicts(id, err)
			}
			entries = append(entries, r.entry(tx, []byte(id)))
		}
		return nil
	})
	return entries, err
}

func (s evidenceLog) LastEntry(ctx context.Context, subject string) (e storage.Entry, err error) {
	err = s.db.read(ctx, func(tx *boltTx) error {
		in, c := under(text(subject)), tx.Bucket([]byte(entriesOfSubject.bucket)).Cursor()
		var k, id []byte
		if behind, _ := c.Seek(in.to); behind == nil {
			k, id = c.Last()
		} else {
			k, id = c.Prev()
		}
		if k == nil || string(k) < string(in.from) {
			return storage.ErrNotFound
		}
		r, err := entryTable.get(tx, string(id))
		if err != nil {
			return entriesOfSubject.contradicts(string(id), err)
		}
		e = r.entry(tx, id)
		return nil
	})
	return e, err
}

func (s evidenceLog) EntriesAfter(ctx context.Context, seq int64, limit int) (entries []storage.Entry, err error) {
	err = s.db.read(ctx, func(tx *boltTx) error {
		c := tx.Bucket([]byte(entryTable.bucket)).Cursor()
		for k, _ := c.Seek(number(uint64(max(seq, 0)) + 1)); k != nil && len(entries) < limit; k, _ = c.Next() {
			r, err := entryTable.get(tx, string(k))
			if err != nil {
				return err
			}
			entries = append(entries, r.entry(tx, k))
		}
		return nil
	})
	return entries, err
}

func (s evidenceLog) AddBatch(ctx context.Context, b storage.Batch, salts [][]byte) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		last, err := lastBatch(tx)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		if !b.Follows(last) {
			return storage.ErrMoved
		}
		allSalts := saltBucket.get(tx)
		allSalts.fillPages()
		for i, e := range b.Entries {
			if err := allSalts.Put(number(uint64(e.Seq)), salts[i]); err != nil {
				return fmt.Errorf("bolt: storing the salt of entry %d: %w", e.Seq, err)
			}
		}
		return batchTable.insert(tx, string(number(uint64(b.Number))), newBatchRecord(b))
	})
}

func (s evidenceLog) Batches(ctx context.Context, after int64, limit int) (batches []storage.Batch, err error) {
	err = s.db.read(ctx, func(tx *boltTx) error {
		c := tx.Bucket([]byte(batchTable.bucket)).Cursor()
		for k, _ := c.Seek(number(uint64(max(after, 0)) + 1)); k != nil && len(batches) < limit; k, _ = c.Next() {
			b, err := getBatch(tx, k)
			if err != nil {
				return err
			}
			batches = append(batches, b)
		}
		return nil
	})
	return batches, err
}

func (s evidenceLog) LastBatch(ctx context.Context) (b storage.Batch, err error) {
	err = s.db.read(ctx, func(tx *boltTx) error {
		b, err = lastBatch(tx)
		return err
	})
	return b, err
}

func lastBatch(tx *boltTx) (storage.Batch, error) {
	k, _ := tx.Bucket([]byte(batchTable.bucket)).Cursor().Last()
	if k == nil {
		return storage.Batch{}, storage.ErrNotFound
	}
	return getBatch(tx, k)
}

func getBatch(tx *boltTx, id []byte) (storage.Batch, error) {
	r, err := batchTable.get(tx, string(id))
	if err != nil {
		return storage.Batch{}, err
	}
	return r.batch()
}

func (s evidenceLog) DeleteEntries(ctx context.Context, seqs ...int64) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		for _, seq := range seqs {
			if err := deleteEntry(tx, number(uint64(seq))); err != nil {
				return err
			}
		}
		return nil
	})
}

// deleteEntry deletes an entry and its salt.
func deleteEntry(tx *boltTx, id []byte) error {
	err := entryTable.remove(tx, string(id))
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	return errors.Join(err, saltBucket.get(tx).Delete(id))
}

func (s evidenceLog) DeleteBatch(ctx context.Context, n int64) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		b, err := getBatch(tx, number(uint64(n)))
		if err != nil {
			return err
		}
		var ids [][]byte
		for _, name := range []string{entryTable.bucket, string(saltBucket)} {
			c := tx.Bucket([]byte(name)).Cursor()
			for k, _ := c.First(); k != nil && string(k) <= string(number(uint64(b.Last()))); k, _ = c.Next() {
				ids = append(ids, append([]byte(nil), k...))
			}
		}
		for _, id := range ids {
			if err := deleteEntry(tx, id); err != nil {
				return err
			}
		}
		return batchTable.remove(tx, string(number(uint64(n))))
	})
}

func (s evidenceLog) Restore(ctx context.Context, entries []storage.Entry, batches []storage.Batch) error {
	return s.db.write(ctx, func(tx *boltTx) error {
		log := tx.Bucket([]byte(entryTable.bucket))
		for _, e := range entries {
			if err := log.SetSequence(max(log.Sequence(), uint64(e.Seq)-1)); err != nil {
				return err
			}
			if err := record(tx, e); err != nil {
				return fmt.Errorf("bolt: restoring entry %d: %w", e.Seq, err)
			}
			if e.Salt == nil {
				continue
			}
			if err := saltBucket.get(tx).Put(number(uint64(e.Seq)), e.Salt); err != nil {
				return err
			}
		}
		for _, b := range batches {
			if err := log.SetSequence(max(log.Sequence(), uint64(b.Last()))); err != nil {
				return err
			}
			if err := batchTable.insert(tx, string(number(uint64(b.Number))), newBatchRecord(b)); err != nil {
				return fmt.Errorf("bolt: restoring batch %d: %w", b.Number, err)
			}
		}
		return nil
	})
}
