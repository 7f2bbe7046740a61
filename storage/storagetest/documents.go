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
	"math"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

// sizes are around those at which backends split documents.
var sizes = []int{0, 1, 4095, 65_472, 65_473, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1 << 18, 1<<18 + 1, 523_776, 523_777, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3<<20 + 7}

var creating = tests{
	"a document of any size is stored as it was read": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, size := range sizes {
			t.Run(fmt.Sprint(size), func(t *testing.T) {
				p := content(1, size)
				ref, err := b.Documents.Create(t.Context(), slowReader(p), int64(size), crypto.SHA256, crypto.SHA512)
				if err != nil {
					t.Fatal(err)
				}
				if ref.Size != int64(size) {
					t.Errorf("the size is %d", ref.Size)
				}
				want := [][]byte{digest(crypto.SHA256, p), digest(crypto.SHA512, p)}
				if diff := cmp.Diff(want, ref.Sums); diff != "" {
					t.Errorf("digests (-want +got):\n%s", diff)
				}
				checkDocument(t, b, ref.ID, p)
			})
		}
	},

	"equal documents are stored separately": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 100)
		one, other := create(t, b, p), create(t, b, p)
		do(t, b, func(ctx context.Context) error { return b.Documents.Delete(ctx, one.ID) })
		checkNoDocument(t, b, one.ID)
		checkDocument(t, b, other.ID, p)
	},

	"hash states are those of the content": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 1<<20+33)
		ref := create(t, b, p, crypto.SHA256, crypto.SHA384)
		for _, state := range openBlob(t, b, ref.ID).Hashed() {
			if got := resumeHash(t, state, p); !bytes.Equal(got, digest(state.Hash, p)) {
				t.Errorf("the state of %v leads to another digest", state.Hash)
			}
		}
	},

	"a longer document than the limit is refused": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, size := range sizes[1:] {
			for _, limit := range []int64{0, int64(size) / 2, int64(size) - 1} {
				counted := &countingReader{Reader: io.MultiReader(slowReader(content(1, size)), endless{})}
				_, err := b.Documents.Create(t.Context(), counted, limit, crypto.SHA256)
				checkError(t, err, storage.ErrTooLarge)
				if counted.n > limit+bufferLimit {
					t.Errorf("read %d bytes to see that there are more than %d", counted.n, limit)
				}
			}
		}
		checkNothingToSweep(t, b)
	},

	"a limit may be the largest integer": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 1<<20)
		ref, err := b.Documents.Create(t.Context(), bytes.NewReader(p), math.MaxInt64)
		if err != nil {
			t.Fatal(err)
		}
		checkDocument(t, b, ref.ID, p)
	},

	"an error of the reader is returned unchanged, and nothing is stored": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, want := range []error{errRefused, io.ErrUnexpectedEOF, context.Canceled} {
			for _, size := range sizes {
				r := io.MultiReader(slowReader(content(1, size)), iotest.ErrReader(want))
				if _, err := b.Documents.Create(t.Context(), r, 1<<30); err != want {
					t.Errorf("after %d bytes the error is %v, want %v", size, err, want)
				}
			}
		}
		checkNothingToSweep(t, b)
	},

	"a reader that never makes progress is an error": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		_, err := b.Documents.Create(t.Context(), emptyReader{}, 1<<30)
		checkError(t, err, io.ErrNoProgress)
		checkNothingToSweep(t, b)
	},

	"the end of the context stops Create, and nothing is stored": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		then := func() error { cancel(); return nil }
		r := io.MultiReader(bytes.NewReader(content(1, 3<<20)), &hookReader{then: then}, endless{})
		_, err := b.Documents.Create(ctx, r, 1<<30)
		checkError(t, err, context.Canceled)
		checkNothingToSweep(t, b)
	},

	"a hash that does not exist is refused": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		if _, err := b.Documents.Create(t.Context(), bytes.NewReader(nil), 0, crypto.Hash(250)); err == nil {
			t.Error("no error")
		}
		checkNothingToSweep(t, b)
	},

	"other transactions write while a slow document is created": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 3<<20)
		names := []string{"0", "1", "2", "3"}
		var parts []io.Reader
		for i, name := range names {
			write := func() error {
				return b.InTx(t.Context(), func(ctx context.Context) error {
					return b.Accounts.AddAccount(ctx, exampleAccount(name))
				})
			}
			parts = append(parts, bytes.NewReader(p[i*len(p)/4:(i+1)*len(p)/4]), &hookReader{then: write})
		}
		ref, err := b.Documents.Create(t.Context(), io.MultiReader(parts...), int64(len(p)))
		if err != nil {
			t.Fatal(err)
		}
		checkDocument(t, b, ref.ID, p)
		if list, err := b.Accounts.Accounts(t.Context()); err != nil || len(list) != len(names) {
			t.Errorf("accounts: %v, %v", list, err)
		}
	},
}

