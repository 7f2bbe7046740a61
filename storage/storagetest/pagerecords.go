package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
)

// remembered is a record of that name, which expires so many seconds after base.
func remembered(name string, seconds int) storage.Record {
	key := sha256.Sum256([]byte(name))
	return storage.Record{Key: key[:], Value: []byte("\x00“漢字” \xff of " + name), Expires: after(seconds)}
}

func remember(t *testing.T, b Backend, list ...storage.Record) {
	t.Helper()
	for _, r := range list {
		do(t, b, func(ctx context.Context) error { return b.Pages.PutRecord(ctx, r) })
	}
}

// areRemembered fails the test unless records are stored as they are wanted.
func areRemembered(t *testing.T, b Backend, list ...storage.Record) {
	t.Helper()
	for _, want := range list {
		got, err := b.Pages.Record(t.Context(), want.Key)
		found(t, got, err, want)
	}
}

func forgotten(t *testing.T, b Backend, keys ...[]byte) {
	t.Helper()
	for _, key := range keys {
		_, err := b.Pages.Record(t.Context(), key)
		failed(t, err, storage.ErrNotFound)
	}
}

// forget removes records that have expired and fails the test unless there were so many.
func forget(t *testing.T, b Backend, until time.Time, limit, want int) {
	t.Helper()
	n := -1
	do(t, b, func(ctx context.Context) (err error) {
		n, err = b.Pages.DeleteRecords(ctx, until, limit)
		return err
	})
	if n != want {
		t.Errorf("%d were removed, want %d", n, want)
	}
}

var pageRecords = tests{
	"a record is kept whole": func(t *testing.T, open func(*testing.T) Backend) {
		b, one, short, large := open(t), remembered("one", 1), remembered("short", 2), remembered("large", 3)
		short.Key, short.Value = []byte{0}, nil
		large.Value = bytes.Repeat([]byte{0, 0xff}, 8<<10)
		remember(t, b, one, short, large)
		b = b.Reopen(t)
		areRemembered(t, b, one, short, large)
		forgotten(t, b, nil, []byte{}, one.Key[1:], one.Key[:31], append(one.Key[:32:32], 0))
	},

	"a later one takes the place of the earlier": func(t *testing.T, open func(*testing.T) Backend) {
		b, other := open(t), remembered("other", 100)
		remember(t, b, other)
		for _, seconds := range []int{10, 20, 0} {
			r := remembered("r", seconds)
			r.Value = []byte{byte(seconds)}
			remember(t, b, r)
			areRemembered(t, b, r, other)
		}
		forget(t, b, after(50), 10, 1)
		areRemembered(t, b, other)
	},

	"one that is deleted is gone, and deleting again is no error": func(t *testing.T, open func(*testing.T) Backend) {
		b, r, other := open(t), remembered("r", 1), remembered("other", 1)
		remember(t, b, r, other)
		for range 2 {
			do(t, b, func(ctx context.Context) error { return b.Pages.DeleteRecord(ctx, r.Key) })
			forgotten(t, b, r.Key)
		}
		areRemembered(t, b, other)
		remember(t, b, r)
		areRemembered(t, b, r)
	},

	"those that have expired are removed, the earliest first and so many at a time": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		remember(t, b, remembered("3", 3), remembered("1", 1), remembered("4", 4), remembered("2", 2), remembered("5", 5), remembered("1", 10))
		forget(t, b, after(4), 0, 0)
		forget(t, b, after(4), -1, 0)
		forget(t, b, after(4), 1, 1)
		forgotten(t, b, remembered("2", 0).Key)
		areRemembered(t, b, remembered("3", 3), remembered("4", 4), remembered("5", 5), remembered("1", 10))
		forget(t, b, after(4), 10, 2)
		areRemembered(t, b, remembered("5", 5), remembered("1", 10))
		forget(t, b, after(5).Add(-time.Microsecond), 10, 0)
		forget(t, b, after(100), 10, 2)
	},

	"what a transaction adds and undoes was never there": func(t *testing.T, open func(*testing.T) Backend) {
		b, r := open(t), remembered("r", 1)
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Pages.PutRecord(ctx, r); err != nil {
				return err
			}
			got, err := b.Pages.Record(ctx, r.Key)
			found(t, got, err, r)
			return errRefused
		})
		forgotten(t, b, r.Key)
	},

	"one that was not there is not added by another meanwhile": func(t *testing.T, open func(*testing.T) Backend) {
		b, theirs, own := open(t), remembered("r", 1), remembered("r", 2)
		o := &overlap{b: b, fn: func(ctx context.Context) error { return b.Pages.PutRecord(ctx, theirs) }}
		do(t, b, func(ctx context.Context) error {
			for range 2 {
				_, err := b.Pages.Record(ctx, own.Key)
				failed(t, err, storage.ErrNotFound)
				o.meanwhile(t)
			}
			return b.Pages.PutRecord(ctx, own)
		})
		o.wait(t)
		areRemembered(t, b, theirs) // which came after it
	},

	"of those who count at once none is forgotten": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const people, rounds = 8, 5
		for round := range rounds {
			key := remembered(string(rune('a'+round)), 0).Key
			var group errgroup.Group
			for range people {
				group.Go(func() error { return count(t.Context(), b, key) })
			}
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			areRemembered(t, b, storage.Record{Key: key, Value: []byte{0, people}, Expires: base})
		}
	},
}

// count adds one to the number in a record, which is 0 where there is none.
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
