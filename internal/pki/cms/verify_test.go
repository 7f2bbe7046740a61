package cms

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/cryptobyte"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestVerify verifies detached signatures with each algorithm. openssl also checks the chain and the
// signing-certificate attribute.
func TestVerify(t *testing.T) {
	signers := map[string]signer{"RSA": newRSASigner(t, ades.Algorithm{}), "Ed25519": newEd25519Signer(t)}
	signers["RSA SHA-512"] = newSigner(t, signers["RSA"].key, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15})
	for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		signers["RSA PSS "+h.String()] = newSigner(t, signers["RSA"].key, ades.Algorithm{Hash: h, Scheme: ades.PSS})
	}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		signers[curve.Params().Name] = newSigner(t, certtest.NewKey(t, curve), ades.Algorithm{})
	}
	for name, s := range signers {
		t.Run(name, func(t *testing.T) {
			p := s.detached(t, document)
			sd := mustParse(t, append(mustMarshal(t, p), 0, 0, 0)) // with padding as in the Contents of a PDF
			if sd.Algorithm() != s.Algorithm {
				t.Errorf("got algorithm %v, want %v", sd.Algorithm(), s.Algorithm)
			}
			right, wrong := sum(s.Algorithm.Hash, document), sum(s.Algorithm.Hash, document[1:])
			if err := errors.Join(sd.Verify(right), sd.CheckSingleBinding(), sd.CheckIssuerSerial()); err != nil {
				t.Error(err)
			}
			if err := sd.Verify(wrong); !errors.Is(err, ErrDigest) {
				t.Errorf("other content: got %v, want ErrDigest", err)
			}
			sd.SignedAttributes = append(bytes.Clone(sd.SignedAttributes), 0)
			if err := sd.Verify(right); !errors.Is(err, ades.ErrValue) {
				t.Errorf("other attributes: got %v, want ErrValue", err)
			}
			t.Run("openssl", func(t *testing.T) { verifyByOpenSSL(t, s, p) })
		})
	}
}

// verifyByOpenSSL has openssl verify a signature over document, without and with a signature timestamp.
func verifyByOpenSSL(t *testing.T, s signer, p Parts) {
	o := testenv.NewOpenSSL(t)
	if s.Algorithm.Scheme == ades.Ed25519 { // "openssl cms" before 3.2 does not support it
		verify := []string{"pkeyutl", "-verify", "-rawin", "-certin", "-inkey", o.Write("cert.pem", certtest.PEM(s.Certificate)),
			"-sigfile", o.Write("value", p.Value), "-in", o.Write("signed", p.SignedAttributes)}
		o.Run(verify...)
		o.Write("signed", p.SignedAttributes[1:])
		if _, err := o.Try(verify...); err == nil {
			t.Error("openssl accepts other attributes")
		}
		return
	}
	verify := []string{"cms", "-verify", "-cades", "-binary", "-inform", "DER", "-purpose", "any", "-in", "signed",
		"-content", "content", "-CAfile", o.Write("root.pem", certtest.PEM(s.root)), "-out", os.DevNull}
	for _, token := range [][]byte{nil, firstToken} {
		p.SignatureTimestamp = token
		o.Write("signed", mustMarshal(t, p))
		o.Write("content", document)
		o.Run(verify...)
		o.Write("content", document[1:])
		if _, err := o.Try(verify...); err == nil {
			t.Error("openssl accepts other content")
		}
	}
	out := o.Run("cms", "-cmsout", "-print", "-noout", "-inform", "DER", "-in", "signed")
	if n := strings.Count(out, "id-smime-aa-timeStampToken"); n != 1 {
		t.Errorf("openssl prints %d timestamps, want 1:\n%s", n, out)
	}
}

