package bolt

import (
	"bytes"
	"errors"

	"go.etcd.io/bbolt"
)

// boltTx is a bbolt transaction. What is written through it is noted in a log, and can be undone while the rest of the
// bbolt transaction is kept: bbolt has no savepoints.
type boltTx struct {
	*bbolt.Tx
	log *undoLog // nil in a transaction that only reads
	// erased are the documents that the group has deleted; nil in a transaction that only reads.
	erased map[string]bool
}

// Bucket returns a bucket, nil if there is none.
func (tx *boltTx) Bucket(name []byte) *boltBucket {
	b := tx.Tx.Bucket(name)
	if b == nil {
		return nil
	}
	return &boltBucket{b, tx.log}
}

// CreateBucket is that of bbolt. It cannot be undone alone.
func (tx *boltTx) CreateBucket(name []byte) (*boltBucket, error) {
	tx.log.cannotUndo()
	b, err := tx.Tx.CreateBucket(name)
	if err != nil {
		return nil, err
	}
	return &boltBucket{b, tx.log}, nil
}

// CreateBucketIfNotExists is that of bbolt. It cannot be undone alone.
func (tx *boltTx) CreateBucketIfNotExists(name []byte) (*boltBucket, error) {
	if b := tx.Bucket(name); b != nil {
		return b, nil
	}
	return tx.CreateBucket(name)
}

// DeleteBucket is that of bbolt. It cannot be undone alone.
func (tx *boltTx) DeleteBucket(name []byte) error {
	tx.log.cannotUndo()
	return tx.Tx.DeleteBucket(name)
}

// boltBucket is a bucket of a boltTx.
type boltBucket struct {
	*bbolt.Bucket
	log *undoLog
}

// fillPages has pages of the bucket filled before a new one is begun. bbolt would leave half of each page to keys between
// its own, which never come in a bucket whose keys only grow.
func (b *boltBucket) fillPages() { b.FillPercent = 1 }

// cursor is what is used of a cursor of bbolt: it does not write.
type cursor interface {
	First() (key, value []byte)
	Last() (key, value []byte)
	Next() (key, value []byte)
	Prev() (key, value []byte)
	Seek(seek []byte) (key, value []byte)
}

// Cursor returns a cursor over the bucket.
func (b *boltBucket) Cursor() cursor { return b.Bucket.Cursor() }

// value returns the value of a key, and whether it has one. Get returns nil also for an empty value.
func (b *boltBucket) value(key []byte) (value []byte, exists bool) {
	k, value := b.Bucket.Cursor().Seek(key)
	return value, bytes.Equal(k, key)
}

// Put sets the value of a key. Value must not be changed until the transaction has ended.
func (b *boltBucket) Put(key, value []byte) error {
	undo := func() error { return nil }
	if b.log.needsUndo {
		key = bytes.Clone(key)
		if old, exists := b.value(key); exists {
			undo = func() error { return b.Bucket.Put(key, old) }
		} else {
			undo = func() error { return b.Bucket.Delete(key) }
		}
	}
	if err := b.Bucket.Put(key, value); err != nil {
		return err
	}
	b.log.add(len(key)+len(value), undo)
	return nil
}

// Delete deletes a key. One that does not exist is no error, and writes nothing.
func (b *boltBucket) Delete(key []byte) error {
	key = bytes.Clone(key)
	old, exists := b.value(key)
	if !exists {
		return nil
	}
	if err := b.Bucket.Delete(key); err != nil {
		return err
	}
	b.log.add(len(key), func() error { return b.Bucket.Put(key, old) })
	return nil
}

// NextSequence is that of bbolt.
func (b *boltBucket) NextSequence() (uint64, error) {
	next := b.Sequence() + 1
	return next, b.SetSequence(next)
}

// SetSequence is that of bbolt.
func (b *boltBucket) SetSequence(n uint64) error {
	old := b.Sequence()
	if err := b.Bucket.SetSequence(n); err != nil {
		return err
	}
	b.log.add(0, func() error { return b.Bucket.SetSequence(old) })
	return nil
}

// undoLog has what undoes the writes of one transaction. The old values in it are parts of the file's map, or what other
// transactions put: both are valid, and unchanged, until the bbolt transaction is committed.
type undoLog struct {
	// needsUndo reports whether the writes may have to be undone alone. If no transaction of the group wrote before, they
	// are rolled back with the group instead.
	needsUndo  bool
	impossible bool
	wrote      bool
	size       int // bytes written
	steps      []func() error
}

// entryOverhead is about what each key that is written takes in memory until the commit, beside its bytes.
const entryOverhead = 128

// add notes that a key was written, which undo undoes.
func (l *undoLog) add(size int, undo func() error) {
	l.wrote = true
	l.size += size + entryOverhead
	if l.needsUndo {
		l.steps = append(l.steps, undo)
	}
}

var errCannotUndo = errors.New("bolt: buckets were made or deleted, which cannot be undone alone")

func (l *undoLog) cannotUndo() { l.wrote, l.impossible = true, true }

// undo undoes all writes, the last one first.
func (l *undoLog) undo() error {
	if l.impossible {
		return errCannotUndo
	}
	for i := len(l.steps) - 1; i >= 0; i-- {
		if err := l.steps[i](); err != nil {
			return err
		}
	}
	return nil
}
