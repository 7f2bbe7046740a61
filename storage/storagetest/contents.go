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

var appending = tests{
	"a document grows by its revisions": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 1<<20+1)
		ref := create(t, b, p)
		for _, size := range []int{1, 0, 70_000, 40, 2 << 20} {
			more := content(2, size)
			appendRevisions(t, b, ref, storage.Revision{Base: int64(len(p)), Bytes: more})
			p = append(p, more...)
			checkDocument(t, b, ref.ID, p)
		}
		readParts(t, openBlob(t, b, ref.ID), p)
	},

	"several revisions are added one after another": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, nil)
		appendRevisions(t, b, ref, storage.Revision{Bytes: []byte("one ")}, storage.Revision{Base: 4, Bytes: []byte("two ")}, storage.Revision{Base: 8, Bytes: []byte("three")})
		checkDocument(t, b, ref.ID, []byte("one two three"))
	},

	"a revision with another base is refused, and nothing is appended": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), []byte("head")
		ref := create(t, b, p)
		more := []byte("more")
		for name, revisions := range map[string][]storage.Revision{
			"earlier":      {{Base: 3, Bytes: more}},
			"later":        {{Base: 5, Bytes: more}},
			"negative":     {{Base: -1, Bytes: more}},
			"the second":   {{Base: 4, Bytes: more}, {Base: 4, Bytes: more}},
			"out of order": {{Base: 8, Bytes: more}, {Base: 4, Bytes: more}},
		} {
			t.Run(name, func(t *testing.T) {
				do(t, b, func(ctx context.Context) error {
					checkError(t, b.Documents.Append(ctx, ref.ID, revisions...), storage.ErrMoved)
					return nil
				})
				checkDocument(t, b, ref.ID, p)
			})
		}
	},

	"a rollback removes a revision": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), []byte("head")
		ref := create(t, b, p)
		rollBack(t, b, func(ctx context.Context) error {
			return b.Documents.Append(ctx, ref.ID, storage.Revision{Base: 4, Bytes: []byte("more")})
		})
		checkDocument(t, b, ref.ID, p)
	},

	"the caller may change the bytes after Append": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, nil)
		do(t, b, func(ctx context.Context) error {
			more := []byte("more")
			defer clear(more)
			return b.Documents.Append(ctx, ref.ID, storage.Revision{Bytes: more})
		})
		checkDocument(t, b, ref.ID, []byte("more"))
	},

	"a transaction reads its own revision": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, []byte("head"))
		do(t, b, func(ctx context.Context) error {
			if err := b.Documents.Append(ctx, ref.ID, storage.Revision{Base: 4, Bytes: []byte(" more")}); err != nil {
				return err
			}
			blob, err := b.Documents.Open(ctx, ref.ID)
			if err != nil {
				return err
			}
			checkBlob(t, blob, []byte("head more"))
			return blob.Close()
		})
	},

	"a blob may be read after the transaction in which it was opened": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 2<<20)
		ref := create(t, b, p)
		var blob storage.Blob
		do(t, b, func(ctx context.Context) (err error) {
			if err := b.Documents.Append(ctx, ref.ID, storage.Revision{Base: ref.Size, Bytes: []byte("more")}); err != nil {
				return err
			}
			blob, err = b.Documents.Open(ctx, ref.ID)
			return err
		})
		checkBlob(t, blob, append(p, "more"...))
		checkError(t, blob.Close(), nil)
	},

	"a blob has the size of the document when it was opened": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, []byte("head"))
		before := openBlob(t, b, ref.ID)
		appendRevisions(t, b, ref, storage.Revision{Base: 4, Bytes: []byte(" more")})
		checkBlob(t, before, []byte("head"))
		checkDocument(t, b, ref.ID, []byte("head more"))
	},

	"newer hash states replace older ones": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, more := open(t), content(1, 1000), content(2, 500)
		ref := create(t, b, p, crypto.SHA256, crypto.SHA512)
		whole := append(bytes.Clone(p), more...)
		appendRevisions(t, b, ref, storage.Revision{Base: 1000, Bytes: more, Hashed: []storage.Midstate{
			{Hash: crypto.SHA256, Offset: 1500, State: []byte("a newer state")},
		}})
		seen := map[crypto.Hash]bool{}
		for _, state := range openBlob(t, b, ref.ID).Hashed() {
			if seen[state.Hash] {
				t.Errorf("two states of %v", state.Hash)
			}
			seen[state.Hash] = true
			if state.Hash == crypto.SHA256 {
				if state.Offset != 1500 || string(state.State) != "a newer state" {
					t.Errorf("the older state is stored: %+v", state)
				}
			} else if got := resumeHash(t, state, whole); !bytes.Equal(got, digest(state.Hash, whole)) {
				t.Errorf("the state of %v leads to another digest", state.Hash)
			}
		}
	},
}

var reading = tests{
	"an unknown document is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, unknown := range []string{"", "d", noDocument, "\x00"} {
			checkNoDocument(t, b, unknown)
		}
		doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Documents.Keep(ctx, noDocument) })
		doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Documents.Append(ctx, noDocument) })
	},

	"a document is not swept while it is created": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		check := func() error {
			if n, err := b.Documents.Sweep(t.Context(), base); err != nil || n != 0 {
				t.Errorf("Sweep: %d, %v", n, err)
			}
			return nil
		}
		r := io.MultiReader(bytes.NewReader(content(1, 2<<20)), &hookReader{then: check}, bytes.NewReader(content(2, 100)))
		if _, err := b.Documents.Create(t.Context(), r, 1<<30); err != nil {
			t.Errorf("Create: %v", err)
		}
	},

	"a blob implements io.ReaderAt": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, size := range sizes {
			p := content(1, size)
			readParts(t, openBlob(t, b, create(t, b, p).ID), p)
		}
		p := content(1, 100)
		blob := openBlob(t, b, create(t, b, p).ID)
		if err := iotest.TestReader(io.NewSectionReader(blob, 0, blob.Size()), p); err != nil {
			t.Error(err)
		}
	},

	"a read beyond the end of a document": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 10)
		blob := openBlob(t, b, create(t, b, p).ID)
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

	"a closed blob cannot be read": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		blob := openBlob(t, b, create(t, b, content(1, 10)).ID)
		if err := blob.Close(); err != nil {
			t.Fatal(err)
		}
		if n, err := blob.ReadAt(make([]byte, 1), 0); n != 0 || err == nil {
			t.Errorf("ReadAt: %d, %v", n, err)
		}
	},

	"an open blob of a deleted document cannot be read": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, content(1, 2<<20), crypto.SHA256)
		blob := openBlob(t, b, ref.ID)
		do(t, b, func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
		for _, offset := range []int64{0, 1 << 20} {
			_, err := blob.ReadAt(make([]byte, 1), offset)
			checkError(t, err, storage.ErrNotFound)
		}
		checkNoDocument(t, b, ref.ID)
	},

	"deleting again is no error": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, content(1, 10))
		for range 2 {
			do(t, b, func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
		}
	},

	"a rollback undoes a deletion": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 2<<20)
		ref := create(t, b, p)
		rollBack(t, b, func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
		checkDocument(t, b, ref.ID, p)
	},
}

// readParts reads 50 random parts of the document.
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
