package dsig

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// signer makes signatures of documents that are written but for digests and values.
type signer struct {
	key       crypto.Signer
	cert      *x509.Certificate
	algorithm ades.Algorithm
}

func newSigner(t testing.TB, key crypto.Signer, a ades.Algorithm) signer {
	t.Helper()
	return signer{key, certtest.Issue(t, x509.Certificate{SerialNumber: big.NewInt(1)}, key, nil, nil), a}
}

// rsaKey is one for all tests: it takes long to make.
var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newRSASigner(t testing.TB, a ades.Algorithm) signer {
	t.Helper()
	key, err := rsaKey()
	if err != nil {
		t.Fatal(err)
	}
	return newSigner(t, key, a)
}

func newECDSASigner(t testing.TB) signer {
	t.Helper()
	return newSigner(t, certtest.NewKey(t, elliptic.P256()), ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA})
}

func newEd25519Signer(t testing.TB) signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newSigner(t, key, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519})
}

// signature is a ds:Signature over references, without digests and value. What follows stands in it last.
func (k signer) signature(t testing.TB, references string, following ...string) string {
	t.Helper()
	method, err := SignatureMethod(k.algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return `<ds:Signature xmlns:ds="` + Namespace + `" Id="sig"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="` + exclusive + `"/>` +
		`<ds:SignatureMethod Algorithm="` + method + `"/>` + references + `</ds:SignedInfo><ds:SignatureValue/>` +
		`<ds:KeyInfo><ds:X509Data><ds:X509Certificate>` + base64.StdEncoding.EncodeToString(k.cert.Raw) +
		`</ds:X509Certificate></ds:X509Data></ds:KeyInfo>` + strings.Join(following, "") + `</ds:Signature>`
}

// reference is a ds:Reference with SHA-256, without its digest.
func reference(uri string, transforms ...string) string {
	list := strings.Join(transforms, "")
	if list != "" {
		list = "<ds:Transforms>" + list + "</ds:Transforms>"
	}
	return `<ds:Reference URI="` + uri + `">` + list + `<ds:DigestMethod Algorithm="` + xmlenc + `sha256"/><ds:DigestValue/></ds:Reference>`
}

func transform(algorithm string, parameters ...string) string {
	return `<ds:Transform Algorithm="` + algorithm + `">` + strings.Join(parameters, "") + `</ds:Transform>`
}

// The transforms of signatures that are in what they sign.
var (
	enveloped = transform(transformEnveloped)
	excC14N   = transform(exclusive)
	xpath     = transform(transformXPath, "<ds:XPath>not(ancestor-or-self::ds:Signature)</ds:XPath>")
	filter2   = transform(transformFilter2, `<f:XPath xmlns:f="`+transformFilter2+`" Filter="subtract">/descendant::ds:Signature</f:XPath>`)
	// rootFilter is what EU DSS has written too.
	rootFilter = transform(transformFilter2, `<f:XPath xmlns:f="`+transformFilter2+`" Filter="subtract"> /*/ds:Signature </f:XPath>`)
	// shortFilter is filter2 by the short form of its axis.
	shortFilter = transform(transformFilter2, `<f:XPath xmlns:f="`+transformFilter2+`" Filter="subtract">//ds:Signature</f:XPath>`)
)

// sign fills digests and values of all signatures in.
func (k signer) sign(t testing.TB, document string) string {
	t.Helper()
	for i := range signatures(t, document) {
		for j := range signatures(t, document)[i].References {
			s := signatures(t, document)[i]
			sum, err := s.digest(t.Context(), s.References[j])
			if err != nil {
				t.Fatal(err)
			}
			document = fill(document, sequenceOf(s.References[j].Element).last(), sum)
		}
		s := signatures(t, document)[i]
		document = fill(document, s.SignatureValue, k.value(t, s))
	}
	return document
}

func (s *sequence) last() xmldoc.Node { return s.rest[len(s.rest)-1] }

func (k signer) value(t testing.TB, s *Signature) []byte {
	t.Helper()
	var signedInfo bytes.Buffer
	if err := s.Document.Canonicalize(&signedInfo, s.Canonicalization, xmldoc.Subset{Apex: s.SignedInfo}); err != nil {
		t.Fatal(err)
	}
	digest := k.algorithm.Digest(signedInfo.Bytes())
	der, err := k.key.Sign(rand.Reader, digest.Sum, k.algorithm.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	value, err := EncodeValue(k.algorithm, k.key.Public(), der)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// fill puts base64 into an element that is an empty-element tag.
func fill(document string, n xmldoc.Node, octets []byte) string {
	start, end := n.Span()
	tag := strings.TrimSuffix(document[start:end], "/>")
	name, _, _ := strings.Cut(tag[1:], " ")
	return document[:start] + tag + ">" + base64.StdEncoding.EncodeToString(octets) + "</" + name + ">" + document[end:]
}
