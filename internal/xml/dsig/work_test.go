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

// repeated returns a signature with n references that are the same, over an element of a megabyte.
func repeated(t *testing.T, n int) *Signature {
	t.Helper()
	k := newECDSASigner(t)
	signed := k.sign(t, `<a><b Id="x">`+strings.Repeat("<c d='e'>text</c>", 60_000)+`</b>`+k.signature(t, reference("#x", inclusivePrefixes("p")))+`</a>`)
	start, end := readAll(t, signed)[0].References[0].Element.Span()
	return readAll(t, signed[:start]+strings.Repeat(signed[start:end], n)+signed[end:])[0]
}

// TestDigestsAreCached verifies three signatures that have two references each, all over the same
// data.
func TestDigestsAreCached(t *testing.T) {
	k := newECDSASigner(t)
	references := strings.Repeat(reference("", filter2, excC14N), 2)
	all := readAll(t, k.sign(t, `<a>`+strings.Repeat(k.signature(t, references), 3)+`</a>`))
	for _, s := range all {
		for _, r := range s.References {
			if err := s.VerifyReference(t.Context(), r); err != nil {
				t.Error(err)
			}
		}
	}
	if len(all[0].hashes) != 1 {
		t.Errorf("%d digests, want 1", len(all[0].hashes))
	}
}

// TestWorkIsBounded verifies references with different parameters, each of which is digested again,
// until the work is used up. Nothing is processed then until the bound is renewed.
func TestWorkIsBounded(t *testing.T) {
	s := repeated(t, 20)
	for i := range s.References {
		s.References[i].Transforms[0].Canonicalization.Prefixes = []string{fmt.Sprint("p", i)}
	}
	s.work.left = 10 * s.work.size
	digests := 0
	for s.VerifyReference(t.Context(), s.References[digests]) == nil {
		digests++
	}
	if digests < 4 || digests > 10 { // each reads and writes nearly the whole document
		t.Errorf("%d digests before the limit, want 4 to 10", digests)
	}
	for name, err := range map[string]error{
		"VerifyReference": s.VerifyReference(t.Context(), s.References[digests]),
		"Process":         s.Process(io.Discard, s.References[0], xmldoc.Canonicalization{Method: xmldoc.C14N10}),
		"VerifyValue":     s.VerifyValue(s.Certificates[0]),
	} {
		if !errors.Is(err, ErrLimit) {
			t.Errorf("%s after the limit: got %v, want %v", name, err, ErrLimit)
		}
	}
	s.RenewWork()
	if err := s.VerifyReference(t.Context(), s.References[digests]); err != nil {
		t.Errorf("after RenewWork: %v", err)
	}
}

// TestOutputIsBounded digests a form that is much longer than the document, because it declares a
// long namespace for each of many elements.
func TestOutputIsBounded(t *testing.T) {
	document := `<a xmlns:p="urn:` + strings.Repeat("p", 5000) + `">` + strings.Repeat("<p:b/>", 100_000) +
		newECDSASigner(t).signature(t, reference("", enveloped, excC14N)) + `</a>`
	s := readAll(t, document)[0]
	if err := s.VerifyReference(t.Context(), s.References[0]); !errors.Is(err, ErrLimit) {
		t.Errorf("got %v, want %v", err, ErrLimit)
	}
}

// TestWorkBySize checks the bound for small and large documents.
func TestWorkBySize(t *testing.T) {
	for size, want := range map[int]int64{7: 64<<20 + 7*64, 1 << 19: 96 << 20, 10 << 20: 96 << 20, 40 << 20: 200 << 20} {
		d := parse(t, "<a>"+strings.Repeat(" ", size-7)+"</a>")
		if got := newWork(t.Context(), d).left; got != want {
			t.Errorf("%d bytes: got %d, want %d", size, got, want)
		}
	}
}

// TestHash checks for each hash function that three callers get a hash that they can write to.
func TestHash(t *testing.T) {
	s := readAll(t, `<a>`+newECDSASigner(t).signature(t, reference("", filter2))+`</a>`)[0]
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
				t.Errorf("%v: got %x, want %x", of, got.Sum(nil), want.Sum(nil))
			}
		}
	}
}

// TestHashKeys checks that the cache tells apart all that a digest depends on.
func TestHashKeys(t *testing.T) {
	node := parse(t, "<a/>").Root()
	keys := make(map[hashKey]bool)
	selections := []selection{
		{}, {allSignatures: true}, {rootSignatures: true}, {base64: true}, {comments: true}, {envelopedSignature: node}, {apex: node},
	}
	for _, s := range selections {
		keys[hashKeyOf(s, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, crypto.SHA256)] = true
	}
	keys[hashKeyOf(selection{}, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, crypto.SHA512)] = true
	canonicalizations := []xmldoc.Canonicalization{
		{Method: xmldoc.C14N11}, {Method: xmldoc.Exclusive, Comments: true}, {Method: xmldoc.Exclusive, Prefixes: []string{""}},
		{Method: xmldoc.Exclusive, Prefixes: []string{"p"}}, {Method: xmldoc.Exclusive, Prefixes: []string{"", "p"}},
	}
	for _, c := range canonicalizations {
		keys[hashKeyOf(selection{}, c, crypto.SHA256)] = true
	}
	if want := len(selections) + 1 + len(canonicalizations); len(keys) != want {
		t.Errorf("%d different keys, want %d", len(keys), want)
	}
}

