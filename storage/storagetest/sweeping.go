package storagetest

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

var sweeping = tests{
	"a document that was kept stays": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 2<<20)
		ref := create(t, b, p)
		nothingToSweep(t, b)
		holds(t, b, ref.ID, p)
	},

	"one that was not is swept when it is old enough": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, start := open(t), content(1, 2<<20), time.Now().Add(-time.Minute)
		ref, err := b.Documents.Create(t.Context(), bytes.NewReader(p), int64(len(p)))
		if err != nil {
			t.Fatal(err)
		}
		swept(t, b, start, 0)
		holds(t, b, ref.ID, p)
		swept(t, b, start.Add(time.Hour), 1)
		gone(t, b, ref.ID)
		nothingToSweep(t, b)
	},

	"keeping undone is not keeping": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref, err := b.Documents.Create(t.Context(), bytes.NewReader(nil), 0)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Documents.Keep(ctx, ref.ID); err != nil {
				return err
			}
			return errRefused
		})
		swept(t, b, time.Now().Add(time.Hour), 1)
	},

	"one that is being kept stays": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 100)
		ref, err := b.Documents.Create(t.Context(), bytes.NewReader(p), 100)
		if err != nil {
			t.Fatal(err)
		}
		o := &overlap{b: b, fn: func(ctx context.Context) error {
			_, err := b.Documents.Sweep(ctx, time.Now().Add(time.Hour))
			return err
		}}
		do(t, b, func(ctx context.Context) error {
			defer o.meanwhile(t)
			return b.Documents.Keep(ctx, ref.ID)
		})
		o.wait(t)
		holds(t, b, ref.ID, p)
	},

	"all that are old enough go at once": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		kept := create(t, b, []byte("kept"))
		for range 50 {
			if _, err := b.Documents.Create(t.Context(), bytes.NewReader([]byte("swept")), 5); err != nil {
				t.Fatal(err)
			}
		}
		swept(t, b, time.Now().Add(time.Hour), 50)
		holds(t, b, kept.ID, []byte("kept"))
	},

	"one that is coming in stays while it is young": func(t *testing.T, open func(*testing.T) Backend) {
		b, start := open(t), time.Now().Add(-time.Minute)
		early := &moment{then: func() error { swept(t, b, start, 0); return nil }}
		p := content(1, 4<<20)
		r := io.MultiReader(bytes.NewReader(p[:3<<20]), early, bytes.NewReader(p[3<<20:]))
		ref, err := b.Documents.Create(t.Context(), r, int64(len(p)))
		if err != nil {
			t.Fatal(err)
		}
		holds(t, b, ref.ID, p)
	},

	"one that is coming in for too long leaves nothing": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		late := &moment{then: func() error {
			_, err := b.Documents.Sweep(t.Context(), time.Now().Add(time.Hour))
			return err
		}}
		r := io.MultiReader(bytes.NewReader(content(1, 3<<20)), late, bytes.NewReader(content(2, 3<<20)))
		ref, err := b.Documents.Create(t.Context(), r, 1<<30)
		if err == nil {
			holds(t, b, ref.ID, append(content(1, 3<<20), content(2, 3<<20)...))
			return // a backend that had stored nothing yet lost nothing
		}
		failed(t, err, storage.ErrNotFound)
		nothingToSweep(t, b)
	},
}

// swept sweeps and fails the test unless so many documents went.
func swept(t *testing.T, b Backend, before time.Time, want int) {
	t.Helper()
	if n, err := b.Documents.Sweep(t.Context(), before); err != nil || n != want {
		t.Errorf("Sweep: %d, %v, want %d", n, err, want)
	}
}
