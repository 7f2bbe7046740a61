package dsig

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

func parse(t testing.TB, document string) *xmldoc.Document {
	t.Helper()
	d, err := xmldoc.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// readAll reads the signatures of a document.
func readAll(t testing.TB, document string) (all []*Signature) {
	t.Helper()
	d := parse(t, document)
	reader := NewReader(t.Context(), d)
	for _, n := range Find(d) {
		s, err := reader.Read(n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// verify verifies all signatures of a document with the first certificate of each.
func verify(ctx context.Context, document string) error {
	d, err := xmldoc.Parse([]byte(document))
	if err != nil {
		return err
	}
	found := Find(d)
	if len(found) == 0 {
		return errors.New("no signature")
	}
	reader := NewReader(ctx, d)
	for _, n := range found {
		if err := verifyElement(ctx, reader, n); err != nil {
			return err
		}
	}
	return nil
}

func verifyElement(ctx context.Context, reader *Reader, n xmldoc.Node) error {
	s, err := reader.Read(n)
	if err != nil {
		return err
	}
	for _, r := range s.References {
		if err := s.VerifyReference(ctx, r); err != nil {
			return err
		}
	}
	if len(s.Certificates) == 0 {
		return errors.New("no certificate")
	}
	return s.VerifyValue(s.Certificates[0])
}

// signer signs documents that have signatures without digests and values.
type signer struct {
	key       crypto.Signer
	cert      *x509.Certificate
	algorithm ades.Algorithm
}

func newSigner(t testing.TB, key crypto.Signer, a ades.Algorithm) signer {
	t.Helper()
	return signer{key, certtest.Issue(t, x509.Certificate{}, key, nil, nil), a}
}

func newECDSASigner(t testing.TB) signer {
	t.Helper()
	return newSigner(t, certtest.NewKey(t, elliptic.P256()), ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA})
}

// rsaKey is the RSA key of all tests, because it takes long to make.
var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newRSASigner(t testing.TB, s ades.Scheme, h crypto.Hash) signer {
	t.Helper()
	key, err := rsaKey()
	if err != nil {
		t.Fatal(err)
	}
	return newSigner(t, key, ades.Algorithm{Hash: h, Scheme: s})
}

// signers are signers with each kind of algorithm.
func signers(t testing.TB) map[string]signer {
	t.Helper()
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]signer{
		"RSA":     newRSASigner(t, ades.PKCS1v15, crypto.SHA256),
		"RSA 512": newRSASigner(t, ades.PKCS1v15, crypto.SHA512),
		"PSS":     newRSASigner(t, ades.PSS, crypto.SHA256),
		"PSS 384": newRSASigner(t, ades.PSS, crypto.SHA384),
		"Ed25519": newSigner(t, edwards, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}),
	}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		key := certtest.NewKey(t, curve)
		a, err := ades.DefaultAlgorithm(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		all[curve.Params().Name] = newSigner(t, key, a)
	}
	return all
}

// signature returns a ds:Signature without digests and value. The following elements come last in it.
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

// reference returns a ds:Reference with SHA-256 and without its digest.
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

func filter(kind, expression string) string {
	return transform(transformFilter2, `<f:XPath xmlns:f="`+transformFilter2+`" Filter="`+kind+`">`+expression+`</f:XPath>`)
}

// inclusivePrefixes is Exclusive XML Canonicalization with a PrefixList.
func inclusivePrefixes(list string) string {
	return transform(exclusive, `<e:InclusiveNamespaces xmlns:e="`+exclusive+`" PrefixList="`+list+`"/>`)
}

const (
	c14n10       = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"
	c14nComments = c14n10 + "#WithComments"
)

var (
	enveloped   = transform(transformEnveloped)
	excC14N     = transform(exclusive)
	excComments = transform(exclusive + "WithComments")
	decode      = transform(transformBase64)
	xpath       = transform(transformXPath, "<ds:XPath>not(ancestor-or-self::ds:Signature)</ds:XPath>")
	filter2     = filter("subtract", "/descendant::ds:Signature")
	shortFilter = filter("subtract", "//ds:Signature")
	rootFilter  = filter("subtract", " /*/ds:Signature ")
)

// sign adds the digests and values of all signatures.
func (k signer) sign(t testing.TB, document string) string {
	t.Helper()
	for i, unsigned := range readAll(t, document) {
		for j := range unsigned.References {
			s := readAll(t, document)[i]
			sum, err := s.digest(t.Context(), s.References[j])
			if err != nil {
				t.Fatal(err)
			}
			parts := sequenceOf(s.References[j].Element).rest
			document = fill(document, parts[len(parts)-1], sum)
		}
		s := readAll(t, document)[i]
		document = fill(document, s.SignatureValue, k.value(t, s))
	}
	return document
}

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

// fill replaces an empty-element tag by an element with octets in base64.
func fill(document string, n xmldoc.Node, octets []byte) string {
	start, end := n.Span()
	tag := strings.TrimSuffix(document[start:end], "/>")
	name, _, _ := strings.Cut(tag[1:], " ")
	return document[:start] + tag + ">" + base64.StdEncoding.EncodeToString(octets) + "</" + name + ">" + document[end:]
}
