package xades_test

import (
	"bytes"
	"testing"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	"github.com/innsigli/innsigli/xades"
)

// FuzzPending completes whatever can be decoded. Nothing but the value that was made for it may fit.
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
			t.Error("the value fits something else")
		}
		doc := document(g.Document).With(r)
		_, _ = doc.ReadAt(make([]byte, 100), doc.Size/2)
	})
}

// FuzzPrepare signs whatever is accepted, which is XML by itself: the document's bytes are in the result, and
// it verifies, and covers the whole document.
func FuzzPrepare(f *testing.F) {
	for _, s := range shapes {
		for i := range packings {
			f.Add(s.bytes, uint8(i))
		}
	}
	for _, b := range unreadable {
		f.Add([]byte(b), uint8(xades.Enveloping))
		f.Add([]byte(b), uint8(xades.InternallyDetached)+1)
	}
	p := newPerson(f, newAuthority(f), p256(f))
	for i, k := range packings {
		signed := sign(f, []byte(contract), p, k.options())
		f.Add(signed, uint8(i))
		f.Add(bytes.Replace(signed, []byte(endOfElement), []byte("<ds:Object>"+loosePrice+"</ds:Object>"+endOfElement), 1), uint8(i))
	}
	f.Fuzz(func(t *testing.T, b []byte, k uint8) {
		packing := packings[int(k)%len(packings)]
		r, err := xades.Sign(t.Context(), document(b), p.key, p.signer, packing.options(), ades.Sources{})
		if err != nil {
			return
		}
		if _, err := xmldoc.Parse(b); err != nil {
			t.Errorf("signed, and by itself: %v", err)
		}
		if !accountsFor(r, b) {
			t.Errorf("bytes of the document are others: %+v", r)
		}
		got := verify(t, apply(t, b, r), p.ca)
		for _, s := range got {
			earlier := s.Name != "" && bytes.Contains(b, []byte(s.Name))
			whole := s.Passed() && s.Coverage == ades.WholeDocument
			if s.Certificate.Equal(p.signer.Certificate) && (!s.Intact || !earlier && !whole) {
				t.Errorf("%+v", s)
			}
		}
		if len(got) == 0 {
			t.Error("no signature")
		}
	})
}

// accountsFor says whether the pieces of a revision that are from the document are all of it, but for the
// slash of an empty root.
func accountsFor(r xades.Revision, b []byte) bool {
	at := int64(0)
	for _, p := range r.Pieces {
		switch {
		case p.Bytes != nil:
		case p.From == at:
			at = p.To
		case p.From < at: // the name of an empty root, for its end tag
		case !bytes.Equal(bytes.Trim(b[at:p.From], "\x00"), []byte("/")):
			return false
		default:
			at = p.To
		}
	}
	return at == int64(len(b))
}
