package pades_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

func pss(h crypto.Hash) ades.Algorithm { return ades.Algorithm{Hash: h, Scheme: ades.PSS} }

var edwards = ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}

// newPersonWith is a person who signs by an algorithm that is not the default.
func newPersonWith(t testing.TB, ca *sandboxca.Authority, key crypto.Signer, a ades.Algorithm) person {
	t.Helper()
	p := newPerson(t, ca, key)
	p.signer.Algorithm = a
	return p
}

func ed25519Key(t testing.TB) crypto.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// RFC 4056: RSASSA-PSS, with every hash, alone and beside other algorithms.
func TestSignedByPSS(t *testing.T) {
	ca := newAuthority(t)
	small, large := rsaKey(t, 2048), rsaKey(t, 3072)
	var cases []signedCase
	for name, p := range map[string]person{
		"RSA-2048 SHA-256": newPersonWith(t, ca, small, pss(crypto.SHA256)),
		"RSA-3072 SHA-256": newPersonWith(t, ca, large, pss(crypto.SHA256)),
		"RSA-3072 SHA-384": newPersonWith(t, ca, large, pss(crypto.SHA384)),
		"RSA-3072 SHA-512": newPersonWith(t, ca, large, pss(crypto.SHA512)),
	} {
		b := sign(t, pdftest.Build(pdftest.Options{}), p, pades.Options{})
		cases = append(cases, signedCase{name: name, b: b, fields: []string{"Signature1"}})
	}
	mixed := pdftest.Build(pdftest.Options{Kind: pdftest.Kinds[1]})
	for _, p := range []person{newPersonWith(t, ca, large, pss(crypto.SHA256)), newPerson(t, ca, p256(t)), newPerson(t, ca, large)} {
		mixed = sign(t, mixed, p, pades.Options{})
	}
	cases = append(cases, signedCase{name: "mixed", b: mixed, fields: []string{"Signature1", "Signature2", "Signature3"}})
	for _, c := range cases {
		for _, s := range verify(t, c.b, ca) {
			if !s.Passed() || !s.Intact {
				t.Errorf("%s: %s: %v", c.name, s.Indication, s.Problems)
			}
		}
	}
	checkForeign(t, ca, cases)
	t.Run("openssl", func(t *testing.T) {
		for _, c := range cases {
			signature, content := firstSignature(t, c.b)
			if err := validators.OpenSSLCMS(t, []*x509.Certificate{ca.Root()}, signature, content); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// firstSignature returns the /Contents of the first signature of a document, and the
// bytes that its /ByteRange names.
func firstSignature(t *testing.T, b []byte) (signature, content []byte) {
	t.Helper()
	match := regexp.MustCompile(`/ByteRange \[0 (\d+) (\d+) (\d+)\]`).FindSubmatch(b)
	if match == nil {
		t.Fatal("no ByteRange")
	}
	var at [3]int
	for i := range at {
		var err error
		if at[i], err = strconv.Atoi(string(match[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	gap, after, rest := at[0], at[1], at[2]
	signature, err := hex.DecodeString(string(b[gap+1 : after-1]))
	if err != nil {
		t.Fatal(err)
	}
	return signature, append(bytes.Clone(b[:gap]), b[after:after+rest]...)
}

// What pyHanko signs by these algorithms is judged as EU DSS judges it. Its salt is
// another than ours.
func TestForeignSchemes(t *testing.T) {
	ca := newAuthority(t)
	key := rsaKey(t, 2048)
	var paths []string
	var own []ades.SignatureReport
	for _, row := range []struct {
		key          crypto.Signer
		scheme, hash string
		want         ades.Algorithm
	}{
		{key, "pss", "sha256", ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS, Salt: 256 - 32 - 2}},
		{key, "pss", "sha512", ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PSS, Salt: 256 - 64 - 2}},
		{ed25519Key(t), "ed25519", "sha512", edwards},
	} {
		path := signByPyHanko(t, newPerson(t, ca, row.key), row.scheme, row.hash)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := verify(t, b, ca)[0]
		if s.Algorithm != row.want || !s.Intact {
			t.Errorf("%s: %+v", row.scheme, s)
		}
		paths, own = append(paths, path), append(own, s)
	}
	t.Run("EU DSS", func(t *testing.T) {
		for i, report := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}}, paths...) {
			s := report.Signatures[0]
			if s.Intact != own[i].Intact || s.Indication != string(own[i].Indication) || s.SubIndication != string(own[i].SubIndication) {
				t.Errorf("EU DSS: %+v\nwe: %+v", s, own[i])
			}
		}
	})
}

// signByPyHanko returns the path of a document that pyHanko signed.
func signByPyHanko(t *testing.T, p person, scheme, hash string) string {
	t.Helper()
	python := testenv.Tool(t, "pyhanko/bin/python")
	key, cert := writeKey(t, p)
	folder := t.TempDir()
	before, after := filepath.Join(folder, "before.pdf"), filepath.Join(folder, scheme+"-"+hash+".pdf")
	writeFile(t, before, pdftest.Build(pdftest.Options{}))
	command := exec.CommandContext(t.Context(), python, filepath.Join("testdata", "schemes.py"), key, cert, scheme, hash, before, after)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("pyHanko: %v\n%s", err, out)
	}
	return after
}

// The value comes from elsewhere, and after the pending signature was stored. One made by
// another scheme, or with another salt than the attributes say, is refused.
func TestValueHasToBeOfTheScheme(t *testing.T) {
	ca := newAuthority(t)
	key := rsaKey(t, 2048)
	doc := document(pdftest.Build(pdftest.Options{}))
	for name, row := range map[string]struct {
		person person
		opts   crypto.SignerOpts
		want   error
	}{
		"PSS":                       {newPersonWith(t, ca, key, pss(crypto.SHA256)), &rsa.PSSOptions{SaltLength: 32, Hash: crypto.SHA256}, nil},
		"PSS by PKCS #1 v1.5":       {newPersonWith(t, ca, key, pss(crypto.SHA256)), crypto.SHA256, ades.ErrValue},
		"PSS with the longest salt": {newPersonWith(t, ca, key, pss(crypto.SHA256)), &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto, Hash: crypto.SHA256}, ades.ErrValue},
		"PKCS #1 v1.5 by PSS":       {newPerson(t, ca, key), &rsa.PSSOptions{SaltLength: 32, Hash: crypto.SHA256}, ades.ErrValue},
	} {
		t.Run(name, func(t *testing.T) {
			prepared, err := pades.Prepare(t.Context(), doc, row.person.signer, pades.Options{})
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := prepared.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			var p pades.Pending
			if err := p.UnmarshalBinary(encoded); err != nil {
				t.Fatal(err)
			}
			value, err := row.person.key.Sign(rand.Reader, p.Digest().Sum, row.opts)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Complete(t.Context(), value, nil); !errors.Is(err, row.want) {
				t.Errorf("got %v, want %v", err, row.want)
			}
		})
	}
}
