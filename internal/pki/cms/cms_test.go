package cms

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// signer is a key with its certificate and the root it comes from.
type signer struct {
	ades.Signer
	key  crypto.Signer
	root *x509.Certificate
}

func newSigner(t testing.TB, key crypto.Signer, a ades.Algorithm) signer {
	t.Helper()
	cert, root := issue(t, key)
	s, err := ades.Signer{Certificate: cert, Chain: []*x509.Certificate{root}, Algorithm: a}.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	return signer{s, key, root}
}

// issue makes a certificate and its root.
func issue(t testing.TB, key crypto.Signer) (cert, root *x509.Certificate) {
	t.Helper()
	by := certtest.NewKey(t, elliptic.P256())
	root = certtest.Issue(t, x509.Certificate{
		Subject:               pkix.Name{CommonName: "Root"},
		BasicConstraintsValid: true,
		IsCA:                  true,
		KeyUsage:              x509.KeyUsageCertSign,
	}, by, nil, nil)
	leaf := x509.Certificate{Subject: pkix.Name{CommonName: "Dæmi um nafn"}, KeyUsage: x509.KeyUsageContentCommitment}
	return certtest.Issue(t, leaf, key, root, by), root
}

// parts are those of a signature over the content.
func (s signer) parts(t testing.TB, content []byte) Parts {
	t.Helper()
	attributes, err := SignedAttributes(s.Certificate, s.Algorithm, digest(s.Algorithm.Hash, content))
	if err != nil {
		t.Fatal(err)
	}
	value, err := s.key.Sign(rand.Reader, s.Algorithm.Digest(attributes).Sum, s.Algorithm.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	return Parts{Certificate: s.Certificate, Chain: s.Chain, Algorithm: s.Algorithm, SignedAttributes: attributes, Value: value}
}

func (s signer) sign(t testing.TB, content []byte) []byte {
	t.Helper()
	return mustMarshal(t, s.parts(t, content))
}

func digest(h crypto.Hash, b []byte) []byte {
	sum := h.New()
	sum.Write(b)
	return sum.Sum(nil)
}

func keys(t testing.TB) map[string]struct {
	key       crypto.Signer
	algorithm ades.Algorithm
} {
	t.Helper()
	type row = struct {
		key       crypto.Signer
		algorithm ades.Algorithm
	}
	rows := make(map[string]row)
	for name, bits := range map[string]int{"RSA-2048": 2048, "RSA-3072": 3072} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		rows[name] = row{key: key}
		rows[name+" SHA-512"] = row{key, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}}
		for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
			rows[name+" PSS "+h.String()] = row{key, ades.Algorithm{Hash: h, Scheme: ades.PSS}}
		}
	}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		rows[curve.Params().Name] = row{key: certtest.NewKey(t, curve)}
	}
	return rows
}

func TestWrittenSignatureVerifies(t *testing.T) {
	content := []byte("the bytes of a document")
	for name, row := range keys(t) {
		t.Run(name, func(t *testing.T) {
			s := newSigner(t, row.key, row.algorithm)
			sd, err := Parse(append(s.sign(t, content), 0, 0, 0))
			if err != nil {
				t.Fatal(err)
			}
			if err := sd.Verify(digest(sd.Algorithm().Hash, content)); err != nil {
				t.Error(err)
			}
			if err := sd.CheckBinding(); err != nil {
				t.Error(err)
			}
			if sd.Algorithm() != s.Algorithm {
				t.Errorf("algorithm %v, want %v", sd.Algorithm(), s.Algorithm)
			}
			if err := sd.Verify(digest(sd.Algorithm().Hash, content[1:])); !errors.Is(err, ErrDigest) {
				t.Errorf("other content: %v", err)
			}
		})
	}
}

