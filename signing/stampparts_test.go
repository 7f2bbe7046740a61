package signing_test

import (
	"context"
	"crypto"
	"image"
	"io"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// blank is a renderer to whom every page is white.
type blank struct {
	pdftest.Blank
	asked int
}

func (b *blank) Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	b.asked++
	return b.Blank.Render(ctx, r, size, page, width, height)
}

// unready is a renderer that cannot draw yet.
type unready struct{}

func (*unready) Render(context.Context, io.ReaderAt, int64, int, int, int) (*image.RGBA, error) {
	return nil, stamp.ErrNotReady
}

// going is a store whose request of an idempotency key is gone when it is looked for again.
type going struct {
	signing.Store
	looked bool
}

func (s *going) RequestByKey(ctx context.Context, client, key string) (signing.Request, error) {
	if !s.looked {
		s.looked = true
		return signing.Request{Phase: signing.Waiting, Key: &signing.IdempotencyKey{Client: client, Key: key}}, nil
	}
	return s.Store.RequestByKey(ctx, client, key)
}

// creating is a store that remembers which documents were created.
type creating struct {
	*bolt.DB
	created []string
}

func (c *creating) Documents() storage.Documents { return &remembered{c.DB.Documents(), &c.created} }

type remembered struct {
	storage.Documents
	created *[]string
}

func (r *remembered) Create(ctx context.Context, content io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	ref, err := r.Documents.Create(ctx, content, limit, hashes...)
	*r.created = append(*r.created, ref.ID)
	return ref, err
}
