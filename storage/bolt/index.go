package bolt

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"
)

// index finds the ids of records by a key made from the record. Records with
// the same key are in the order of their creation.
type index[R any] struct {
	bucket string
	// unique: no two records have the same key.
	unique bool
	// key of a record, nil to leave the record out of the index.
	key func(R) []byte
}

// entry is the key of the record's entry in the index.
func (ix index[R]) entry(r row[R]) []byte {
	key := ix.key(r.Record)
	if key == nil || ix.unique {
		return key
	}
	return bytes.Join([][]byte{key, number(r.Seq)}, nil)
}

// ids are the ids of the first records in the span of an index, at most limit.
// The caller may change the table while it goes through them.
func (ix index[R]) ids(tx *bbolt.Tx, in span, limit int) []string {
	var ids []string
	c := tx.Bucket([]byte(ix.bucket)).Cursor()
	for k, id := c.Seek(in.from); k != nil && in.holds(k) && len(ids) < limit; k, id = c.Next() {
		ids = append(ids, string(id))
	}
	return ids
}

// create makes the buckets of a table that a file does not have. An index that an older file
// does not have is made of its records.
func (t table[R]) create(tx *bbolt.Tx) error {
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
func (t table[R]) fill(tx *bbolt.Tx, ix index[R]) error {
	entries, err := tx.CreateBucket([]byte(ix.bucket))
	if err != nil {
		return err
	}
	return tx.Bucket([]byte(t.bucket)).ForEach(func(id, _ []byte) error {
		r, err := t.row(tx, string(id))
		if err != nil {
			return err
		}
		if key := ix.entry(r); key != nil {
			return entries.Put(key, id)
		}
		return nil
	})
}
