package dsig

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// bigDocument has an element of a megabyte, and a signature with so many references to it.
func bigDocument(t *testing.T, reference string, n int) string {
	t.Helper()
	k := newECDSASigner(t)
	signed := k.sign(t, `<a><b Id="x">`+strings.Repeat("<c d='e'>text</c>", 60_000)+`</b>`+k.signature(t, reference)+`</a>`)
	start, end := signatures(t, signed)[0].References[0].Element.Span()
	return signed[:start] + strings.Repeat(signed[start:end], n) + signed[end:]
}

// Nine hundred references to one element are nine hundred times its digest, which is calculated once.
func TestManyReferencesToOneElement(t *testing.T) {
	s := signatures(t, bigDocument(t, reference("#x", excC14N), 900))[0]
	for _, r := range s.References {
		if err := s.VerifyReference(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.work.hashes) != 1 {
		t.Errorf("%d digests", len(s.work.hashes))
	}
}

// References that differ in something that changes nothing are each a digest, until it is enough.
func TestWorkIsBounded(t *testing.T) {
	inclusive := func(prefix string) string {
		return transform(exclusive, `<e:InclusiveNamespaces xmlns:e="`+exclusive+`" PrefixList="`+prefix+`"/>`)
	}
	s := signatures(t, bigDocument(t, reference("#x", inclusive("p")), 900))[0]
	for i := range s.References {
		s.References[i].Transforms[0].Canonicalization.Prefixes = []string{fmt.Sprint("p", i)}
	}
	digests := 0
	s.work.left = 10 * s.work.size // not to wait for what is the same again and again
	for _, r := range s.References {
		err := s.VerifyReference(t.Context(), r)
		if errors.Is(err, ErrLimit) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		digests++
	}
	if digests < 4 || digests > 10 { // each reads and writes nearly the whole document
		t.Errorf("the limit is after %d digests", digests)
	}
	if err := s.Process(io.Discard, s.References[0], xmldoc.Canonicalization{Method: xmldoc.C14N10}); !errors.Is(err, ErrLimit) {
		t.Errorf("processed after the limit: %v", err)
	}
	if err := s.VerifyValue(s.Certificates[0]); !errors.Is(err, ErrLimit) {
		t.Errorf("a value after the limit: %v", err)
	}
	s.RenewWork()
	if err := s.VerifyReference(t.Context(), s.References[digests+1]); err != nil {
		t.Errorf("after the bound was renewed: %v", err)
	}
}

// The canonical form of a document may be far larger than the document.
func TestNamespacesThatAreRepeated(t *testing.T) {
	k := newECDSASigner(t)
	document := `<a xmlns:p="urn:` + strings.Repeat("p", 5000) + `">` + strings.Repeat("<p:b/>", 100_000) + k.signature(t, reference("", enveloped, excC14N)) + `</a>`
	s := signatures(t, document)[0]
	if err := s.VerifyReference(t.Context(), s.References[0]); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
}

// A small document may be gone through often, a large one a few times, and none for longer than that takes.
func TestWorkForSizes(t *testing.T) {
	for _, tc := range []struct {
		size int
		want int64
	}{{7, 64<<20 + 7*64}, {1 << 19, 96 << 20}, {10 << 20, 96 << 20}, {40 << 20, 200 << 20}} {
		d := parse(t, "<a>"+strings.Repeat(" ", tc.size-7)+"</a>")
		if got := newWork(t.Context(), d).left; got != tc.want {
			t.Errorf("%d bytes: %d, want %d", tc.size, got, tc.want)
		}
	}
}

// A hash goes on from what it was of, for each who asks, whichever the function is.
func TestHashGoesOn(t *testing.T) {
	s := signatures(t, `<a>`+newECDSASigner(t).signature(t, reference("", filter2))+`</a>`)[0]
	for _, of := range []crypto.Hash{crypto.SHA1, crypto.SHA224, crypto.SHA256, crypto.SHA384, crypto.SHA512, crypto.SHA3_256, crypto.SHA3_384, crypto.SHA3_512} {
		want := of.New()
		io.WriteString(want, "<a></a>b")
		for range 3 {
			got, err := s.Hash(t.Context(), of, s.References[0], xmldoc.Canonicalization{Method: xmldoc.Exclusive})
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(got, "b")
			if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
				t.Errorf("%v goes on from something else", of)
			}
		}
	}
}

// Signatures that are read together share their digests and the limit.
func TestSignaturesShareWork(t *testing.T) {
	k := newECDSASigner(t)
	d := parse(t, k.sign(t, `<a>`+strings.Repeat(k.signature(t, reference("", filter2, excC14N)), 3)+`</a>`))
	reader := NewReader(t.Context(), d)
	for _, n := range Find(d) {
		s, err := reader.Read(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifySignature(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
	if len(reader.namespaces.hashes) != 1 {
		t.Errorf("%d digests of one document without signatures", len(reader.namespaces.hashes))
	}
}

// Only what is written alike is digested once.
func TestWhatIsDigestedOnce(t *testing.T) {
	exc := xmldoc.Canonicalization{Method: xmldoc.Exclusive}
	all := map[hashKey]bool{}
	for _, k := range []hashKey{
		hashKeyOf(selection{}, exc, crypto.SHA256),
		hashKeyOf(selection{}, exc, crypto.SHA512),
		hashKeyOf(selection{allSignatures: true}, exc, crypto.SHA256),
		hashKeyOf(selection{rootSignatures: true}, exc, crypto.SHA256),
		hashKeyOf(selection{base64: true}, exc, crypto.SHA256),
		hashKeyOf(selection{comments: true}, exc, crypto.SHA256),
		hashKeyOf(selection{envelopedSignature: parse(t, "<a/>").Root()}, exc, crypto.SHA256),
		hashKeyOf(selection{apex: parse(t, "<a/>").Root()}, exc, crypto.SHA256),
		hashKeyOf(selection{}, xmldoc.Canonicalization{Method: xmldoc.C14N11}, crypto.SHA256),
		hashKeyOf(selection{}, xmldoc.Canonicalization{Method: xmldoc.Exclusive, Comments: true}, crypto.SHA256),
		hashKeyOf(selection{}, xmldoc.Canonicalization{Method: xmldoc.Exclusive, Prefixes: []string{""}}, crypto.SHA256),
		hashKeyOf(selection{}, xmldoc.Canonicalization{Method: xmldoc.Exclusive, Prefixes: []string{"p"}}, crypto.SHA256),
		hashKeyOf(selection{}, xmldoc.Canonicalization{Method: xmldoc.Exclusive, Prefixes: []string{"", "p"}}, crypto.SHA256),
	} {
		if all[k] {
			t.Errorf("%v is something else", k)
		}
		all[k] = true
	}
}

func TestContextEnds(t *testing.T) {
	k := newECDSASigner(t)
	small := signatures(t, `<a>`+k.signature(t, reference("", filter2))+`</a>`)[0]
	s := signatures(t, bigDocument(t, reference("#x", excC14N), 1))[0]
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := small.VerifyReference(ended, small.References[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("ended before: %v", err)
	}
	late := &countdown{Context: t.Context(), left: 3}
	if err := s.VerifyReference(late, s.References[0]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended meanwhile: %v", err)
	}
	if err := s.VerifyReference(t.Context(), s.References[0]); err != nil {
		t.Errorf("what was not digested to its end is remembered: %v", err)
	}
}

// countdown is a context that ends when it was asked so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}
