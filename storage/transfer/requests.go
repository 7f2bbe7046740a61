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
// image of a stamp. Nothing else refers to a document but processes; those that nothing refers to
// would be swept.
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
		return store(ctx, c, some, documents, &c.done.Requests, c.to.Requests().CreateRequest)
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
		if copied, there := c.shared[*id]; there {
			*id = copied
			continue
		}
		copied, err := c.document(ctx, *id)
		if errors.Is(err, storage.ErrNotFound) && (r.Phase == signing.Ended || r.Phase == signing.Starting) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if r.Order != "" {
			c.shared[*id] = copied
		}
		*id = copied
		created = append(created, copied)
	}
	return created, nil
}

// document copies a document, and returns the ID of the copy.
func (c *transfer) document(ctx context.Context, id string) (copied string, err error) {
	blob, err := c.from.Documents().Open(ctx, id)
	if err != nil {
		return "", err
	}
	defer blob.Close()
	ref, err := c.to.Documents().Create(ctx, io.NewSectionReader(blob, 0, blob.Size()), blob.Size(), hashes(blob)...)
	if err != nil {
		return "", err
	}
	c.done.Documents++
	c.done.Bytes += ref.Size
	c.tell()
	return ref.ID, nil
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
