package xades_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	mathrand "math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	"github.com/innsigli/innsigli/xades"
)

func prepare(t testing.TB, p person, content string, o xades.Options) *xades.Pending {
	t.Helper()
	pending, err := xades.Prepare(t.Context(), document([]byte(content)), p.signer, o)
	if err != nil {
		t.Fatal(err)
	}
	return pending
}

// stored encodes and decodes a pending signature.
func stored(t testing.TB, p *xades.Pending) *xades.Pending {
	t.Helper()
	encoded, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again xades.Pending
	if err := again.UnmarshalBinary(encoded); err != nil {
		t.Fatal(err)
	}
	return &again
}

// TestStoredPending checks what a stored pending signature tells of its document and signer, and that the revision is small
// for a long document.
func TestStoredPending(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	content := paragraphs(1 << 20)
	sum := sha256.Sum256(content)
	for _, k := range packings {
		pending := prepare(t, p, string(content), k.options())
		again := stored(t, pending)
		if !cmp.Equal(again.Digest(), pending.Digest()) || !again.Signer().Certificate.Equal(p.signer.Certificate) || again.Signer().Algorithm.Scheme != ades.ECDSA {
			t.Errorf("%s: got digest %v, signer %+v", k.name, again.Digest(), again.Signer())
		}
		if size, got := again.Base(); size != int64(len(content)) || !bytes.Equal(got, sum[:]) {
			t.Errorf("%s: Base: got %d, %x, want %d, %x", k.name, size, got, len(content), sum)
		}
		r, err := again.Sign(t.Context(), p.key, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(markup(r)); n > 10_000 {
			t.Errorf("%s: the revision has %d bytes", k.name, n)
		}
		if got := verify(t, apply(t, content, r), p.ca); len(got) != 1 || !got[0].Passed() {
			t.Errorf("%s: got %+v", k.name, got)
		}
	}
}

// markup returns the bytes of a revision that are not from the document.
func markup(r xades.Revision) (b []byte) {
	for _, p := range r.Pieces {
		b = append(b, p.Bytes...)
	}
	return b
}

// TestUnmarshalRefuses decodes what MarshalBinary does not write. The pending signature keeps its value.
func TestUnmarshalRefuses(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	pending := prepare(t, p, contract, xades.Options{Level: ades.T})
	encoded, err := pending.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	piece := func(from, to int) []any { return []any{map[string]any{"from": from, "to": to}} }
	for _, test := range []struct {
		name    string
		members map[string]any
	}{
		{"another version", map[string]any{"version": 2}},
		{"no version", map[string]any{"version": nil}},
		{"level", map[string]any{"level": 9}},
		{"hash", map[string]any{"hash": "MD5"}},
		{"scheme", map[string]any{"scheme": 1}},
		{"certificate", map[string]any{"certificate": "AAAA"}},
		{"chain", map[string]any{"chain": []string{"AAAA"}}},
		{"encoding", map[string]any{"encoding": 3}},
		{"markup not well-formed", map[string]any{"head": "<ds:Signature>"}},
		{"no SignedInfo", map[string]any{"head": `<ds:Signature xmlns:ds="u:">`, "body": "", "foot": ""}},
		{"piece after the document", map[string]any{"after": piece(1, 1<<20)}},
		{"piece before the document", map[string]any{"after": piece(-1, 1)}},
		{"piece with its end before its start", map[string]any{"before": piece(3, 1)}},
		{"negative length", map[string]any{"base": -1}},
	} {
		var m map[string]any
		if err := json.Unmarshal(encoded, &m); err != nil {
			t.Fatal(err)
		}
		for name, value := range test.members {
			m[name] = value
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		kept := *pending
		if err := kept.UnmarshalBinary(b); err == nil || !cmp.Equal(kept.Digest(), pending.Digest()) {
			t.Errorf("%s: got %v, digest changed %t", test.name, err, !cmp.Equal(kept.Digest(), pending.Digest()))
		}
	}
	if err := new(xades.Pending).UnmarshalBinary(nil); err == nil {
		t.Error("decoded no bytes without an error")
	}
}

// TestCompleteVerifiesTheValue completes signatures of each algorithm with wrong values, and with the right one.
func TestCompleteVerifiesTheValue(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	for _, s := range schemes(t) {
		pending := prepare(t, newPerson(t, ca, s.key, s.algorithm), contract, xades.Options{})
		d := pending.Digest()
		values := make([][]byte, 2) // over the digest, and over another one
		for i := range values {
			var err error
			if values[i], err = s.key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts()); err != nil {
				t.Fatal(err)
			}
			d.Sum[0] ^= 1
		}
		value := values[0]
		for name, v := range map[string][]byte{"over another digest": values[1], "empty": nil, "no value": []byte("garbage"), "truncated": value[:len(value)-1]} {
			if _, err := pending.Complete(t.Context(), v, nil); !errors.Is(err, ades.ErrValue) {
				t.Errorf("%s, %s: got %v, want ErrValue", s.name, name, err)
			}
		}
		r, err := pending.Complete(t.Context(), value, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := verify(t, apply(t, []byte(contract), r), ca); !got[0].Intact || got[0].Algorithm != d.Algorithm {
			t.Errorf("%s: got %+v", s.name, got)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := pending.Complete(canceled, value, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: got %v, want Canceled", err)
		}
	}
}

// TestRevision reads parts of a document with a revision that was stored as JSON, and compares them with the document in
// memory.
func TestRevision(t *testing.T) {
	t.Parallel()
	r := mathrand.New(mathrand.NewPCG(1, 2))
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
	encoded, err := json.Marshal(revision)
	if err != nil {
		t.Fatal(err)
	}
	var again xades.Revision
	if err := json.Unmarshal(encoded, &again); err != nil || !cmp.Equal(again, revision) {
		t.Errorf("stored: %v %s", err, cmp.Diff(revision, again))
	}
	if got := apply(t, base, again); !bytes.Equal(got, want) {
		t.Fatal("the whole document differs")
	}
	doc := document(base).With(again)
	for range 3000 {
		from := r.IntN(len(want))
		n := r.IntN(min(len(want)-from, 60_000) + 1)
		part := make([]byte, n)
		if got, err := doc.ReadAt(part, int64(from)); err != nil || got != n || !bytes.Equal(part, want[from:from+n]) {
			t.Fatalf("%d bytes from %d: got %d, %v", n, from, got, err)
		}
	}
}

// TestRevisionAtTheEnds reads at and after the ends of a document, and from a document that is shorter than its size.
func TestRevisionAtTheEnds(t *testing.T) {
	t.Parallel()
	abc := document([]byte("abc"))
	whole := abc.With(xades.Revision{Base: 3, Pieces: []xades.Piece{{To: 3}, {Bytes: []byte("d")}}})
	short := xades.Document{ReaderAt: bytes.NewReader(nil), Size: 3}.With(xades.Revision{Base: 3, Pieces: []xades.Piece{{To: 3, Base64: true}}})
	other := abc.With(xades.Revision{Base: 4, Pieces: []xades.Piece{{To: 3}}})
	failed := errors.New("any error but EOF")
	for _, test := range []struct {
		doc  xades.Document
		at   int64
		n    int
		want string
		err  error
	}{
		{whole, 0, 4, "abcd", nil}, {whole, 2, 2, "cd", nil}, {whole, 2, 9, "cd", io.EOF}, {whole, 4, 1, "", io.EOF},
		{whole, 9, 1, "", io.EOF}, {whole, 4, 0, "", nil}, {whole, -1, 1, "", failed}, {short, 0, 4, "", io.ErrUnexpectedEOF},
		{abc.With(xades.Revision{Base: 2}), 0, 1, "", failed}, {other, 0, 1, "", failed},
	} {
		b := make([]byte, test.n)
		n, err := test.doc.ReadAt(b, test.at)
		if test.err == failed && err != nil && !errors.Is(err, io.EOF) {
			err = failed
		}
		if string(b[:n]) != test.want || err != test.err {
			t.Errorf("%d bytes at %d: got %q, %v, want %q, %v", test.n, test.at, b[:n], err, test.want, test.err)
		}
	}
	if _, err := xades.Verify(t.Context(), other, ades.VerifyOptions{}); err == nil || errors.Is(err, ades.ErrUnreadable) {
		t.Errorf("Verify with a revision of another document: got %v", err)
	}
}
