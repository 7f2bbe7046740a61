package cms

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"encoding/asn1"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/cryptobyte"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Tokens are not looked into here: any SEQUENCE is one.
var (
	firstToken  = []byte{0x30, 3, 2, 1, 1}
	secondToken = []byte{0x30, 3, 2, 1, 2}
)

func newP256Signer(t testing.TB) signer {
	t.Helper()
	return newSigner(t, certtest.NewKey(t, elliptic.P256()), ades.Algorithm{})
}

func mustMarshal(t testing.TB, p Parts) []byte {
	t.Helper()
	der, err := Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// message is a signature in encoding/asn1, which writes what Marshal would not.
type message struct {
	ContentType asn1.ObjectIdentifier
	SignedData  struct {
		Version                        int
		Digests, Content, Certificates asn1.RawValue
		Signers                        []struct {
			Version                             int
			Name, Digest, Attributes, Algorithm asn1.RawValue
			Value                               []byte
			Unsigned                            []asn1.RawValue `asn1:"optional,set,tag:1"`
		} `asn1:"set"`
	} `asn1:"explicit,tag:0"`
}

// timestamped gives a signature tokens, instead of those that it has.
func timestamped(t *testing.T, signature []byte, tokens ...[]byte) []byte {
	t.Helper()
	var m message
	if _, err := asn1.Unmarshal(signature, &m); err != nil {
		t.Fatal(err)
	}
	unsigned := &m.SignedData.Signers[0].Unsigned
	*unsigned = nil
	for _, token := range tokens {
		attribute, err := marshalSignatureTimestamp(token)
		if err != nil {
			t.Fatal(err)
		}
		*unsigned = append(*unsigned, asn1.RawValue{FullBytes: attribute})
	}
	der, err := asn1.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// EN 319 122-1 5.3: the token is an unsigned attribute, and there may be several.
func TestSignatureTimestamps(t *testing.T) {
	content := []byte("the bytes of a document")
	bare := newP256Signer(t).parts(t, content)
	stamped := bare
	stamped.SignatureTimestamp = firstToken
	once := mustMarshal(t, stamped)
	if diff := cmp.Diff(once, timestamped(t, mustMarshal(t, bare), firstToken)); diff != "" {
		t.Errorf("written (-) and added (+):\n%s", diff)
	}
	for _, tt := range []struct {
		name   string
		der    []byte
		tokens [][]byte
	}{
		{"none", mustMarshal(t, bare), nil},
		{"one", once, [][]byte{firstToken}},
		{"two", timestamped(t, once, secondToken, firstToken), [][]byte{firstToken, secondToken}},
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

func TestTokenThatIsNone(t *testing.T) {
	p := newP256Signer(t).parts(t, []byte("x"))
	for name, token := range map[string][]byte{
		"nothing":      {},
		"two elements": append(bytes.Clone(firstToken), secondToken...),
		"cut short":    firstToken[:4],
		"no SEQUENCE":  {2, 1, 1},
	} {
		p.SignatureTimestamp = token
		if _, err := Marshal(p); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
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
	der := mustMarshal(t, p)
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
		"-CAfile", write("root.pem", certtest.PEM(s.root))).CombinedOutput()
	if err != nil {
		t.Errorf("openssl cms: %v\n%s", err, out)
	}
	out, err = exec.Command(openssl, "cms", "-cmsout", "-print", "-noout", "-inform", "DER", "-in", in).CombinedOutput()
	if err != nil || bytes.Count(out, []byte("id-smime-aa-timeStampToken")) != 1 {
		t.Errorf("openssl does not print the timestamp: %v\n%s", err, out)
	}
}

// RFC 5652 11: the signed attributes that are known occur once each, others and unsigned
// ones may repeat; their number has a bound.
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
	private, err := marshalAttribute(asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 99999, 1}, func(b *cryptobyte.Builder) { b.AddASN1Int64(1) })
	if err != nil {
		t.Fatal(err)
	}
	repeated.SignedAttributes = appendTLV(nil, e.identifier, slices.Concat(e.contents, private, private))
	if _, err := Parse(mustMarshal(t, repeated)); err != nil {
		t.Errorf("somebody's own signed attribute twice: %v", err)
	}
	for n, want := range map[int]error{maxAttributes: nil, maxAttributes + 1: ErrFormat} {
		if _, err := Parse(timestamped(t, mustMarshal(t, p), slices.Repeat([][]byte{firstToken}, n)...)); !errors.Is(err, want) {
			t.Errorf("%d unsigned attributes: %v, want %v", n, err, want)
		}
	}
}
