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
	"a document that was kept is not swept": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 2<<20)
		ref := create(t, b, p)
		checkNothingToSweep(t, b)
		checkDocument(t, b, ref.ID, p)
	},

	"a document that was not kept is swept when it is old enough": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, start := open(t), content(1, 2<<20), time.Now().Add(-time.Minute)
		ref, err := b.Documents.Create(t.Context(), bytes.NewReader(p), int64(len(p)))
		if err != nil {
			t.Fatal(err)
		}
		sweep(t, b, start, 0)
		checkDocument(t, b, ref.ID, p)
		sweep(t, b, start.Add(time.Hour), 1)
		checkNoDocument(t, b, ref.ID)
		checkNothingToSweep(t, b)
	},

	"a rollback undoes Keep": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref, err := b.Documents.Create(t.Context(), bytes.NewReader(nil), 0)
		if err != nil {
			t.Fatal(err)
		}
		rollBack(t, b, func(ctx context.Context) error { return b.Documents.Keep(ctx, ref.ID) })
		sweep(t, b, time.Now().Add(time.Hour), 1)
	},

	"a document that is being kept is not swept": func(t *testing.T, open func(*testing.T) Backend) {
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
		checkDocument(t, b, ref.ID, p)
	},

	"all documents that are old enough are swept": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		kept := create(t, b, []byte("kept"))
		for range 50 {
			if _, err := b.Documents.Create(t.Context(), bytes.NewReader([]byte("swept")), 5); err != nil {
				t.Fatal(err)
			}
		}
		sweep(t, b, time.Now().Add(time.Hour), 50)
		checkDocument(t, b, kept.ID, []byte("kept"))
	},

	"a document that is being created is not swept while it is young": func(t *testing.T, open func(*testing.T) Backend) {
		b, start := open(t), time.Now().Add(-time.Minute)
		early := &hookReader{then: func() error { sweep(t, b, start, 0); return nil }}
		p := content(1, 4<<20)
		r := io.MultiReader(bytes.NewReader(p[:3<<20]), early, bytes.NewReader(p[3<<20:]))
		ref, err := b.Documents.Create(t.Context(), r, int64(len(p)))
		if err != nil {
			t.Fatal(err)
		}
		checkDocument(t, b, ref.ID, p)
	},

	"a document that is being created for too long is swept": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		late := &hookReader{then: func() error {
			_, err := b.Documents.Sweep(t.Context(), time.Now().Add(time.Hour))
			return err
		}}
		r := io.MultiReader(bytes.NewReader(content(1, 3<<20)), late, bytes.NewReader(content(2, 3<<20)))
		ref, err := b.Documents.Create(t.Context(), r, 1<<30)
		if err == nil {
			checkDocument(t, b, ref.ID, append(content(1, 3<<20), content(2, 3<<20)...))
			return // a backend that stores the content at the end loses nothing
		}
		checkError(t, err, storage.ErrNotFound)
		checkNothingToSweep(t, b)
	},
}

// sweep sweeps documents, and fails the test unless there were so many.
func sweep(t *testing.T, b Backend, before time.Time, want int) {
	t.Helper()
	if n, err := b.Documents.Sweep(t.Context(), before); err != nil || n != want {
		t.Errorf("Sweep: %d, %v, want %d", n, err, want)
	}
}
