package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// index finds the ids of records by a key made from the record. Records with
// the same key are in the order of their creation.
type index[R any] struct {
	bucket string
	// unique: no two records have the same key.
	unique bool
	// grows: keys of new entries are behind all others, but for a few.
	grows bool
	// key of a record, nil to leave the record out of the index.
	key func(R) []byte
	// keys is in place of key where a record may have several.
	keys func(R) [][]byte
}

// entries are the keys of the record's entries in the index; none of nil.
func (ix index[R]) entries(r *row[R]) (list [][]byte) {
	if r == nil {
		return nil
	}
	for _, key := range ix.keysOf(r.Record) {
		if !ix.unique {
			key = bytes.Join([][]byte{key, number(r.Seq)}, nil)
		}
		list = append(list, key)
	}
	return list
}

func (ix index[R]) keysOf(record R) [][]byte {
	if ix.keys != nil {
		return ix.keys(record)
	}
	if key := ix.key(record); key != nil {
		return [][]byte{key}
	}
	return nil
}

// move has the record of an id found by the entries of what it is instead of what it was. An entry
// that stays is not written again: one in many pages of a large file would cost as much as all.
func (ix index[R]) move(tx *boltTx, id string, was, is *row[R]) error {
	entries, before, after := tx.Bucket([]byte(ix.bucket)), ix.entries(was), ix.entries(is)
	if ix.grows {
		entries.fillPages()
	}
	var errs []error
	for _, key := range without(before, after) {
		errs = append(errs, entries.Delete(key))
	}
	for _, key := range without(after, before) {
		errs = append(errs, entries.Put(key, []byte(id)))
	}
	return errors.Join(errs...)
}

// without are the keys that are not among others.
func without(keys, others [][]byte) (list [][]byte) {
	for _, key := range keys {
		if !slices.ContainsFunc(others, func(other []byte) bool { return bytes.Equal(key, other) }) {
			list = append(list, key)
		}
	}
	return list
}

// ids are the ids of the first records in the span of an index, at most limit.
// The caller may change the table while it goes through them.
func (ix index[R]) ids(tx *boltTx, in span, limit int) []string {
	var ids []string
	c := tx.Bucket([]byte(ix.bucket)).Cursor()
	for k, id := c.Seek(in.from); k != nil && in.holds(k) && len(ids) < limit; k, id = c.Next() {
		ids = append(ids, string(id))
	}
	return ids
}

// contradicts returns the error about an entry whose record could not be read. That there is none is damage:
// entries and records change together.
func (ix index[R]) contradicts(id string, err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("%w: %s has an entry for %q, which has no record", ErrDamaged, ix.bucket, id)
	}
	return fmt.Errorf("bolt: entry of %s for %q: %w", ix.bucket, id, err)
}

// byID stands for an index that has the records in the order of their ids, which the table itself is.
func (t table[R]) byID() index[R] { return index[R]{bucket: t.bucket} }

// create makes the buckets of a table that a file does not have. An index that an older file
// does not have is made of its records.
func (t table[R]) create(tx *boltTx) error {
	if err := bucket(t.bucket).create(tx); err != nil {
		return err
	}
	for _, ix := range t.indexes {
		if tx.Bucket([]byte(ix.bucket)) != nil {
			continue
		}
		if err := t.fill(tx, ix); err != nil {
			return fmt.Errorf("bolt: index %s: %w", ix.bucket, err)
		}
	}
	return nil
}

// fill makes an index.
func (t table[R]) fill(tx *boltTx, ix index[R]) error {
	entries, err := tx.CreateBucket([]byte(ix.bucket))
	if err != nil {
		return err
	}
	return tx.Bucket([]byte(t.bucket)).ForEach(func(id, _ []byte) error {
		r, err := t.row(tx, string(id))
		if err != nil {
			return err
		}
		for _, key := range ix.entries(&r) {
			if err := entries.Put(key, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// noLimit asks for all there are.
const noLimit = math.MaxInt

// number is a key that sorts as the number does.
func number(n uint64) []byte {
	return binary.BigEndian.AppendUint64(nil, n)
}

// text is a key for a string. Its length comes first, so that no string's key is
// the beginning of another's.
func text(s string) []byte {
	key := binary.BigEndian.AppendUint32(nil, uint32(len(s)))
	return append(key, s...)
}

// instant is a key that sorts as the time does, to the microsecond. Flipping the
// sign puts the times before 1970 first.
func instant(t time.Time) []byte {
	return number(uint64(t.UnixMicro()) ^ 1<<63)
}

// span is a range of keys, from the first included to the end not included.
type span struct{ from, to []byte }

// every is the span of all keys.
func every() span { return span{} }

// under is the span of the keys that begin with the prefix.
func under(prefix []byte) span {
	to := bytes.Clone(prefix)
	for i := len(to) - 1; i >= 0; i-- {
		if to[i]++; to[i] != 0 {
			return span{from: prefix, to: to[:i+1]}
		}
	}
	return span{from: prefix} // all 0xff: to the end
}

// upTo is the span of the keys of times that are the one given or before.
func upTo(t time.Time) span {
	return span{to: instant(t.Add(time.Microsecond))}
}

// before is the span of the keys of earlier times.
func before(t time.Time) span {
	return span{to: instant(t)}
}

func (s span) holds(key []byte) bool {
	return s.to == nil || bytes.Compare(key, s.to) < 0
}