// TestContextEnds checks contexts that end before and during a digest, and that an incomplete
// digest is not cached.
func TestContextEnds(t *testing.T) {
	s := repeated(t, 1)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.VerifyReference(ended, s.References[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("ended before: got %v, want %v", err, context.Canceled)
	}
	if err := s.VerifyReference(&countdown{t.Context(), 3}, s.References[0]); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended meanwhile: got %v, want %v", err, context.DeadlineExceeded)
	}
	if err := s.VerifyReference(t.Context(), s.References[0]); err != nil {
		t.Errorf("verified again: %v", err)
	}
}

// countdown is a context that ends after Err was called a number of times.
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

// depth elements with breadth attributes each are around the signatures of the tests below.
const depth, breadth = 100, 1000

// surround puts content into these elements, the outermost of which binds prefixes to the namespace
// of XML Signature.
func surround(content string, prefixes ...string) string {
	var bound, attributes strings.Builder
	for _, prefix := range prefixes {
		fmt.Fprintf(&bound, " xmlns:%s='%s'", prefix, Namespace)
	}
	for i := range breadth {
		fmt.Fprintf(&attributes, " a%d=''", i)
	}
	return "<r" + bound.String() + ">" + strings.Repeat("<a"+attributes.String()+">", depth) + content + strings.Repeat("</a>", depth) + "</r>"
}

// TestPrefixLookup reads references whose expressions use prefixes that are declared far outside. A
// prefix is looked up once, and each lookup is charged.
func TestPrefixLookup(t *testing.T) {
	const count = 500
	var same, different strings.Builder
	var prefixes []string
	for i := range count {
		prefixes = append(prefixes, fmt.Sprint("z", i))
		with := func(prefix string) string { return reference("", strings.ReplaceAll(xpath, "::ds:", "::"+prefix+":")) }
		same.WriteString(with("z0"))
		different.WriteString(with(prefixes[i]))
	}
	k := newECDSASigner(t)
	d := parse(t, surround(k.signature(t, same.String()), prefixes...))
	reader := NewReader(t.Context(), d)
	before := reader.namespaces.left
	s, err := reader.Read(Find(d)[0])
	if err != nil || s.References[count-1].Transforms[0].Kind != WithoutSignatures {
		t.Fatal(s, err)
	}
	const tags = depth * breadth * int64(len(" a999=''"))
	if took := before - s.left; took < tags*9/10 || took > 2*tags {
		t.Errorf("one prefix: charged for %d bytes, want about %d", took, tags)
	}
	d = parse(t, surround(k.signature(t, different.String()), prefixes...))
	reader = NewReader(t.Context(), d)
	reader.namespaces.left = 10 * tags
	if _, err := reader.Read(Find(d)[0]); !errors.Is(err, ErrLimit) {
		t.Errorf("%d prefixes: got %v, want %v", count, err, ErrLimit)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewReader(ended, d).Read(Find(d)[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("context ended: got %v, want %v", err, context.Canceled)
	}
}

// TestFixedWorkIsCharged canonicalizes small elements until the work is used up, where each form
// takes much work that does not depend on the element: it searches the tags around the element for
// attributes, and makes tables of the names of the document.
func TestFixedWorkIsCharged(t *testing.T) {
	const size = 1 << 20
	spaces := "<a" + strings.Repeat(" ", size) + "b=''>|</a>"
	var names strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&names, " xmlns:p%d='u:%[1]d'", i)
	}
	c10, c11, exclusive := xmldoc.Canonicalization{Method: xmldoc.C14N10}, xmldoc.Canonicalization{Method: xmldoc.C14N11}, xmldoc.Canonicalization{Method: xmldoc.Exclusive}
	listing := xmldoc.Canonicalization{Method: xmldoc.Exclusive, Prefixes: []string{"p"}}
	for _, test := range []struct {
		name, around string
		form         xmldoc.Canonicalization
		each         int64 // what each form is charged for, at least
	}{
		{"many attributes, 1.0", surround("|", "p"), c10, 2 * depth * breadth * int64(len(" a1=''"))},
		{"white space, 1.0", spaces, c10, 2 * size},
		{"white space, 1.1", spaces, c11, 3 * size},
		{"white space, PrefixList", spaces, listing, size},
		{"white space, exclusive", spaces, exclusive, 0}, // it searches no other tag
		{"namespaces, exclusive", "<a" + names.String() + ">|</a>", exclusive, 10_000 * int64(1+4+32)},
	} {
		s := readAll(t, strings.Replace(test.around, "|", newECDSASigner(t).signature(t, reference("")), 1))[0]
		for range 2 { // the second form is charged as the first
			before := s.left
			if err := s.Canonicalize(io.Discard, test.form, xmldoc.Subset{Apex: s.SignedInfo}); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			if took := before - s.left; took < test.each || took > test.each+test.each/2+30_000 {
				t.Errorf("%s: charged for %d, want %d", test.name, took, test.each)
			}
		}
	}
}