// TestVerifyErrors checks signatures that were altered or do not bind the certificate.
func TestVerifyErrors(t *testing.T) {
	s := newP256Signer(t)
	other := newSigner(t, s.key, ades.Algorithm{}) // the same key, another certificate
	digest := sum(crypto.SHA256, document)
	otherBound := s.detached(t, document)
	otherBound.Certificate = other.Certificate
	attributes, err := SignedAttributes(s.Certificate, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15}, digest)
	testenv.NoError(t, err)
	changed := mustMarshal(t, s.detached(t, document))
	twice := mustParse(t, changed)
	i := slices.IndexFunc(twice.attributes, func(a parsedAttribute) bool { return a.oid.Equal(oidAlgorithmProtection) })
	twice.attributes[i].values = slices.Repeat(twice.attributes[i].values, 2)
	if err := twice.Verify(digest); !errors.Is(err, ErrFormat) {
		t.Errorf("algorithm protection with two values (RFC 6211): got %v, want ErrFormat", err)
	}
	changed = bytes.Replace(changed, []byte{9, 16, 2, 47}, []byte{9, 16, 2, 46}, 1) // the end of oidSigningCertificateV2
	for _, test := range []struct {
		name string
		der  []byte
		want error
	}{
		{"attribute changed after signing", changed, ades.ErrValue},
		{"attribute that names another certificate", mustMarshal(t, otherBound), ErrBinding},
		{"algorithm protection for another algorithm (RFC 6211)", mustMarshal(t, s.sign(t, attributes)), ErrFormat},
	} {
		sd := mustParse(t, test.der)
		err := sd.Verify(digest)
		if err == nil {
			err = sd.CheckSingleBinding()
		}
		if !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

// TestVerifyContent verifies encapsulated content (RFC 5652 5.2). The signed content type has to be that of the content
// (11.1), and the signature may omit the certificates (RFC 3161 2.4.1).
func TestVerifyContent(t *testing.T) {
	s := newP256Signer(t)
	good := s.encapsulated(t, oidTest, document)
	der := mustMarshal(t, good)
	otherContent, otherType, omitted := good, s.detached(t, document), good
	otherContent.Content = document[1:]
	otherType.ContentType, otherType.Content = oidTest, document
	omitted.OmitCertificates = true
	for _, test := range []struct {
		name        string
		der         []byte
		contentType asn1.ObjectIdentifier
		parse, want error // of ParseEncapsulated, and of VerifyContent
	}{
		{"as written", der, oidTest, nil, nil},
		{"in BER", indefinite(t, der), oidTest, nil, nil},
		{"empty content", mustMarshal(t, s.encapsulated(t, oidTest, nil)), oidTest, nil, nil},
		{"other content", mustMarshal(t, otherContent), oidTest, nil, ErrDigest},
		{"content of another type than the signed one", mustMarshal(t, otherType), oidTest, nil, ErrFormat},
		{"certificates omitted", mustMarshal(t, omitted), oidTest, nil, ErrNoCertificate},
		{"content of another type than the caller's", der, oidData, ErrFormat, nil},
		{"no content", mustMarshal(t, s.detached(t, document)), oidData, ErrFormat, nil},
	} {
		sd, err := ParseEncapsulated(test.der, test.contentType)
		if !errors.Is(err, test.parse) {
			t.Errorf("%s: parsed with %v, want %v", test.name, err, test.parse)
		}
		if err != nil {
			continue
		}
		if err := sd.VerifyContent(); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
		if sd.Certificates == nil {
			sd.Certificates = []*x509.Certificate{s.root, s.Certificate}
			if err := sd.VerifyContent(); err != nil {
				t.Errorf("%s, and added: %v", test.name, err)
			}
		}
	}
	if _, err := Parse(der); !errors.Is(err, ErrFormat) {
		t.Errorf("content in a detached signature: got %v, want ErrFormat", err)
	}
}

// TestVerifyDigestContent verifies signatures whose content is a digest, with and without signed attributes
// (ISO 32000-1 12.8.3.3.1).
func TestVerifyDigestContent(t *testing.T) {
	s := newP256Signer(t)
	digest, other := sum(crypto.SHA1, document), sum(crypto.SHA1, document[1:])
	withAttributes, err := ParseEncapsulated(mustMarshal(t, s.encapsulated(t, oidData, digest)), oidData)
	testenv.NoError(t, err)
	without := *withAttributes
	without.SignedAttributes, without.Value = nil, s.sign(t, digest).Value
	for _, sd := range []*SignedData{withAttributes, &without} {
		if err := sd.VerifyDigestContent(digest); err != nil {
			t.Error(err)
		}
		if err := sd.VerifyDigestContent(other); !errors.Is(err, ErrDigest) {
			t.Errorf("another document: got %v, want ErrDigest", err)
		}
	}
	without.Content = other
	if err := without.VerifyDigestContent(other); !errors.Is(err, ades.ErrValue) {
		t.Errorf("another digest than the signed one: got %v, want ErrValue", err)
	}
	unknown := SignedData{Content: digest, Certificates: withAttributes.Certificates, issuer: withAttributes.issuer, serial: withAttributes.serial, fault: ades.ErrAlgorithm}
	if err := unknown.VerifyDigestContent(digest); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("unknown algorithm: got %v, want ErrAlgorithm", err)
	}
}