// bufferLimit is how many bytes more than the limit a backend may read.
const bufferLimit = 1 << 20

// checkNothingToSweep fails the test if there is a document that was not kept.
func checkNothingToSweep(t *testing.T, b Backend) {
	t.Helper()
	if n, err := b.Documents.Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 0 {
		t.Errorf("Sweep: %d, %v", n, err)
	}
}

// countingReader counts what is read through it.
type countingReader struct {
	io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// hookReader is an empty reader that calls a function when it is read.
type hookReader struct{ then func() error }

func (m *hookReader) Read([]byte) (int, error) {
	if err := m.then(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// endless is an infinite reader of zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// emptyReader never returns data or an error.
type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }

// content returns pseudo-random content, which depends on the seed and the size.
func content(seed uint64, size int) []byte {
	var key [32]byte
	key[0], key[1] = byte(seed), byte(size)
	p := make([]byte, size)
	rand.NewChaCha8(key).Read(p)
	return p
}

// create stores a document and keeps it.
func create(t *testing.T, b Backend, p []byte, hashes ...crypto.Hash) storage.Ref {
	t.Helper()
	ref, err := b.Documents.Create(t.Context(), bytes.NewReader(p), int64(len(p)), hashes...)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	do(t, b, func(ctx context.Context) error { return b.Documents.Keep(ctx, ref.ID) })
	return ref
}

// appendRevisions appends revisions to a document.
func appendRevisions(t *testing.T, b Backend, ref storage.Ref, revisions ...storage.Revision) {
	t.Helper()
	do(t, b, func(ctx context.Context) error { return b.Documents.Append(ctx, ref.ID, revisions...) })
}

func openBlob(t *testing.T, b Backend, id string) storage.Blob {
	t.Helper()
	blob, err := b.Documents.Open(t.Context(), id)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { blob.Close() })
	return blob
}

// checkDocument fails the test unless the document has the content.
func checkDocument(t *testing.T, b Backend, id string, want []byte) {
	t.Helper()
	checkBlob(t, openBlob(t, b, id), want)
}

// checkBlob fails the test unless the blob has the content.
func checkBlob(t *testing.T, blob storage.Blob, want []byte) {
	t.Helper()
	if blob.Size() != int64(len(want)) {
		t.Fatalf("the size is %d, want %d", blob.Size(), len(want))
	}
	got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("the document reads differently, error %v", err)
	}
}

// checkNoDocument fails the test if the document exists.
func checkNoDocument(t *testing.T, b Backend, id string) {
	t.Helper()
	_, err := b.Documents.Open(t.Context(), id)
	checkError(t, err, storage.ErrNotFound)
}

// digest returns the hash of p.
func digest(h crypto.Hash, p []byte) []byte {
	hash := h.New()
	hash.Write(p)
	return hash.Sum(nil)
}

// resumeHash returns the digest of a document, computed from the hash state of its beginning.
func resumeHash(t *testing.T, m storage.Midstate, document []byte) []byte {
	t.Helper()
	hash := m.Hash.New()
	if err := hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.State); err != nil {
		t.Fatalf("the state of %v: %v", m.Hash, err)
	}
	hash.Write(document[m.Offset:])
	return hash.Sum(nil)
}

// slowReader returns a reader of p that returns little at a time.
func slowReader(p []byte) io.Reader {
	return iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(p)))
}

// createReadDelete creates, keeps, reads and deletes a document.
func createReadDelete(ctx context.Context, b Backend, p []byte) error {
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
	if err := checkContent(blob, p); err != nil {
		return err
	}
	return b.InTx(ctx, func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
}

// checkPrefix returns an error unless the document's content is the beginning of p.
func checkPrefix(ctx context.Context, b Backend, id string, p []byte) error {
	blob, err := b.Documents.Open(ctx, id)
	if err != nil {
		return err
	}
	defer blob.Close()
	return checkContent(blob, p[:blob.Size()])
}

// checkContent returns an error unless the blob has the content. Unlike checkBlob it may be called in any
// goroutine.
func checkContent(blob storage.Blob, want []byte) error {
	got, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes read as %d others", len(want), len(got))
	}
	return nil
}
