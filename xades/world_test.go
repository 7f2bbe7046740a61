package xades_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

// person is a key with a certificate of a test authority.
type person struct {
	signer ades.SignerIdentity
	key    crypto.Signer
	ca     *sandboxca.Authority
}

// newPerson returns a signer with an algorithm, or with the default one of the key.
func newPerson(t testing.TB, ca *sandboxca.Authority, key crypto.Signer, algorithm ...ades.Algorithm) person {
	t.Helper()
	p := newPersonAt(t, ca, key, time.Now())
	for _, a := range algorithm {
		p.signer.Algorithm = a
	}
	return p
}

// newPersonAt returns a signer whose certificate was issued at a time.
func newPersonAt(t testing.TB, ca *sandboxca.Authority, key crypto.Signer, at time.Time) person {
	t.Helper()
	return person{catest.IssueSigner(t, ca, key, at), key, ca}
}

func p256(t testing.TB) crypto.Signer { return certtest.NewKey(t, elliptic.P256()) }

func pss(h crypto.Hash) ades.Algorithm { return ades.Algorithm{Hash: h, Scheme: ades.PSS} }

// scheme is an algorithm with a key for it.
type scheme struct {
	name      string
	key       crypto.Signer
	algorithm ades.Algorithm
}

// schemes are the algorithms that validators in the European Union rely on.
func schemes(t testing.TB) []scheme {
	t.Helper()
	long := certtest.NewRSAKey(t, 3072)
	return []scheme{
		{"RSA", long, ades.Algorithm{}},
		{"RSA SHA-512", long, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}},
		{"PSS", long, pss(crypto.SHA256)},
		{"PSS SHA-384", long, pss(crypto.SHA384)},
		{"P-256", p256(t), ades.Algorithm{}},
		{"P-384", certtest.NewKey(t, elliptic.P384()), ades.Algorithm{}},
		{"P-521", certtest.NewKey(t, elliptic.P521()), ades.Algorithm{}},
	}
}

// packing is a way to pack a signature.
type packing struct {
	name    string
	packing xades.Packing
	base64  bool
}

func (p packing) options() xades.Options { return xades.Options{Packing: p.packing, Base64: p.base64} }

var packings = []packing{
	{"enveloped", xades.Enveloped, false},
	{"enveloping", xades.Enveloping, false},
	{"enveloping base64", xades.Enveloping, true},
	{"internally detached", xades.InternallyDetached, false},
}

// contract is an ordinary document.
const contract = `<?xml version="1.0" encoding="UTF-8"?>
<!-- two copies -->
<contract xmlns="urn:example:contract" number="17">
  <party role="seller">Jóna</party>
  <price currency="ISK">250000</price>
</contract>
`

func document(b []byte) xades.Document {
	return xades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

// apply applies revisions to a document, one after another.
func apply(t testing.TB, b []byte, revisions ...xades.Revision) []byte {
	t.Helper()
	doc := document(b)
	for _, r := range revisions {
		if r.Base != doc.Size {
			t.Fatalf("revision of a document of %d bytes, for one of %d", doc.Size, r.Base)
		}
		doc = doc.With(r)
	}
	out, err := io.ReadAll(io.NewSectionReader(doc, 0, doc.Size))
	if err != nil || int64(len(out)) != doc.Size {
		t.Fatalf("%d of %d bytes: %v", len(out), doc.Size, err)
	}
	return out
}

// sign signs at level B, and expects no error of Check.
func sign(t testing.TB, b []byte, p person, o xades.Options) []byte {
	t.Helper()
	if err := xades.Check(t.Context(), document(b), o); err != nil {
		t.Errorf("checked: %v", err)
	}
	r, err := xades.Sign(t.Context(), document(b), p.key, p.signer, o, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	return apply(t, b, r)
}

// signFor signs for a level: at level T at most.
func signFor(t testing.TB, b []byte, p person, level ades.Level, o xades.Options) []byte {
	t.Helper()
	o.Level = level
	pending, err := xades.Prepare(t.Context(), document(b), p.signer, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := pending.Sign(t.Context(), p.key, p.ca.Sources(nil).Time)
	if err != nil {
		t.Fatal(err)
	}
	return apply(t, b, r)
}

// signLevel signs at a level: at LT and LTA, all signatures of the document are raised to it.
func signLevel(t testing.TB, b []byte, p person, level ades.Level, o xades.Options) []byte {
	t.Helper()
	b = signFor(t, b, p, level, o)
	if level < ades.LT {
		return b
	}
	return extend(t, b, level, p.ca.Sources(nil))
}

func extend(t testing.TB, b []byte, level ades.Level, s ades.Sources) []byte {
	t.Helper()
	return mustExtend(t, b, level, s, xades.Extender.Extend)
}

func renew(t testing.TB, b []byte, s ades.Sources) []byte {
	t.Helper()
	return mustExtend(t, b, ades.LTA, s, renewer)
}

func mustExtend(t testing.TB, b []byte, level ades.Level, s ades.Sources, run extender) []byte {
	t.Helper()
	revisions, err := run(xades.Extender{Sources: s}, t.Context(), document(b), level)
	if err != nil {
		t.Fatal(err)
	}
	return apply(t, b, revisions...)
}

func verify(t testing.TB, b []byte, ca *sandboxca.Authority) []ades.SignatureReport {
	t.Helper()
	report, err := xades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	return report.Signatures
}

func writeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// paragraphs returns a document of at least some bytes.
func paragraphs(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`<book>`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\n<p n=\"%d\">Gjörið svo vel &amp; takk: <b>%d</b> <!-- kept --></p>", i, i*i)
	}
	b.WriteString("\n</book>\n")
	return b.Bytes()
}

func readFile(t testing.TB, path string) []byte { return testenv.ReadFile(t, path) }
