package storagetest

import (
	"bytes"
	"context"
	"crypto"
	"testing"

	"github.com/innsigli/innsigli/storage"
)

var appending = tests{
	"a document grows by its revisions": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 1<<20+1)
		ref := create(t, b, p)
		for _, size := range []int{1, 0, 70_000, 40, 2 << 20} {
			more := content(2, size)
			appended(t, b, ref, storage.Revision{Base: int64(len(p)), Bytes: more})
			p = append(p, more...)
			holds(t, b, ref.ID, p)
		}
		readParts(t, opened(t, b, ref.ID), p)
	},

	"several revisions are added one after another": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, nil)
		appended(t, b, ref, storage.Revision{Bytes: []byte("one ")}, storage.Revision{Base: 4, Bytes: []byte("two ")}, storage.Revision{Base: 8, Bytes: []byte("three")})
		holds(t, b, ref.ID, []byte("one two three"))
	},

	"a revision of another head is refused and nothing is added": func(t *testing.T, open func(*testing.T) Backend) {
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
					failed(t, b.Documents.Append(ctx, ref.ID, revisions...), storage.ErrMoved)
					return nil
				})
				holds(t, b, ref.ID, p)
			})
		}
	},

	"a revision undone is not there": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), []byte("head")
		ref := create(t, b, p)
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Documents.Append(ctx, ref.ID, storage.Revision{Base: 4, Bytes: []byte("more")}); err != nil {
				return err
			}
			return errRefused
		})
		holds(t, b, ref.ID, p)
	},

	"the bytes are the caller's again after Append": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, nil)
		do(t, b, func(ctx context.Context) error {
			more := []byte("more")
			defer clear(more)
			return b.Documents.Append(ctx, ref.ID, storage.Revision{Bytes: more})
		})
		holds(t, b, ref.ID, []byte("more"))
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
			reads(t, blob, []byte("head more"))
			return blob.Close()
		})
	},

	"a blob outlives the transaction that it was opened in": func(t *testing.T, open func(*testing.T) Backend) {
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
		reads(t, blob, append(p, "more"...))
		failed(t, blob.Close(), nil)
	},

	"a blob stays as long as it was when it was opened": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, []byte("head"))
		before := opened(t, b, ref.ID)
		appended(t, b, ref, storage.Revision{Base: 4, Bytes: []byte(" more")})
		reads(t, before, []byte("head"))
		holds(t, b, ref.ID, []byte("head more"))
	},

	"newer hash states take the place of older ones": func(t *testing.T, open func(*testing.T) Backend) {
		b, p, more := open(t), content(1, 1000), content(2, 500)
		ref := create(t, b, p, crypto.SHA256, crypto.SHA512)
		whole := append(bytes.Clone(p), more...)
		appended(t, b, ref, storage.Revision{Base: 1000, Bytes: more, Hashed: []storage.Midstate{
			{Hash: crypto.SHA256, Offset: 1500, State: []byte("a newer state")},
		}})
		seen := map[crypto.Hash]bool{}
		for _, state := range opened(t, b, ref.ID).Hashed() {
			if seen[state.Hash] {
				t.Errorf("two states of %v", state.Hash)
			}
			seen[state.Hash] = true
			if state.Hash == crypto.SHA256 {
				if state.Offset != 1500 || string(state.State) != "a newer state" {
					t.Errorf("the older state is left: %+v", state)
				}
			} else if got := resumed(t, state, whole); !bytes.Equal(got, digest(state.Hash, whole)) {
				t.Errorf("%v goes on to another digest", state.Hash)
			}
		}
	},
}