// openssl checks the value, the chain and, with -cades, the signing certificate
// attribute.
func TestOpenSSLAcceptsCAdES(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	content := []byte("the bytes of a document")
	for name, row := range keys(t) {
		t.Run(name, func(t *testing.T) {
			s := newSigner(t, row.key, row.algorithm)
			folder := t.TempDir()
			path := func(name string, b []byte) string {
				path := filepath.Join(folder, name)
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			run := func(content []byte) ([]byte, error) {
				return exec.Command(openssl, "cms", "-verify", "-cades", "-binary", "-inform", "DER", "-purpose", "any",
					"-in", path("cms.der", s.sign(t, []byte("the bytes of a document"))),
					"-content", path("content", content),
					"-CAfile", path("root.pem", certtest.PEM(s.root)),
					"-out", os.DevNull).CombinedOutput()
			}
			if out, err := run(content); err != nil {
				t.Errorf("openssl: %v\n%s", err, out)
			}
			if _, err := run(content[1:]); err == nil {
				t.Error("openssl accepts other content: the test proves nothing")
			}
		})
	}
}

func TestVerifyRefuses(t *testing.T) {
	content := []byte("the bytes of a document")
	key := certtest.NewKey(t, elliptic.P256())
	s := newSigner(t, key, ades.Algorithm{})
	other := newSigner(t, key, ades.Algorithm{}) // same key, another certificate
	sum := digest(crypto.SHA256, content)

	attributesFor := func(cert signer) []byte {
		a, err := SignedAttributes(cert.Certificate, s.Algorithm, sum)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	build := func(carried signer, attributes, signed []byte) []byte {
		value, err := key.Sign(rand.Reader, digest(crypto.SHA256, signed), crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		der, err := Marshal(Parts{Certificate: carried.Certificate, Algorithm: s.Algorithm, SignedAttributes: attributes, Value: value})
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	own := attributesFor(s)
	stripped := build(s, own, own)
	if i := bytes.Index(stripped, []byte{9, 16, 2, 47}); i > 0 { // the end of id-aa-signingCertificateV2
		stripped[i+3]--
	}
	tests := []struct {
		name string
		der  []byte
		want error
	}{
		{"value over other attributes", build(s, own, append([]byte{0}, own...)), ades.ErrValue},
		{"another certificate bound than carried", build(other, own, own), ErrBinding},
		{"attribute changed after signing", stripped, ades.ErrValue},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sd, err := Parse(tt.der)
			if err != nil {
				t.Fatal(err)
			}
			err = sd.Verify(sum)
			if err == nil {
				err = sd.CheckBinding()
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	key := certtest.NewKey(t, elliptic.P256())
	der := newSigner(t, key, ades.Algorithm{}).sign(t, []byte("x"))
	for name, b := range map[string][]byte{
		"empty":           nil,
		"zeros":           make([]byte, 100),
		"truncated":       der[:len(der)-1],
		"bytes after it":  append(bytes.Clone(der), 0, 1),
		"deep nesting":    bytes.Repeat([]byte{0x30, 0x80}, 10_000),
		"length overflow": {0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	} {
		if _, err := Parse(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The same signature in indefinite lengths, as some software writes it.
func TestParseReadsBER(t *testing.T) {
	key := certtest.NewKey(t, elliptic.P256())
	content := []byte("the bytes of a document")
	der := newSigner(t, key, ades.Algorithm{}).sign(t, content)
	ber := indefinite(t, der)
	if bytes.Equal(ber, der) {
		t.Fatal("the test's BER is DER")
	}
	sd, err := Parse(ber)
	if err != nil {
		t.Fatal(err)
	}
	if err := sd.Verify(digest(crypto.SHA256, content)); err != nil {
		t.Error(err)
	}
	again, rest, err := DER(ber)
	if err != nil || len(rest) > 0 || !bytes.Equal(again, der) {
		t.Errorf("rewriting the BER does not give the DER back: %v", err)
	}
}

// indefinite rewrites the constructed elements of the outer levels.
func indefinite(t *testing.T, der []byte) []byte {
	t.Helper()
	e, err := readElement(der, maxDepth)
	if err != nil {
		t.Fatal(err)
	}
	if !e.constructed() {
		return der[:e.size]
	}
	out := append(bytes.Clone(e.identifier), 0x80)
	for rest := e.contents; len(rest) > 0; {
		child, err := readElement(rest, maxDepth)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(child.identifier, []byte{0xa0}) || len(child.contents) > 1200 {
			out = append(out, indefinite(t, rest[:child.size])...)
		} else {
			out = append(out, rest[:child.size]...)
		}
		rest = rest[child.size:]
	}
	return append(out, 0, 0)
}
