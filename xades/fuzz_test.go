package xades_test

import (
	"bytes"
	"crypto/x509"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	"github.com/innsigli/innsigli/xades"
)

// FuzzPending decodes and completes arbitrary bytes. A value fits only the digest that it was made for.
func FuzzPending(f *testing.F) {
	g := readGolden(f)
	f.Add([]byte(g.Pending))
	f.Add(bytes.Replace(g.Pending, []byte(`"level"`), []byte(`"levels"`), 1))
	f.Add(bytes.Replace(g.Pending, []byte(`"base":`), []byte(`"encoding":2,"base":`), 1))
	f.Add([]byte(`{"version":1}`))
	var made xades.Pending
	if err := made.UnmarshalBinary(g.Pending); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p xades.Pending
		if p.UnmarshalBinary(b) != nil {
			return
		}
		r, err := p.Complete(t.Context(), g.Value, nil)
		if err != nil {
			return
		}
		if !bytes.Equal(p.Digest().Sum, made.Digest().Sum) {
			t.Error("the value fits another digest")
		}
		doc := document(g.Document).With(r)
		_, _ = doc.ReadAt(make([]byte, 100), doc.Size/2)
	})
}

// FuzzPrepare signs arbitrary documents. What is accepted is well-formed XML, stays in the signed document, and is covered
// by the new signature.
func FuzzPrepare(f *testing.F) {
	p := newPerson(f, catest.New(f), p256(f))
	for i, k := range packings {
		for _, b := range shapes {
			f.Add(b, uint8(i))
		}
		if k == enveloping || k == detached {
			for _, b := range unreadable {
				f.Add([]byte(b), uint8(i))
			}
		}
		signed := sign(f, []byte(contract), p, k.options())
		f.Add(signed, uint8(i))
		f.Add(before(signatureEnd, "<ds:Object>"+forgedPrice+"</ds:Object>")(f, p, signed), uint8(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, k uint8) {
		packing := packings[int(k)%len(packings)]
		r, err := xades.Sign(t.Context(), document(b), p.key, p.signer, packing.options(), ades.Sources{})
		if err != nil {
			return
		}
		if _, err := xmldoc.Parse(b); err != nil {
			t.Errorf("signed a document that is not well-formed: %v", err)
		}
		if !keepsDocument(r, b) {
			t.Errorf("the revision changes the document: %+v", r)
		}
		got := verify(t, apply(t, b, r), p.ca)
		for _, s := range got {
			existing := s.Name != "" && bytes.Contains(b, []byte(s.Name))
			whole := s.Passed() && s.Coverage == ades.WholeDocument
			if s.Certificate.Equal(p.signer.Certificate) && (!s.Intact || !existing && !whole) {
				t.Errorf("signature of the signer: %+v", s)
			}
		}
		if len(got) == 0 {
			t.Error("the signed document has no signature")
		}
	})
}

// signedSeeds are signed documents, with the root of their certificates in DER.
type signedSeeds struct {
	Root      []byte
	Documents [][]byte
}

// FuzzVerify verifies arbitrary documents within a limit of memory. A document passes only if it states what a seed states,
// and a report is complete.
func FuzzVerify(f *testing.F) {
	seeds := testenv.FuzzShared(f, func() signedSeeds {
		p := newPerson(f, catest.New(f), p256(f))
		seeds := signedSeeds{Root: p.ca.Root().Raw}
		for _, k := range packings {
			for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
				seeds.Documents = append(seeds.Documents, signLevel(f, []byte(contract), p, level, k.options()))
			}
			seeds.Documents = append(seeds.Documents, sign(f, sign(f, []byte(contract), p, k.options()), p, k.options()))
		}
		return seeds
	})
	root, err := x509.ParseCertificate(seeds.Root)
	if err != nil {
		f.Fatal(err)
	}
	roots := pool([]*x509.Certificate{root})
	var signed []statement
	for _, b := range seeds.Documents {
		f.Add(b)
		signed = append(signed, statementOf(f, b))
	}
	f.Add([]byte(contract))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			t.Skip("the limit of memory is for smaller documents")
		}
		var report *ades.Report
		var err error
		allocated := testenv.Allocated(func() {
			report, err = xades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: roots})
		})
		if allocated > 1<<30 {
			t.Errorf("%d MB are allocated", allocated>>20)
		}
		if err != nil {
			return
		}
		for _, s := range report.Signatures {
			if s.Indication == "" || s.Format == "" || s.Coverage == "" || s.Intact && s.Certificate == nil {
				t.Errorf("incomplete report: %+v", s)
			}
		}
		if report.Passed() && !slices.ContainsFunc(signed, statementOf(t, b).isPartOf) {
			t.Errorf("passes, and no signer signed it:\n%s", b)
		}
	})
}

// isPartOf reports whether a document is the same as a signed one, with some of its signatures.
func (s statement) isPartOf(signed statement) bool {
	other := func(p string) bool { return !slices.Contains(signed.properties, p) }
	return s.document == signed.document && !slices.ContainsFunc(s.properties, other)
}

// FuzzExtend extends a signature with arbitrary markup after the signed properties. A second extension adds nothing, and
// intact signatures stay intact.
func FuzzExtend(f *testing.F) {
	p := newPerson(f, catest.New(f), p256(f))
	sources := p.ca.Sources(nil)
	signed := signFor(f, []byte(contract), p, ades.B, xades.Options{})
	head, tail, _ := bytes.Cut(signed, []byte(qualifyingEnd))
	for _, begun := range beginnings {
		f.Add([]byte(begun))
	}
	for _, level := range []ades.Level{ades.T, ades.LT, ades.LTA} {
		raised := extend(f, signed, level, sources)
		f.Add(bytes.TrimSuffix(bytes.TrimPrefix(raised, head), append([]byte(qualifyingEnd), tail...)))
	}
	f.Fuzz(func(t *testing.T, unsigned []byte) {
		b := slices.Concat(head, unsigned, []byte(qualifyingEnd), tail)
		x := xades.Extender{Sources: sources}
		revisions, err := x.Extend(t.Context(), document(b), ades.LTA)
		if err != nil {
			return
		}
		raised := apply(t, b, revisions...)
		before, after := verify(t, b, p.ca), verify(t, raised, p.ca)
		if len(before) != len(after) {
			t.Fatalf("got %d signatures, want %d", len(after), len(before))
		}
		for i := range before {
			if before[i].Name != after[i].Name || before[i].Intact && !after[i].Intact {
				t.Errorf("got %+v, was %+v", after[i], before[i])
			}
		}
		if revisions, err := x.Extend(t.Context(), document(raised), ades.LTA); err != nil || len(revisions) > 0 {
			t.Errorf("second extension: got %d revisions, %v", len(revisions), err)
		}
	})
}
