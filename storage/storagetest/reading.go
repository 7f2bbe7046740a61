package storagetest

import (
	"bytes"
	"context"
	"crypto"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/innsigli/innsigli/storage"
)

var reading = tests{
	"an unknown document is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, unknown := range []string{"", "d", noDocument, "\x00"} {
			gone(t, b, unknown)
		}
		refused(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Documents.Keep(ctx, noDocument) })
		refused(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Documents.Append(ctx, noDocument) })
	},

	"a document that is coming in is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		seen := func() error {
			if n, err := b.Documents.Sweep(t.Context(), base); err != nil || n != 0 {
				t.Errorf("Sweep: %d, %v", n, err)
			}
			return nil
		}
		r := io.MultiReader(bytes.NewReader(content(1, 2<<20)), &moment{then: seen}, bytes.NewReader(content(2, 100)))
		if _, err := b.Documents.Create(t.Context(), r, 1<<30); err != nil {
			t.Errorf("Create: %v", err)
		}
	},

	"any part can be read, as io.ReaderAt says": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, size := range sizes {
			p := content(1, size)
			readParts(t, opened(t, b, create(t, b, p).ID), p)
		}
		p := content(1, 100)
		blob := opened(t, b, create(t, b, p).ID)
		if err := iotest.TestReader(io.NewSectionReader(blob, 0, blob.Size()), p); err != nil {
			t.Error(err)
		}
	},

	"reading outside a document": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 10)
		blob := opened(t, b, create(t, b, p).ID)
		buf := make([]byte, 8)
		for offset, want := range map[int64]int{4: 6, 9: 1, 10: 0, 1 << 62: 0} {
			if n, err := blob.ReadAt(buf, offset); n != want || err != io.EOF {
				t.Errorf("at %d: %d, %v", offset, n, err)
			}
		}
		if n, err := blob.ReadAt(buf, -1); n != 0 || err == nil || err == io.EOF {
			t.Errorf("at -1: %d, %v", n, err)
		}
	},

	"a closed blob reads nothing": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		blob := opened(t, b, create(t, b, content(1, 10)).ID)
		if err := blob.Close(); err != nil {
			t.Fatal(err)
		}
		if n, err := blob.ReadAt(make([]byte, 1), 0); n != 0 || err == nil {
			t.Errorf("ReadAt: %d, %v", n, err)
		}
	},

	"an open blob of a deleted document reads nothing": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, content(1, 2<<20), crypto.SHA256)
		blob := opened(t, b, ref.ID)
		do(t, b, func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
		for _, offset := range []int64{0, 1 << 20} {
			_, err := blob.ReadAt(make([]byte, 1), offset)
			failed(t, err, storage.ErrNotFound)
		}
		gone(t, b, ref.ID)
	},

	"deleting again is no error": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, content(1, 10))
		for range 2 {
			do(t, b, func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
		}
	},

	"a deletion undone leaves the document": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 2<<20)
		ref := create(t, b, p)
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Documents.Delete(ctx, ref.ID); err != nil {
				return err
			}
			return errRefused
		})
		holds(t, b, ref.ID, p)
	},
}

// readParts reads 50 parts of the document at random.
func readParts(t *testing.T, blob storage.Blob, want []byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		from := random.IntN(len(want) + 1)
		part := want[from : from+random.IntN(len(want)-from+1)]
		got := make([]byte, len(part))
		n, err := blob.ReadAt(got, int64(from))
		if n != len(part) || !bytes.Equal(got, part) || (err != nil && err != io.EOF) {
			t.Fatalf("reading %d bytes at %d gives %d, %v", len(part), from, n, err)
		}
	}
}
