package cms

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/testenv"
)

// Tokens are not looked into here: any SEQUENCE is one.
var (
	firstToken  = []byte{0x30, 3, 2, 1, 1}
	secondToken = []byte{0x30, 3, 2, 1, 2}
)

func newP256Signer(t testing.TB) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newSigner(t, key, ades.Algorithm{})
}

// parts are those of a signature over the content.
func (s signer) parts(t testing.TB, content []byte) Parts {
	t.Helper()
	attributes, err := SignedAttributes(s.Certificate, s.Algorithm, digest(s.Algorithm.Hash, content))
	if err != nil {
		t.Fatal(err)
	}
	value, err := s.key.Sign(rand.Reader, digest(s.Algorithm.Hash, attributes), s.Algorithm.Hash)
	if err != nil {
		t.Fatal(err)
	}
	return Parts{Certificate: s.Certificate, Chain: s.Chain, Algorithm: s.Algorithm, SignedAttributes: attributes, Value: value}
}

func mustMarshal(t testing.TB, p Parts) []byte {
	t.Helper()
	der, err := Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// EN 319 122-1 5.3: the token is an unsigned attribute, put in while the signature is
// written or afterwards, and there may be several.
func TestSignatureTimestamps(t *testing.T) {
	content := []byte("the bytes of a document")
	bare := newP256Signer(t).parts(t, content)
	stamped := bare
	stamped.SignatureTimestamp = firstToken
	later, err := AddSignatureTimestamp(append(mustMarshal(t, bare), 0, 0), firstToken)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mustMarshal(t, stamped), later); diff != "" {
		t.Errorf("written at once (-) and added (+):\n%s", diff)
	}
	twice, err := AddSignatureTimestamp(later, secondToken)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		der    []byte
		tokens [][]byte
	}{
		{"none", mustMarshal(t, bare), nil},
		{"one", later, [][]byte{firstToken}},
		{"two", twice, [][]byte{firstToken, secondToken}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sd, err := Parse(tt.der)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.tokens, sd.SignatureTimestamps()); diff != "" {
				t.Error(diff)
			}
			if err := sd.Verify(digest(crypto.SHA256, content)); err != nil {
				t.Error(err)
			}
			if !bytes.Equal(sd.Value, bare.Value) {
				t.Error("the signature value is another")
			}
		})
	}
}

func TestTimestampIsNotAdded(t *testing.T) {
	der := mustMarshal(t, newP256Signer(t).parts(t, []byte("x")))
	for _, tt := range []struct {
		name             string
		signature, token []byte
		want             error
	}{
		{"to BER, which would change", indefinite(t, der), firstToken, ErrNotDER},
		{"to no signature", firstToken, firstToken, ErrFormat},
		{"of two elements", der, append(bytes.Clone(firstToken), secondToken...), ErrFormat},
		{"cut short", der, firstToken[:4], ErrFormat},
	} {
		if _, err := AddSignatureTimestamp(tt.signature, tt.token); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// OpenSSL reads the signature with the attribute in it.
func TestOpenSSLAcceptsUnsignedAttributes(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	content := []byte("the bytes of a document")
	s := newP256Signer(t)
	p := s.parts(t, content)
	p.SignatureTimestamp = firstToken
	der, err := AddSignatureTimestamp(mustMarshal(t, p), secondToken)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	in := write("cms.der", der)
	out, err := exec.Command(openssl, "cms", "-verify", "-cades", "-binary", "-inform", "DER", "-purpose", "any",
		"-in", in, "-content", write("content", content), "-out", os.DevNull,
		"-CAfile", write("root.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.root.Raw}))).CombinedOutput()
	if err != nil {
		t.Errorf("openssl cms: %v\n%s", err, out)
	}
	out, err = exec.Command(openssl, "cms", "-cmsout", "-print", "-noout", "-inform", "DER", "-in", in).CombinedOutput()
	if err != nil || bytes.Count(out, []byte("id-smime-aa-timeStampToken")) != 2 {
		t.Errorf("openssl does not print two timestamps: %v\n%s", err, out)
	}
}

// RFC 5652 5.3: signed attributes occur once each, unsigned ones may repeat; their
// number has a bound.
func TestAttributesRepeated(t *testing.T) {
	p := newP256Signer(t).parts(t, []byte("x"))
	e, err := readElement(p.SignedAttributes, 2)
	if err != nil {
		t.Fatal(err)
	}
	first, err := readElement(e.contents, 2)
	if err != nil {
		t.Fatal(err)
	}
	repeated := p
	repeated.SignedAttributes = appendTLV(nil, e.identifier, append(bytes.Clone(e.contents), e.contents[:first.size]...))
	if _, err := Parse(mustMarshal(t, repeated)); !errors.Is(err, ErrFormat) {
		t.Errorf("a signed attribute twice: %v", err)
	}
	der := mustMarshal(t, p)
	for range maxAttributes {
		if der, err = AddSignatureTimestamp(der, firstToken); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Parse(der); err != nil {
		t.Errorf("%d unsigned attributes: %v", maxAttributes, err)
	}
	if der, err = AddSignatureTimestamp(der, firstToken); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(der); !errors.Is(err, ErrFormat) {
		t.Errorf("%d unsigned attributes: %v", maxAttributes+1, err)
	}
}

// FuzzAddSignatureTimestamp: what is added is found again, and nothing else changed.
func FuzzAddSignatureTimestamp(f *testing.F) {
	p := newP256Signer(f).parts(f, []byte("x"))
	f.Add(mustMarshal(f, p), firstToken)
	p.SignatureTimestamp = firstToken
	f.Add(mustMarshal(f, p), secondToken)
	f.Fuzz(func(t *testing.T, signature, token []byte) {
		der, err := AddSignatureTimestamp(signature, token)
		if err != nil {
			return
		}
		before, err := Parse(signature)
		if err != nil {
			t.Fatal("added to what is no signature")
		}
		after, err := Parse(der)
		if err != nil {
			if len(before.unsigned) < maxAttributes {
				t.Fatalf("no signature any more: %v", err)
			}
			return
		}
		if len(after.SignatureTimestamps()) != len(before.SignatureTimestamps())+1 {
			t.Error("not one token more")
		}
		if !bytes.Equal(after.Value, before.Value) || !bytes.Equal(after.SignedAttributes, before.SignedAttributes) {
			t.Error("the signature changed")
		}
	})
}
