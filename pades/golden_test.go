package pades_test

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/pdftest"
	"github.com/innsigli/innsigli/pades"
)

// golden is a signature that was prepared and stored by an earlier version, with
// what it takes to complete it.
type golden struct {
	Document []byte          `json:"document"`
	Pending  json.RawMessage `json:"pending"`
	Value    []byte          `json:"value"`
	Revision []byte          `json:"revision"`
	Root     []byte          `json:"root"` // DER
	Time     time.Time       `json:"time"` // of the signature
}

const goldenFile = "testdata/pending-1.json"

// What version 1 stored is completed to the same bytes for good. The file is made
// when it is missing, once for each version of the encoding.
func TestStoredPendingStaysReadable(t *testing.T) {
	encoded, err := os.ReadFile(goldenFile)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("INNSIGLI_GOLDEN") == "1" {
		encoded = makeGolden(t)
	} else if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(encoded, &g); err != nil {
		t.Fatal(err)
	}
	var p pades.Pending
	if err := p.UnmarshalBinary(g.Pending); err != nil {
		t.Fatal(err)
	}
	r, err := p.Complete(t.Context(), g.Value, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.Bytes, g.Revision) || r.Base != int64(len(g.Document)) {
		t.Error("the revision is another one than before")
	}
	root, err := x509.ParseCertificate(g.Root)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	report, err := pades.Verify(t.Context(), document(append(g.Document, r.Bytes...)), pades.VerifyOptions{Roots: roots, Time: g.Time})
	if err != nil || !report.Passed() {
		t.Errorf("%+v, %v", report, err)
	}
}

func makeGolden(t *testing.T) []byte {
	t.Helper()
	person := newPerson(t, newAuthority(t), p256(t))
	g := golden{Document: pdftest.Build(pdftest.Options{}), Root: person.ca.Root().Raw, Time: time.Now().UTC()}
	p, err := pades.Prepare(t.Context(), document(g.Document), person.signer, pades.Options{Name: "A signer", Reason: "Undirritun", Location: "Reykjavík", Time: g.Time})
	if err != nil {
		t.Fatal(err)
	}
	if g.Pending, err = p.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	if g.Value, err = person.key.Sign(rand.Reader, p.Digest().Sum, p.Digest().Algorithm.Hash); err != nil {
		t.Fatal(err)
	}
	r, err := p.Complete(t.Context(), g.Value, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Revision = r.Bytes
	encoded, err := json.MarshalIndent(g, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(goldenFile, encoded, 0o644)); err != nil {
		t.Fatal(err)
	}
	return encoded
}

// FuzzVerify reports on arbitrary bytes. The seed is a signed document; nothing
// that differs from it in what is signed may pass.
func FuzzVerify(f *testing.F) {
	encoded, err := os.ReadFile(goldenFile)
	if err != nil {
		f.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(encoded, &g); err != nil {
		f.Fatal(err)
	}
	signed := append(bytes.Clone(g.Document), g.Revision...)
	root, err := x509.ParseCertificate(g.Root)
	if err != nil {
		f.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	f.Add(signed)
	f.Add(g.Document)
	f.Fuzz(func(t *testing.T, b []byte) {
		report, err := pades.Verify(t.Context(), document(b), pades.VerifyOptions{Roots: roots, Time: g.Time})
		if err == nil && report.Passed() && !bytes.Equal(signedPart(b), signedPart(signed)) {
			t.Error("a document that was not signed passes")
		}
	})
}

// signedPart leaves out the string of /Contents, whose padding and upper or lower
// case are not signed.
func signedPart(b []byte) []byte {
	at := bytes.LastIndex(b, []byte("/Contents <"))
	end := bytes.IndexByte(b[max(at, 0):], '>')
	if at < 0 || end < 0 {
		return b
	}
	return append(bytes.Clone(b[:at]), b[at+end:]...)
}
