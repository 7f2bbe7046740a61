package xades_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// Any part of a document that is made of pieces reads as if the whole had been written out.
func TestWith(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	base := make([]byte, 100_000)
	for i := range base {
		base[i] = byte(r.Uint32())
	}
	revision := xades.Revision{Base: int64(len(base)), Pieces: []xades.Piece{
		{Bytes: []byte("head")}, {From: 5, To: 5}, {From: 10, To: 70_001},
		{From: 99, To: 99_999, Base64: true}, {Bytes: []byte("-")}, {From: 99_999, To: 100_000, Base64: true}, {To: 1},
	}}
	want := append([]byte("head"), base[10:70_001]...)
	want = base64.StdEncoding.AppendEncode(want, base[99:99_999])
	want = base64.StdEncoding.AppendEncode(append(want, '-'), base[99_999:])
	want = append(want, base[0])
	if got := apply(t, base, revision); !bytes.Equal(got, want) {
		t.Fatal("the whole is something else")
	}
	doc := document(base).With(reencoded(t, revision))
	for range 3000 {
		from := r.IntN(len(want))
		n := r.IntN(min(len(want)-from, 60_000) + 1)
		part := make([]byte, n)
		if got, err := doc.ReadAt(part, int64(from)); err != nil || got != n || !bytes.Equal(part, want[from:from+n]) {
			t.Fatalf("%d bytes from %d: %d, %v", n, from, got, err)
		}
	}
}

// A revision is of the document that it was made for: of another one there is nothing to be read.
func TestWithAnother(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for _, k := range packings {
		r, err := xades.Sign(t.Context(), document([]byte(contract)), p.key, p.signer, k.options(), ades.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{contract + "\n", contract[1:], ""} {
			doc := document([]byte(other)).With(r)
			if n, err := doc.ReadAt(make([]byte, 10), 0); n != 0 || err == nil || errors.Is(err, io.EOF) {
				t.Errorf("%s: %d, %v", k.name, n, err)
			}
			if _, err := xades.Verify(t.Context(), doc, ades.VerifyOptions{}); err == nil || errors.Is(err, ades.ErrUnreadable) {
				t.Errorf("%s: %v", k.name, err)
			}
		}
	}
}

// reencoded is a revision that was stored.
func reencoded(t *testing.T, r xades.Revision) (again xades.Revision) {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Error(diff)
	}
	return again
}

func TestReadAtTheEdges(t *testing.T) {
	t.Parallel()
	doc := document([]byte("abc")).With(xades.Revision{Base: 3, Pieces: []xades.Piece{{To: 3}, {Bytes: []byte("d")}}})
	for _, tt := range []struct {
		at   int64
		n    int
		want string
		err  error
	}{{0, 4, "abcd", nil}, {2, 2, "cd", nil}, {2, 9, "cd", io.EOF}, {4, 1, "", io.EOF}, {9, 1, "", io.EOF}, {4, 0, "", nil}} {
		b := make([]byte, tt.n)
		if n, err := doc.ReadAt(b, tt.at); string(b[:n]) != tt.want || err != tt.err {
			t.Errorf("%d bytes at %d: %q, %v", tt.n, tt.at, b[:n], err)
		}
	}
	if _, err := doc.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("read before the start")
	}
	shorter := xades.Document{ReaderAt: bytes.NewReader(nil), Size: 3}.With(xades.Revision{Base: 3, Pieces: []xades.Piece{{To: 3, Base64: true}}})
	if _, err := shorter.ReadAt(make([]byte, 4), 0); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}

// A revision is small however long the document is.
func TestRevisionIsSmall(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	b := paragraphs(1 << 20)
	for _, k := range packings {
		r, err := xades.Sign(t.Context(), document(b), p.key, p.signer, k.options(), ades.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, piece := range r.Pieces {
			n += len(piece.Bytes)
		}
		if n > 10_000 {
			t.Errorf("%s: %d bytes", k.name, n)
		}
	}
}
