package httpapi_test

import (
	"context"
	"crypto"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// documents is the store of documents, which remembers what was put into it, so
// that a test can ask what is left.
type documents struct {
	storage.Documents
	mu   sync.Mutex
	made []string
}

func (d *documents) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	ref, err := d.Documents.Create(ctx, r, limit, hashes...)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.made = append(d.made, ref.ID)
	}
	return ref, err
}

// left are the contents of the documents that are there, in the order of their
// creation. One that no request refers to should have been removed by whoever
// refused the request.
func (d *documents) left(t *testing.T) [][]byte {
	t.Helper()
	if n, err := d.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("%d documents without a request were left behind, %v", n, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var contents [][]byte
	for _, id := range d.made {
		blob, err := d.Open(t.Context(), id)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, readAll(t, io.NewSectionReader(blob, 0, blob.Size())))
		if err := blob.Close(); err != nil {
			t.Error(err)
		}
	}
	return contents
}

// wantDocuments says how many documents there are to be.
func (c *client) wantDocuments(n int) {
	c.Helper()
	if left := c.documents.left(c.T); len(left) != n {
		c.Errorf("the store has %d documents, want %d", len(left), n)
	}
}
