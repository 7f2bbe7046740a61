package transfer

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// requests copies the requests and the documents that they refer to: what is signed, and the
// image of a stamp. Nothing else refers to a document; those that nothing refers to would be
// swept.
func (c *transfer) requests(ctx context.Context) error {
	return batches(c.from.AllRequests(ctx), func(some []signing.Request) error {
		var documents []string
		for i := range some {
			created, err := c.documents(ctx, &some[i])
			if err != nil {
				return fmt.Errorf("documents of request %s: %w", some[i].ID, err)
			}
			documents = append(documents, created...)
		}
		return c.store(ctx, some, documents)
	})
}

// documents copies the documents of a request and has the request refer to the copies, whose
// IDs it returns. A request that has ended need not have its documents any more, nor one whose
// start failed before anybody was asked.
func (c *transfer) documents(ctx context.Context, r *signing.Request) (created []string, err error) {
	refers := []*string{&r.Document}
	if r.Stamp != nil && r.Stamp.Image != "" {
		planned := *r.Stamp
		r.Stamp = &planned // the source's may be in its memory
		refers = append(refers, &planned.Image)
	}
	for _, id := range refers {
		ref, err := c.document(ctx, *id)
		if errors.Is(err, storage.ErrNotFound) && (r.Phase == signing.Ended || r.Phase == signing.Starting) {
			continue
		}
		if err != nil {
			return nil, err
		}
		*id = ref.ID
		created = append(created, ref.ID)
		c.done.Documents++
		c.done.Bytes += ref.Size
		c.tell()
	}
	return created, nil
}

func (c *transfer) document(ctx context.Context, id string) (storage.Ref, error) {
	blob, err := c.from.Documents().Open(ctx, id)
	if err != nil {
		return storage.Ref{}, err
	}
	defer blob.Close()
	return c.to.Documents().Create(ctx, io.NewSectionReader(blob, 0, blob.Size()), blob.Size(), hashes(blob)...)
}

// hashes are the ones that the document was hashed with, so that the copy has their states
// too.
func hashes(blob storage.Blob) (list []crypto.Hash) {
	for _, state := range blob.Hashed() {
		if state.Hash.Available() {
			list = append(list, state.Hash)
		}
	}
	return list
}

// store stores requests and keeps their documents.
func (c *transfer) store(ctx context.Context, some []signing.Request, documents []string) error {
	err := c.to.InTx(ctx, func(ctx context.Context) error {
		for _, r := range some {
			if err := c.to.Requests().CreateRequest(ctx, r); err != nil {
				return err
			}
		}
		for _, id := range documents {
			if err := c.to.Documents().Keep(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		c.done.Requests += len(some)
		c.tell()
	}
	return err
}
