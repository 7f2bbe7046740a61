package cms

import (
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// document is the content of most signatures.
var document = []byte("the bytes of a document")

// oidTest is the type of encapsulated content.
var oidTest = asn1.ObjectIdentifier{2, 999, 1}

// signer is a signer with its key and the root of its certificate.
type signer struct {
	ades.SignerIdentity
	key  crypto.Signer
	root *x509.Certificate
}

// newSigner returns a signer with a new certificate. A zero algorithm is the default of the key.
func newSigner(t testing.TB, key crypto.Signer, a ades.Algorithm) signer {
	t.Helper()
	root := certtest.New(t, "Root", nil, certtest.Authority)
	cert := certtest.NewForKey(t, "Dæmi um nafn", key, root, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageContentCommitment })
	s := ades.SignerIdentity{Certificate: cert.Cert, Chain: []*x509.Certificate{root.Cert}, Algorithm: a}
	if a.Scheme != ades.Ed25519 { // Resolve refuses it: such signatures are only verified
		var err error
		if s, err = s.Resolve(); err != nil {
			t.Fatal(err)
		}
	}
	return signer{s, key, root.Cert}
}

func newP256Signer(t testing.TB) signer {
	t.Helper()
	return newSigner(t, certtest.NewKey(t, elliptic.P256()), ades.Algorithm{})
}

func newRSASigner(t testing.TB, a ades.Algorithm) signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	testenv.NoError(t, err)
	return newSigner(t, key, a)
}

func newEd25519Signer(t testing.TB) signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	testenv.NoError(t, err)
	return newSigner(t, key, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519})
}

// detached returns the parts of a detached signature.
func (s signer) detached(t testing.TB, content []byte) Parts {
	t.Helper()
	attributes, err := SignedAttributes(s.Certificate, s.Algorithm, sum(s.Algorithm.Hash, content))
	testenv.NoError(t, err)
	return s.sign(t, attributes)
}

// encapsulated returns the parts of a signature that contains the content.
func (s signer) encapsulated(t testing.TB, contentType asn1.ObjectIdentifier, content []byte) Parts {
	t.Helper()
	attributes, err := SignedAttributesForContent(contentType, s.Certificate, s.Algorithm, sum(s.Algorithm.Hash, content))
	testenv.NoError(t, err)
	p := s.sign(t, attributes)
	p.ContentType, p.Content = contentType, content
	return p
}

// sign signs attributes.
func (s signer) sign(t testing.TB, attributes []byte) Parts {
	t.Helper()
	value, err := s.key.Sign(rand.Reader, s.Algorithm.Digest(attributes).Sum, s.Algorithm.SignerOpts())
	testenv.NoError(t, err)
	return Parts{Certificate: s.Certificate, Chain: s.Chain, Algorithm: s.Algorithm, SignedAttributes: attributes, Value: value}
}

func mustMarshal(t testing.TB, p Parts) []byte {
	t.Helper()
	der, err := Marshal(p)
	testenv.NoError(t, err)
	return der
}

func mustParse(t testing.TB, der []byte) *SignedData {
	t.Helper()
	sd, err := Parse(der)
	testenv.NoError(t, err)
	return sd
}

func sum(h crypto.Hash, b []byte) []byte {
	w := h.New()
	w.Write(b)
	return w.Sum(nil)
}

// writeSigner writes cert.pem and key.pem for openssl.
func writeSigner(t testing.TB, o testenv.OpenSSL, s signer) {
	t.Helper()
	o.Write("cert.pem", certtest.PEM(s.Certificate))
	o.Write("key.pem", certtest.PEMKey(t, s.key))
}

// signByOpenSSL returns a signature over document that openssl made with cert.pem and key.pem.
func signByOpenSSL(o testenv.OpenSSL, options ...string) []byte {
	o.Write("content", document)
	o.Run(append([]string{"cms", "-sign", "-binary", "-signer", "cert.pem", "-inkey", "key.pem",
		"-in", "content", "-outform", "DER", "-out", "signed"}, options...)...)
	return o.Read("signed")
}

// opensslMessages returns messages with one key and certificate in forms that openssl writes: signatures over
// document, and the last one with certificates only.
func opensslMessages(t testing.TB) [][]byte {
	t.Helper()
	o := testenv.NewOpenSSL(t)
	writeSigner(t, o, newRSASigner(t, ades.Algorithm{}))
	var all [][]byte
	for _, options := range [][]string{
		{"-md", "sha256"},
		{"-md", "sha512", "-cades", "-nosmimecap"},
		{"-md", "sha1"},
		{"-md", "sha256", "-nocerts"},
		{"-md", "sha256", "-noattr"},
		{"-md", "sha256", "-nodetach"},
		{"-md", "sha256", "-nodetach", "-stream"},
		{"-md", "sha256", "-stream"},
		{"-md", "sha256", "-keyopt", "rsa_padding_mode:pss"},
	} {
		all = append(all, signByOpenSSL(o, options...))
	}
	o.Run("crl2pkcs7", "-nocrl", "-certfile", "cert.pem", "-outform", "DER", "-out", "certificates")
	return append(all, o.Read("certificates"))
}

// indefinite rewrites the constructed elements of the outer levels in the indefinite form of length.
func indefinite(t *testing.T, der []byte) []byte {
	t.Helper()
	e, err := readElement(der, maxDepth)
	testenv.NoError(t, err)
	if !e.constructed() {
		return der[:e.size]
	}
	out := append([]byte{e.identifier[0]}, 0x80)
	for rest := e.contents; len(rest) > 0; {
		child, err := readElement(rest, maxDepth)
		testenv.NoError(t, err)
		element := rest[:child.size]
		if child.identifier[0] == byte(tagContext0) || len(child.contents) > 1200 {
			element = indefinite(t, element)
		}
		out, rest = append(out, element...), rest[child.size:]
	}
	return append(out, 0, 0)
}
