package ades_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// newAddressed makes the certificate of a person with an e-mail address, and of an authority
// whose constraints forbid it.
func newAddressed(t *testing.T, address string) (person, authority *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	certify := func(template, issuer *x509.Certificate) *x509.Certificate {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Authority"}, PermittedEmailAddresses: []string{"elsewhere.test"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	authority = certify(template, template)
	return certify(&x509.Certificate{
		SerialNumber: big.NewInt(0x1f2e), Subject: pkix.Name{CommonName: "Jane Doe", SerialNumber: "0101302989"}, EmailAddresses: []string{address},
	}, authority), authority
}

// RFC 5280 4.1.2.2: the issuer and the serial number tell certificates apart.
func TestIdentify(t *testing.T) {
	person, authority := newAddressed(t, "jane@doe.test")
	for want, cert := range map[string]*x509.Certificate{
		"certificate 0x1f2e issued by CN=Authority": person,
		"self-issued certificate 0x1":               authority,
	} {
		if got := ades.Identify(cert); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Errors are logged, and a name or an address is personal data.
func TestErrorsAboutChainsNameNoPerson(t *testing.T) {
	person, authority := newAddressed(t, "jane@doe.test")
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	_, forbidden := ades.Chain(person, nil, roots, time.Now())
	_, untrusted := ades.Chain(person, nil, x509.NewCertPool(), time.Now())
	_, expired := ades.Chain(person, nil, roots, time.Now().AddDate(1, 0, 0))
	for name, err := range map[string]error{
		"a name that is forbidden": forbidden,
		"no root":                  untrusted,
		"expired":                  expired,
		"of another issuer":        ades.CheckIssuer(authority, person),
		"of no authority":          ades.CheckIssuer(person, newNamesake(t)),
	} {
		if !errors.Is(err, ades.ErrNoChain) && !errors.Is(err, ades.ErrOutsideValidity) {
			t.Errorf("%s: %v", name, err)
		} else if text := strings.ToLower(err.Error()); strings.Contains(text, "doe") || strings.Contains(text, "0101302989") {
			t.Errorf("%s: %v names the person", name, err)
		}
	}
}

// newNamesake is another authority of the same name.
func newNamesake(t *testing.T) *x509.Certificate {
	_, authority := newAddressed(t, "jane@doe.test")
	return authority
}