// TestSigningCertificate checks the versions of the signing-certificate attribute. A signature has one of them
// (EN 319 122-1 5.2.2), a token may have both (RFC 5816 2.2.1). Version 1 has a SHA-1 digest (RFC 2634 5.4).
func TestSigningCertificate(t *testing.T) {
	s, other := newP256Signer(t), newP256Signer(t)
	version1 := func(c *x509.Certificate) cryptobyte.String {
		value := append([]byte{4, 20}, sum(crypto.SHA1, c.Raw)...)
		for range 3 {
			value = appendTLV(nil, []byte{0x30}, value)
		}
		return value
	}
	version2 := func(c *x509.Certificate) cryptobyte.String {
		var b cryptobyte.Builder
		addSigningCertificateV2(&b, c, crypto.SHA256)
		return b.BytesOrPanic()
	}
	for _, test := range []struct {
		name                         string
		v1, v2                       cryptobyte.String
		signature, token, serialOnly error // of CheckSingleBinding, CheckBindings, CheckIssuerSerial
	}{
		{"version 1", version1(s.Certificate), nil, nil, nil, nil},
		{"version 2", nil, version2(s.Certificate), nil, nil, nil},
		{"both versions", version1(s.Certificate), version2(s.Certificate), ErrBinding, nil, nil},
		{"neither version", nil, nil, ErrBinding, ErrBinding, nil},
		{"version 1 of another certificate", version1(other.Certificate), version2(s.Certificate), ErrBinding, ErrBinding, nil},
		{"version 2 of another certificate", version1(s.Certificate), version2(other.Certificate), ErrBinding, ErrBinding, ErrBinding},
		{"malformed", nil, cryptobyte.String{0x30, 0}, ErrBinding, ErrBinding, ErrBinding},
	} {
		sd := &SignedData{Certificates: append(other.Chain, s.Certificate), issuer: s.Certificate.RawIssuer, serial: s.Certificate.SerialNumber}
		if test.v1 != nil {
			sd.attributes = append(sd.attributes, parsedAttribute{oidSigningCertificate, []cryptobyte.String{test.v1}})
		}
		if test.v2 != nil {
			sd.attributes = append(sd.attributes, parsedAttribute{oidSigningCertificateV2, []cryptobyte.String{test.v2}})
		}
		got := []error{sd.CheckSingleBinding(), sd.CheckBindings(), sd.CheckIssuerSerial()}
		want := []error{test.signature, test.token, test.serialOnly}
		if !slices.EqualFunc(got, want, errors.Is) {
			t.Errorf("%s: got %v, want %v", test.name, got, want)
		}
	}
	if err := compareIssuerSerial(cryptobyte.String{0x30, 0}, s.Certificate); !errors.Is(err, ErrBinding) {
		t.Errorf("malformed IssuerSerial: got %v, want ErrBinding", err)
	}
}
