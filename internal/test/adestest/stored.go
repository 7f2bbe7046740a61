package adestest

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Stored is a golden file: a signature that a release prepared and stored, and what it takes to
// complete it.
type Stored struct {
	Document []byte          `json:"document"`
	Pending  json.RawMessage `json:"pending"`
	Value    []byte          `json:"value"`
	Revision []byte          `json:"revision,omitempty"` // what is appended to the document, or
	Signed   []byte          `json:"signed,omitempty"`   // the signed document
	Root     []byte          `json:"root"`               // DER
	Time     time.Time       `json:"time"`               // of the signature
}

// SignedDocument returns the document with the signature.
func (s Stored) SignedDocument() []byte {
	if s.Signed != nil {
		return s.Signed
	}
	return slices.Concat(s.Document, s.Revision)
}

// ReadStored reads a golden file.
func ReadStored(t testing.TB, path string) (s Stored) {
	t.Helper()
	if err := json.Unmarshal(testenv.ReadFile(t, path), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// testStored: what a release stored is completed to the same bytes by all later ones.
func testStored(t *testing.T, f Format) {
	for i, path := range f.Stored {
		if i == len(f.Stored)-1 { // that of the present version
			testenv.Golden(t, path, func() []byte { return f.store(t) })
		}
		s := ReadStored(t, path)
		p := f.NewPending()
		if err := p.UnmarshalBinary(s.Pending); err != nil {
			t.Fatal(err)
		}
		var stored bytes.Buffer
		if err := json.Compact(&stored, s.Pending); err != nil {
			t.Fatal(err)
		}
		if again, err := p.MarshalBinary(); err != nil || !bytes.Equal(again, stored.Bytes()) {
			t.Errorf("%s: encoded as\n%s\nwant\n%s\n%v", path, again, stored.Bytes(), err)
		}
		signed, err := p.Complete(t, s.Document, s.Value, nil)
		if err != nil || !bytes.Equal(signed, s.SignedDocument()) {
			t.Fatalf("%s: completed to %d other bytes, want %d: %v", path, len(signed), len(s.SignedDocument()), err)
		}
		root, err := x509.ParseCertificate(s.Root)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(root)
		if report := f.Verify(t, signed, ades.VerifyOptions{Roots: roots, Time: s.Time}); !report.Passed() {
			t.Errorf("%s: %q", path, report.Problems())
		}
	}
}

// testStoredLevel: the level is part of what is stored, and one that does not exist is not decoded.
func testStoredLevel(t *testing.T, f Format) {
	s, v := newSigner(t, newAuthority(t, time.Now()), time.Now()), f.Variants[0]
	p, err := f.Prepare(t, v.Document, s.SignerIdentity, Options{Variant: v, Level: ades.LTA})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again := f.NewPending()
	if err := again.UnmarshalBinary(stored); err != nil || again.Level() != ades.LTA {
		t.Errorf("level %v, want %v: %v", again.Level(), ades.LTA, err)
	}
	changed := bytes.Replace(stored, []byte(`"level":3`), []byte(`"level":7`), 1)
	if err := again.UnmarshalBinary(changed); err == nil || bytes.Equal(changed, stored) {
		t.Errorf("level 7 is decoded: %s", changed)
	}
}

// store prepares and completes a signature, and returns the golden file.
func (f Format) store(t testing.TB) []byte {
	t.Helper()
	v := f.Variants[0]
	at := time.Now().UTC().Truncate(time.Second)
	signer := newSigner(t, newAuthority(t, at), at)
	s := Stored{Document: v.Document, Root: signer.ca.Root().Raw, Time: at}
	p, err := f.Prepare(t, v.Document, signer.SignerIdentity, Options{Variant: v, Time: at})
	if err != nil {
		t.Fatal(err)
	}
	if s.Pending, err = p.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	if s.Value, err = signer.key.Sign(rand.Reader, p.Digest().Sum, p.Digest().Algorithm.SignerOpts()); err != nil {
		t.Fatal(err)
	}
	if s.Signed, err = p.Complete(t, v.Document, s.Value, nil); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
