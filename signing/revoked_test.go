package signing

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// TestRevocationFailure checks which revoked certificates end a request (spec 3.8): the signer's, and every certificate
// that has the name and the key of the signer's issuer.
func TestRevocationFailure(t *testing.T) {
	t.Parallel()
	root, other, authority, person := newEntity(t, "Root"), newEntity(t, "Other"), newEntity(t, "Authority"), newEntity(t, "Person")
	rootCert := root.certify(t, root, 1)
	issuing, renewed := root.certify(t, authority, 2), root.certify(t, authority, 3)
	signer := authority.certify(t, person, 4)
	stranger := other.certify(t, other, 5)
	namesake := other.certify(t, newEntity(t, "Authority"), 6) // another key
	for name, test := range map[string]struct {
		err  error
		want idp.ErrorCode
	}{
		"no error":              {nil, ""},
		"status unknown":        {ades.ErrNoRevocation, ""},
		"signer":                {&ades.RevokedError{Certificate: signer}, idp.CertificateIsRevoked},
		"signer, wrapped error": {fmt.Errorf("validation data: %w", &ades.RevokedError{Certificate: signer}), idp.CertificateIsRevoked},
		"issuer":                {&ades.RevokedError{Certificate: issuing}, idp.CertificateValidationError},
		"another certificate for the issuer's key":      {&ades.RevokedError{Certificate: renewed}, idp.CertificateValidationError},
		"unrelated authority":                           {&ades.RevokedError{Certificate: stranger}, ""},
		"authority with the issuer's name, another key": {&ades.RevokedError{Certificate: namesake}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got idp.ErrorCode
			if f := revocationFailure(test.err, []*x509.Certificate{signer, issuing, rootCert}); f != nil {
				got = f.Code
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// entity is a name with a key.
type entity struct {
	name string
	key  *ecdsa.PrivateKey
}

func newEntity(t *testing.T, name string) entity {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	return entity{name, key}
}

// certify issues an authority's certificate.
func (e entity) certify(t *testing.T, subject entity, serial int64) *x509.Certificate {
	t.Helper()
	template := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template(subject.name), template(e.name), subject.key.Public(), e.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}
