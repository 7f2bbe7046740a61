package storagetest

import (
	"bytes"
	"context"
	"crypto"
	_ "crypto/sha256" // the hashes that documents are hashed with
	_ "crypto/sha512"
	"encoding"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/innsigli/innsigli/storage"
)

// content is a document of that size that no other has.
func content(seed uint64, size int) []byte {
	var key [32]byte
	key[0], key[1] = byte(seed), byte(size)
	p := make([]byte, size)
	rand.NewChaCha8(key).Read(p)
	return p
}

// create stores a document and has it kept.
func create(t *testing.T, b Backend, p []byte, hashes ...crypto.Hash) storage.Ref {
	t.Helper()
	ref, err := b.Documents.Create(t.Context(), bytes.NewReader(p), int64(len(p)), hashes...)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	do(t, b, func(ctx context.Context) error { return b.Documents.Keep(ctx, ref.ID) })
	return ref
}

// appended adds a revision to a document.
func appended(t *testing.T, b Backend, ref storage.Ref, revisions ...storage.Revision) {
	t.Helper()
	do(t, b, func(ctx context.Context) error { return b.Documents.Append(ctx, ref.ID, revisions...) })
}

func opened(t *testing.T, b Backend, id string) storage.Blob {
	t.Helper()
	blob, err := b.Documents.Open(t.Context(), id)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { blob.Close() })
	return blob
}

// holds fails the test unless the document is these bytes.
func holds(t *testing.T, b Backend, id string, want []byte) {
	t.Helper()
	reads(t, opened(t, b, id), want)
}

// reads fails the test unless the blob is these bytes.
func reads(t *testing.T, blob storage.Blob, want []byte) {
	t.Helper()
	if blob.Size() != int64(len(want)) {
		t.Fatalf("the size is %d, want %d", blob.Size(), len(want))
	}
	got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("the document reads differently, error %v", err)
	}
}

// gone fails the test unless there is no such document.
func gone(t *testing.T, b Backend, id string) {
	t.Helper()
	_, err := b.Documents.Open(t.Context(), id)
	failed(t, err, storage.ErrNotFound)
}

// digest is the hash of p all at once.
func digest(h crypto.Hash, p []byte) []byte {
	hash := h.New()
	hash.Write(p)
	return hash.Sum(nil)
}

// resumed is the digest of the document by the hash, of which the beginning is
// hashed already.
func resumed(t *testing.T, m storage.Midstate, document []byte) []byte {
	t.Helper()
	hash := m.Hash.New()
	if err := hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.State); err != nil {
		t.Fatalf("the state of %v: %v", m.Hash, err)
	}
	hash.Write(document[m.Offset:])
	return hash.Sum(nil)
}

// trickle is a reader of p that delivers little at a time.
func trickle(p []byte) io.Reader {
	return iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(p)))
}

// oneLife creates, keeps, reads and deletes a document.
func oneLife(ctx context.Context, b Backend, p []byte) error {
	ref, err := b.Documents.Create(ctx, bytes.NewReader(p), int64(len(p)), crypto.SHA256)
	if err != nil {
		return err
	}
	if err := b.InTx(ctx, func(ctx context.Context) error { return b.Documents.Keep(ctx, ref.ID) }); err != nil {
		return err
	}
	blob, err := b.Documents.Open(ctx, ref.ID)
	if err != nil {
		return err
	}
	defer blob.Close()
	if err := same(blob, p); err != nil {
		return err
	}
	return b.InTx(ctx, func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
}

// isBeginning says whether the document is, so far, the beginning of p.
func isBeginning(ctx context.Context, b Backend, id string, p []byte) error {
	blob, err := b.Documents.Open(ctx, id)
	if err != nil {
		return err
	}
	defer blob.Close()
	return same(blob, p[:blob.Size()])
}

// same says whether the blob is these bytes, from any goroutine.
func same(blob storage.Blob, want []byte) error {
	got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes read as %d others", len(want), len(got))
	}
	return nil
}
