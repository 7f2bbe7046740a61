package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// exampleRecord is a record that expires so many seconds after base.
func exampleRecord(name string, seconds int) storage.Record {
	key := sha256.Sum256([]byte(name))
	return storage.Record{Key: key[:], Value: []byte("\x00“漢字” \xff of " + name), Expires: after(seconds)}
}

func putRecords(t *testing.T, b Backend, list ...storage.Record) {
	t.Helper()
	for _, r := range list {
		do(t, b, func(ctx context.Context) error { return b.Pages.PutRecord(ctx, r) })
	}
}

// checkRecords fails the test unless records are stored as they are wanted.
func checkRecords(t *testing.T, b Backend, list ...storage.Record) {
	t.Helper()
	for _, want := range list {
		got, err := b.Pages.Record(t.Context(), want.Key)
		checkRead(t, got, err, want)
	}
}

func checkNoRecords(t *testing.T, b Backend, keys ...[]byte) {
	t.Helper()
	for _, key := range keys {
		_, err := b.Pages.Record(t.Context(), key)
		checkError(t, err, storage.ErrNotFound)
	}
}

// deleteRecords deletes expired records, and fails the test unless there were so many.
func deleteRecords(t *testing.T, b Backend, until time.Time, limit, want int) {
	t.Helper()
	n := -1
	do(t, b, func(ctx context.Context) (err error) {
		n, err = b.Pages.DeleteRecords(ctx, until, limit)
		return err
	})
	if n != want {
		t.Errorf("%d were deleted, want %d", n, want)
	}
}

var pageRecords = recordType[storage.Record]{
	examples: []storage.Record{
		exampleRecord("one", 1), {Key: []byte{0}, Expires: base}, {Key: exampleRecord("large", 0).Key, Value: bytes.Repeat([]byte{0, 0xff}, 8<<10), Expires: base},
	},
	changed: func(r storage.Record) storage.Record { r.Value, r.Expires = []byte{1}, after(9); return r },
	others: func(r storage.Record) (all []storage.Record) {
		for _, key := range [][]byte{nil, {}, r.Key[1:], r.Key[:31], append(r.Key[:32:32], 0)} {
			all = append(all, storage.Record{Key: key})
		}
		return all
	},
	get: func(ctx context.Context, b Backend, r storage.Record) (storage.Record, error) {
		return b.Pages.Record(ctx, r.Key)
	},
	add:      func(ctx context.Context, b Backend, r storage.Record) error { return b.Pages.PutRecord(ctx, r) },
	remove:   func(ctx context.Context, b Backend, r storage.Record) error { return b.Pages.DeleteRecord(ctx, r.Key) },
	replaces: true,
}.and(tests{
	"expired records are deleted in batches, the earliest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		putRecords(t, b, exampleRecord("3", 3), exampleRecord("1", 1), exampleRecord("4", 4), exampleRecord("2", 2), exampleRecord("5", 5), exampleRecord("1", 10))
		deleteRecords(t, b, after(4), 0, 0)
		deleteRecords(t, b, after(4), -1, 0)
		deleteRecords(t, b, after(4), 1, 1)
		checkNoRecords(t, b, exampleRecord("2", 0).Key)
		checkRecords(t, b, exampleRecord("3", 3), exampleRecord("4", 4), exampleRecord("5", 5), exampleRecord("1", 10))
		deleteRecords(t, b, after(4), 10, 2)
		checkRecords(t, b, exampleRecord("5", 5), exampleRecord("1", 10))
		deleteRecords(t, b, after(5).Add(-time.Microsecond), 10, 0)
		deleteRecords(t, b, after(100), 10, 2)
	},

	"a record that was read and did not exist is not added by another transaction": func(t *testing.T, open func(*testing.T) Backend) {
		b, theirs, own := open(t), exampleRecord("r", 1), exampleRecord("r", 2)
		o := &overlap{b: b, fn: func(ctx context.Context) error { return b.Pages.PutRecord(ctx, theirs) }}
		do(t, b, func(ctx context.Context) error {
			for range 2 {
				_, err := b.Pages.Record(ctx, own.Key)
				checkError(t, err, storage.ErrNotFound)
				o.meanwhile(t)
			}
			return b.Pages.PutRecord(ctx, own)
		})
		o.wait(t)
		checkRecords(t, b, theirs) // written after the first transaction
	},

	"concurrent transactions count without a loss": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const people, rounds = 8, 5
		for round := range rounds {
			key := exampleRecord(string(rune('a'+round)), 0).Key
			concurrently(t, people, func(int) error { return count(t.Context(), b, key) })
			checkRecords(t, b, storage.Record{Key: key, Value: []byte{0, people}, Expires: base})
		}
	},
})

