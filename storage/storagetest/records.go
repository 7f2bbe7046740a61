package storagetest

import (
	"context"
	"maps"
	"testing"

	"github.com/innsigli/innsigli/storage"
)

// recordType describes a type of records to the tests that every type passes.
type recordType[T any] struct {
	// examples have different keys. Together they have a value in every field, and one leaves out what is optional.
	examples []T
	// changed returns a record with the same key and other values.
	changed func(T) T
	// others returns records with other keys, some of which resemble that of a record.
	others func(T) []T
	// get reads a record by the key of another.
	get func(ctx context.Context, b Backend, r T) (T, error)
	add func(ctx context.Context, b Backend, r T) error
	// update and remove are nil if the store has no such method.
	update, remove func(ctx context.Context, b Backend, r T) error

	replaces  bool  // add replaces a record with the same key, and does not return storage.ErrExists
	continues bool  // a transaction may continue after storage.ErrExists
	unknown   error // of remove, if the record does not exist
}

// and returns the tests that every type of records passes, and more.
func (r recordType[T]) and(more tests) tests {
	all := maps.Clone(more)
	all["records are stored with all fields, and found by their key alone"] = r.testStored
	all["a key exists once"] = r.testKeys
	all["an update replaces one record"] = r.testUpdate
	all["a deleted record does not exist, and its key can be used again"] = r.testRemove
	return all
}

func (r recordType[T]) testStored(t *testing.T, open func(*testing.T) Backend) {
	b := open(t)
	for _, one := range r.examples {
		rollBack(t, b, func(ctx context.Context) error {
			if err := r.add(ctx, b, one); err != nil {
				return err
			}
			r.check(ctx, t, b, one)
			return nil
		})
		r.checkNone(t.Context(), t, b, one)
	}
	r.addAll(t, b)
	if b.Reopen != nil {
		b = b.Reopen(t)
	}
	for _, other := range r.others(r.examples[0]) {
		r.checkNone(t.Context(), t, b, other)
		if r.update != nil {
			doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error { return r.update(ctx, b, other) })
		}
		if r.remove != nil {
			doFailing(t, b, r.unknown, func(ctx context.Context) error { return r.remove(ctx, b, other) })
		}
	}
	r.check(t.Context(), t, b, r.examples...)
}

func (r recordType[T]) testKeys(t *testing.T, open func(*testing.T) Backend) {
	b, first := open(t), r.examples[0]
	again := r.changed(first)
	add := func(one T) func(context.Context) error {
		return func(ctx context.Context) error { return r.add(ctx, b, one) }
	}
	do(t, b, add(first))
	switch {
	case r.replaces:
		do(t, b, add(again))
		do(t, b, add(r.examples[1]))
		r.check(t.Context(), t, b, again, r.examples[1])
		return
	case r.continues:
		do(t, b, func(ctx context.Context) error {
			checkError(t, r.add(ctx, b, again), storage.ErrExists)
			return r.add(ctx, b, r.examples[1])
		})
	default:
		doFailing(t, b, storage.ErrExists, add(again))
		do(t, b, add(r.examples[1]))
	}
	r.check(t.Context(), t, b, first, r.examples[1])
}

func (r recordType[T]) testUpdate(t *testing.T, open func(*testing.T) Backend) {
	if r.update == nil {
		return
	}
	b, first := open(t), r.examples[0]
	r.addAll(t, b)
	changed := r.changed(first)
	update := func(ctx context.Context) error {
		if err := r.update(ctx, b, changed); err != nil {
			return err
		}
		r.check(ctx, t, b, changed)
		return nil
	}
	rollBack(t, b, update)
	r.check(t.Context(), t, b, r.examples...)
	do(t, b, update)
	r.check(t.Context(), t, b, append([]T{changed}, r.examples[1:]...)...)
}

func (r recordType[T]) testRemove(t *testing.T, open func(*testing.T) Backend) {
	if r.remove == nil {
		return
	}
	b, first := open(t), r.examples[0]
	r.addAll(t, b)
	remove := func(ctx context.Context) error {
		if err := r.remove(ctx, b, first); err != nil {
			return err
		}
		r.checkNone(ctx, t, b, first)
		return nil
	}
	rollBack(t, b, remove)
	r.check(t.Context(), t, b, r.examples...)
	do(t, b, remove)
	doFailing(t, b, r.unknown, remove)
	r.checkNone(t.Context(), t, b, first)
	do(t, b, func(ctx context.Context) error { return r.add(ctx, b, first) })
	r.check(t.Context(), t, b, r.examples...)
}

// addAll adds the examples, each in a transaction of its own.
func (r recordType[T]) addAll(t *testing.T, b Backend) {
	t.Helper()
	for _, one := range r.examples {
		do(t, b, func(ctx context.Context) error { return r.add(ctx, b, one) })
	}
}

// check fails the test unless records are stored as they are wanted.
func (r recordType[T]) check(ctx context.Context, t *testing.T, b Backend, want ...T) {
	t.Helper()
	for _, one := range want {
		got, err := r.get(ctx, b, one)
		checkRead(t, got, err, one)
	}
}

// checkNone fails the test if there is a record with the key of another.
func (r recordType[T]) checkNone(ctx context.Context, t *testing.T, b Backend, one T) {
	t.Helper()
	_, err := r.get(ctx, b, one)
	checkError(t, err, storage.ErrNotFound)
}

// withOtherIDs returns a function that returns records with other IDs, for others of a [recordType]. set sets the ID of a record.
func withOtherIDs[T any](name string, set func(r *T, id string)) func(T) []T {
	return func(r T) (all []T) {
		for _, other := range otherIDs(name) {
			one := r
			set(&one, other)
			all = append(all, one)
		}
		return all
	}
}
