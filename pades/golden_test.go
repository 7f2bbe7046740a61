package pades_test

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
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
	encoded := testenv.Golden(t, goldenFile, func() []byte { return makeGolden(t) })
	var g golden
	if err := json.Unmarshal(encoded, &g); err != nil {
		t.Fatal(err)
	}
	var p pades.Pending
	if err := p.UnmarshalBinary(g.Pending); err != nil {
		t.Fatal(err)
	}
	var stored bytes.Buffer
	if err := json.Compact(&stored, g.Pending); err != nil {
		t.Fatal(err)
	}
	if again, err := p.MarshalBinary(); err != nil || !bytes.Equal(again, stored.Bytes()) {
		t.Errorf("it is encoded in another way than before: %v\n%s", err, again)
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
	report, err := pades.Verify(t.Context(), document(append(g.Document, r.Bytes...)), ades.VerifyOptions{Roots: roots, Time: g.Time})
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
	return encoded
}

// goldenSigned is the signed document.
func goldenSigned(t testing.TB) []byte {
	t.Helper()
	encoded, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(encoded, &g); err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(g.Document), g.Revision...)
}

// goldenRoot is the certificate of the authority of the document, and when that was signed.
func goldenRoot(t testing.TB) ([]byte, time.Time) {
	t.Helper()
	encoded, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(encoded, &g); err != nil {
		t.Fatal(err)
	}
	return g.Root, g.Time
}