// count adds one to the number in a record, which is 0 if there is no record.
func count(ctx context.Context, b Backend, key []byte) error {
	return b.InTx(ctx, func(ctx context.Context) error {
		r, err := b.Pages.Record(ctx, key)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			r.Value = []byte{0, 0}
		case err != nil:
			return err
		}
		n := binary.BigEndian.AppendUint16(nil, binary.BigEndian.Uint16(r.Value)+1)
		return b.Pages.PutRecord(ctx, storage.Record{Key: key, Value: n, Expires: base})
	})
}

// slowRate is a rate at which hardly any tokens come back during a test.
var slowRate = storage.Rate{PerSecond: 1, Burst: 3600}

var buckets = tests{
	"a bucket gives at most its tokens": sharedBuckets(func(t *testing.T, b storage.Buckets) {
		for _, d := range []struct{ n, want int }{{10, 10}, {3000, 3000}, {1000, 590}} {
			if got, _ := draw(t, b, "a", slowRate, d.n); got < d.want || got > min(d.n, d.want+60) {
				t.Errorf("of %d tokens, %d were drawn", d.n, got)
			}
		}
		if got, _ := draw(t, b, "b", slowRate, 5000); got != slowRate.Burst {
			t.Errorf("another bucket has %d", got)
		}
	}),
	"a bucket fills with time": sharedBuckets(func(t *testing.T, b storage.Buckets) {
		quickly := storage.Rate{PerSecond: 1000, Burst: 100}
		got, full := draw(t, b, "a", quickly, 100)
		if got != 100 || full <= 0 || full > 100*time.Millisecond {
			t.Errorf("%d drawn, and full in %v", got, full)
		}
		time.Sleep(2 * full)
		if got, _ := draw(t, b, "a", quickly, 200); got != 100 {
			t.Errorf("%d drawn afterwards", got)
		}
	}),
	"Draw returns when the bucket is full": sharedBuckets(func(t *testing.T, b storage.Buckets) {
		for _, n := range []int{0, 600, 600} {
			draw(t, b, "a", slowRate, n)
		}
		if _, full := draw(t, b, "a", slowRate, 0); full > 1200*time.Second || full < 1100*time.Second {
			t.Errorf("full in %v", full)
		}
		if _, full := draw(t, b, "never drawn from", slowRate, 0); full != 0 {
			t.Errorf("full in %v", full)
		}
	}),
	"a lower rate applies at once": sharedBuckets(func(t *testing.T, b storage.Buckets) {
		draw(t, b, "a", slowRate, 100)
		if got, _ := draw(t, b, "a", storage.Rate{PerSecond: 1, Burst: 10}, 5); got != 0 {
			t.Errorf("%d drawn", got)
		}
	}),
	"concurrent draws together get at most the tokens": sharedBuckets(func(t *testing.T, b storage.Buckets) {
		var sum atomic.Int64
		concurrently(t, 8, func(int) error {
			for range 100 {
				n, _, err := b.Draw(t.Context(), "a", slowRate, 7)
				if err != nil {
					return err
				}
				sum.Add(int64(n))
			}
			return nil
		})
		if n := sum.Load(); n < 3600 || n > 3600+60 {
			t.Errorf("%d drawn of %d", n, slowRate.Burst)
		}
	}),
	"full buckets are deleted": sharedBuckets(func(t *testing.T, b storage.Buckets) {
		at := storage.Rate{PerSecond: 1_000_000, Burst: 1}
		for _, key := range []string{"a", "b", "c"} {
			draw(t, b, key, at, 1)
		}
		draw(t, b, "in use", slowRate, 100)
		time.Sleep(10 * time.Millisecond)
		for _, want := range []int{2, 1, 0} {
			if n, err := b.DeleteFull(t.Context(), 2); n != want || err != nil {
				t.Errorf("%d deleted, want %d: %v", n, want, err)
			}
		}
		if got, _ := draw(t, b, "in use", slowRate, 3600); got > 3560 {
			t.Errorf("a bucket in use was deleted: %d drawn", got)
		}
	}),
}

// sharedBuckets returns a test of the rate limits, which passes if the backend is for one process and has none.
func sharedBuckets(test func(t *testing.T, b storage.Buckets)) func(t *testing.T, open func(t *testing.T) Backend) {
	return func(t *testing.T, open func(t *testing.T) Backend) {
		if b := open(t).Buckets; b != nil {
			test(t, b)
		}
	}
}

func draw(t *testing.T, b storage.Buckets, key string, r storage.Rate, n int) (int, time.Duration) {
	t.Helper()
	got, full, err := b.Draw(t.Context(), key, r, n)
	if err != nil {
		t.Fatal(err)
	}
	return got, full
}
