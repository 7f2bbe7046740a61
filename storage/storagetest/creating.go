package storagetest

import (
	"bytes"
	"context"
	"crypto"
	"fmt"
	"io"
	"math"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

// sizes are around those that a backend may cut documents at.
var sizes = []int{0, 1, 4095, 65_472, 65_473, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1 << 18, 1<<18 + 1, 523_776, 523_777, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3<<20 + 7}

var creating = tests{
	"a document is what was read, of any size": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, size := range sizes {
			t.Run(fmt.Sprint(size), func(t *testing.T) {
				p := content(1, size)
				ref, err := b.Documents.Create(t.Context(), trickle(p), int64(size), crypto.SHA256, crypto.SHA512)
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
				holds(t, b, ref.ID, p)
			})
		}
	},

	"equal documents are different documents": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 100)
		one, other := create(t, b, p), create(t, b, p)
		do(t, b, func(ctx context.Context) error { return b.Documents.Delete(ctx, one.ID) })
		gone(t, b, one.ID)
		holds(t, b, other.ID, p)
	},

	"hash states are over what was read": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 1<<20+33)
		ref := create(t, b, p, crypto.SHA256, crypto.SHA384)
		for _, state := range opened(t, b, ref.ID).Hashed() {
			if got := resumed(t, state, p); !bytes.Equal(got, digest(state.Hash, p)) {
				t.Errorf("%v goes on to another digest", state.Hash)
			}
		}
	},

	"a longer document than the limit is refused": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, size := range sizes[1:] {
			for _, limit := range []int64{0, int64(size) / 2, int64(size) - 1} {
				counted := &counter{Reader: io.MultiReader(trickle(content(1, size)), endless{})}
				_, err := b.Documents.Create(t.Context(), counted, limit, crypto.SHA256)
				failed(t, err, storage.ErrTooLarge)
				if counted.n > limit+bufferLimit {
					t.Errorf("read %d bytes to see that there are more than %d", counted.n, limit)
				}
			}
		}
		nothingToSweep(t, b)
	},

	"a limit may be as large as can be": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 1<<20)
		ref, err := b.Documents.Create(t.Context(), bytes.NewReader(p), math.MaxInt64)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, b, ref.ID, p)
	},

	"an error of the reader is returned as it is and leaves nothing": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, want := range []error{errRefused, io.ErrUnexpectedEOF, context.Canceled} {
			for _, size := range sizes {
				r := io.MultiReader(trickle(content(1, size)), iotest.ErrReader(want))
				if _, err := b.Documents.Create(t.Context(), r, 1<<30); err != want {
					t.Errorf("after %d bytes the error is %v, want %v", size, err, want)
				}
			}
		}
		nothingToSweep(t, b)
	},

	"a reader that delivers nothing for ever is given up": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		_, err := b.Documents.Create(t.Context(), silent{}, 1<<30)
		failed(t, err, io.ErrNoProgress)
		nothingToSweep(t, b)
	},

	"a context that ends stops it and leaves nothing": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		then := func() error { cancel(); return nil }
		r := io.MultiReader(bytes.NewReader(content(1, 3<<20)), &moment{then: then}, endless{})
		_, err := b.Documents.Create(ctx, r, 1<<30)
		failed(t, err, context.Canceled)
		nothingToSweep(t, b)
	},

	"a hash that does not exist is refused": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		if _, err := b.Documents.Create(t.Context(), bytes.NewReader(nil), 0, crypto.Hash(250)); err == nil {
			t.Error("no error")
		}
		nothingToSweep(t, b)
	},

	"others write while a slow document comes in": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 3<<20)
		names := []string{"0", "1", "2", "3"}
		var parts []io.Reader
		for i, name := range names {
			write := func() error {
				return b.InTx(t.Context(), func(ctx context.Context) error {
					return b.Accounts.AddAccount(ctx, exampleAccount(name))
				})
			}
			parts = append(parts, bytes.NewReader(p[i*len(p)/4:(i+1)*len(p)/4]), &moment{then: write})
		}
		ref, err := b.Documents.Create(t.Context(), io.MultiReader(parts...), int64(len(p)))
		if err != nil {
			t.Fatal(err)
		}
		holds(t, b, ref.ID, p)
		if list, err := b.Accounts.Accounts(t.Context()); err != nil || len(list) != len(names) {
			t.Errorf("accounts: %v, %v", list, err)
		}
	},
}

// bufferLimit is how much more than the limit a backend may read.
const bufferLimit = 1 << 20

// nothingToSweep fails the test if a Create that failed left anything.
func nothingToSweep(t *testing.T, b Backend) {
	t.Helper()
	if n, err := b.Documents.Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil || n != 0 {
		t.Errorf("Sweep: %d, %v", n, err)
	}
}

// counter counts what is read through it.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// moment is a reader of nothing, at which something happens.
type moment struct{ then func() error }

func (m *moment) Read([]byte) (int, error) {
	if err := m.then(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// endless is a reader of zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// silent is a reader that never has anything to say.
type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }
