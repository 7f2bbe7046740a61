package cms

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/cryptobyte"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

var oidTest = asn1.ObjectIdentifier{2, 999, 1}

// encapsulate signs content that the SignedData carries.
func (s signer) encapsulate(t testing.TB, content []byte) Parts {
	t.Helper()
	attributes, err := SignedAttributesForContent(oidTest, s.Certificate, s.Algorithm, digest(s.Algorithm.Hash, content))
	if err != nil {
		t.Fatal(err)
	}
	value, err := s.key.Sign(rand.Reader, digest(s.Algorithm.Hash, attributes), s.Algorithm.Hash)
	if err != nil {
		t.Fatal(err)
	}
	return Parts{
		Certificate: s.Certificate, Chain: s.Chain, Algorithm: s.Algorithm, SignedAttributes: attributes, Value: value,
		ContentType: oidTest, Content: content,
	}
}

// RFC 5652 5.2: content of its own type inside the SignedData.
func TestEncapsulatedContent(t *testing.T) {
	s := newP256Signer(t)
	p := s.encapsulate(t, []byte("content"))
	der := mustMarshal(t, p)
	for name, b := range map[string][]byte{"DER": der, "BER": indefinite(t, der)} {
		sd, err := ParseEncapsulated(b, oidTest)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if string(sd.Content) != "content" {
			t.Errorf("%s: content %q", name, sd.Content)
		}
		if err := sd.VerifyContent(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Content = []byte("contents")
	sd, err := ParseEncapsulated(mustMarshal(t, p), oidTest)
	if err != nil {
		t.Fatal(err)
	}
	if err := sd.VerifyContent(); !errors.Is(err, ErrDigest) {
		t.Errorf("other content: %v", err)
	}
}

// RFC 5652 11.1: the signed content type is that of the content.
func TestContentTypeIsSigned(t *testing.T) {
	p := newP256Signer(t).parts(t, []byte("content")) // signed as id-data
	p.ContentType, p.Content = oidTest, []byte("content")
	sd, err := ParseEncapsulated(mustMarshal(t, p), oidTest)
	if err != nil {
		t.Fatal(err)
	}
	if err := sd.VerifyContent(); !errors.Is(err, ErrFormat) {
		t.Errorf("content of another type: %v", err)
	}
}

func TestFormsAreKeptApart(t *testing.T) {
	s := newP256Signer(t)
	detached, encapsulated := mustMarshal(t, s.parts(t, []byte("x"))), mustMarshal(t, s.encapsulate(t, nil))
	if _, err := Parse(encapsulated); !errors.Is(err, ErrFormat) {
		t.Errorf("content where none may be: %v", err)
	}
	if _, err := ParseEncapsulated(detached, oidData); !errors.Is(err, ErrFormat) {
		t.Errorf("no content: %v", err)
	}
	if _, err := ParseEncapsulated(encapsulated, oidData); !errors.Is(err, ErrFormat) {
		t.Errorf("another type: %v", err)
	}
	if _, err := ParseEncapsulated(encapsulated, oidTest); err != nil {
		t.Errorf("empty content: %v", err)
	}
}

// A token's client may not have asked for certificates (RFC 3161 2.4.1).
func TestCertificatesOmitted(t *testing.T) {
	s := newP256Signer(t)
	p := s.encapsulate(t, []byte("content"))
	p.OmitCertificates = true
	sd, err := ParseEncapsulated(mustMarshal(t, p), oidTest)
	if err != nil {
		t.Fatal(err)
	}
	if err := sd.VerifyContent(); !errors.Is(err, ErrNoCertificate) || len(sd.Certificates) > 0 {
		t.Errorf("%d certificates: %v", len(sd.Certificates), err)
	}
	sd.Certificates = append(sd.Certificates, s.root, s.Certificate)
	if err := sd.VerifyContent(); err != nil {
		t.Error(err)
	}
}

// RFC 5816 2.2.1: a token may name its certificate in both versions of the attribute, a
// signature in one (EN 319 122-1 5.2.2). The older has SHA-1 (RFC 2634 5.4).
func TestSigningCertificateVersions(t *testing.T) {
	s, other := newP256Signer(t), newP256Signer(t)
	named := func(v1, v2 *signer) *SignedData {
		sd := &SignedData{Certificates: append(other.Chain, s.Certificate), issuer: s.Certificate.RawIssuer, serial: s.Certificate.SerialNumber}
		if v1 != nil {
			sum, _ := asn1.Marshal(digest(crypto.SHA1, v1.Certificate.Raw))
			value := appendTLV(nil, []byte{0x30}, appendTLV(nil, []byte{0x30}, appendTLV(nil, []byte{0x30}, sum)))
			sd.attributes = append(sd.attributes, parsedAttribute{oidSigningCertificate, []cryptobyte.String{value}})
		}
		if v2 != nil {
			attributes, err := SignedAttributes(v2.Certificate, v2.Algorithm, make([]byte, 32))
			if err != nil {
				t.Fatal(err)
			}
			e, _ := readElement(attributes, 2)
			all, err := parseAttributes(e.contents)
			if err != nil {
				t.Fatal(err)
			}
			sd.attributes = append(sd.attributes, parsedAttribute{oidSigningCertificateV2, attributeValues(oidSigningCertificateV2, all)})
		}
		return sd
	}
	for _, tt := range []struct {
		name          string
		sd            *SignedData
		binding, both bool
	}{
		{"version 1", named(&s, nil), true, true},
		{"version 2", named(nil, &s), true, true},
		{"both", named(&s, &s), false, true},
		{"neither", named(nil, nil), false, false},
		{"version 1 another's", named(&other, &s), false, false},
		{"version 2 another's", named(&s, &other), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.sd.CheckBinding(); (err == nil) != tt.binding || err != nil && !errors.Is(err, ErrBinding) {
				t.Errorf("as a signature: %v", err)
			}
			if err := tt.sd.CheckCertificateAttributes(); (err == nil) != tt.both || err != nil && !errors.Is(err, ErrBinding) {
				t.Errorf("as a token: %v", err)
			}
		})
	}
}

// RFC 8551 3.8: what openssl makes for authorities to publish.
func TestCertificatesOnly(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	s := newP256Signer(t)
	path := filepath.Join(t.TempDir(), "certs.pem")
	if err := os.WriteFile(path, certtest.PEM(s.Certificate, s.root), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := exec.Command(openssl, "crl2pkcs7", "-nocrl", "-certfile", path, "-outform", "DER").Output()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Certificates(bundle)
	if err != nil || len(got) != 2 || !got[0].Equal(s.Certificate) && !got[1].Equal(s.Certificate) {
		t.Errorf("%d certificates, %v", len(got), err)
	}
	own, err := MarshalCertificates([]*x509.Certificate{s.root, s.Certificate, s.root})
	if diff := cmp.Diff(bundle, own); diff != "" || err != nil {
		t.Errorf("openssl's (-) and ours (+), %v:\n%s", err, diff)
	}
	for name, b := range map[string][]byte{"a certificate": s.root.Raw, "nothing": nil, "cut short": bundle[:len(bundle)-1]} {
		if _, err := Certificates(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
