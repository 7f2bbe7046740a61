// Package ca is a certification authority for tests and the sandbox: a
// root, an issuing authority below it, and signers' certificates in the shape of
// real ones (RFC 5280, EN 319 412-2 and -5, and the Icelandic profile in which
// the serialNumber of the subject is the bare kennitala). Nothing it issues is
// under a public trust list; a validator that is handed its root accepts it.
//
// It also is what long-term signatures need of an authority: a timestamping
// authority ([Authority.Timestamp]), an OCSP responder ([Authority.OCSP]) and
// revocation lists ([Authority.CRL], [Authority.RootCRL]). They are functions of a
// request and the time. A server puts them at the addresses that [Authority.At] has
// certificates carry; [Authority.Sources] asks them without one.
package ca

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"sync"
	"time"
)

const (
	rootYears         = 20
	issuingYears      = 15
	signerYears       = 5
	timestampingYears = 5
	responderYears    = 1

	// A certificate is valid from a little before it is issued, for clocks that
	// are behind.
	backdate = 5 * time.Minute
)

// Authority issues certificates and says which were revoked. It may be used by
// several goroutines.
type Authority struct {
	root      pair
	serialKey []byte // see newSerial
	trusted   trusted

	mu           sync.RWMutex // of everything below
	issuing      pair
	responder    pair // answers for the issuing authority
	timestamping pair
	baseURL      string
	revoked      []revocation
}

// pair is a certificate with its key.
type pair struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// New makes an authority of its own, with new keys: P-384 for the two that issue,
// P-256 for the others.
func New(now time.Time) (*Authority, error) { return onCurve(now, elliptic.P384()) }

// NewP256 is New with P-256 for all keys, which is some ten times as quick. It is for tests in which the kind of key does
// not matter.
func NewP256(now time.Time) (*Authority, error) { return onCurve(now, elliptic.P256()) }

func onCurve(now time.Time, issuers elliptic.Curve) (*Authority, error) {
	a := &Authority{serialKey: make([]byte, sha256.Size)}
	rand.Read(a.serialKey) // never fails
	for _, key := range []struct {
		*pair
		curve elliptic.Curve
	}{
		{&a.root, issuers}, {&a.issuing, issuers},
		{&a.responder, elliptic.P256()}, {&a.timestamping, elliptic.P256()},
	} {
		if err := key.makeKey(key.curve); err != nil {
			return nil, err
		}
	}
	var err error
	if a.root.certificate, err = a.issue(rootTemplate(now), a.root, a.root.key.Public()); err != nil {
		return nil, err
	}
	_, err = a.renew(now)
	return a, err
}

func (p *pair) makeKey(curve elliptic.Curve) error {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		return fmt.Errorf("ca: making a key: %w", err)
	}
	p.key = key
	return nil
}

// Root is the certificate that a validator has to be handed.
func (a *Authority) Root() *x509.Certificate { return a.root.certificate }

// Roots is a pool with the root alone.
func (a *Authority) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Root())
	return pool
}

// RootPEM is the root's certificate in PEM.
func (a *Authority) RootPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Root().Raw})
}

// Chain is what a signature carries beside the signer's certificate: the issuing
// authority and the root.
func (a *Authority) Chain() []*x509.Certificate {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return []*x509.Certificate{a.issuing.certificate, a.root.certificate}
}

// Issue issues a signer's certificate for a person.
func (a *Authority) Issue(name, kennitala string, pub crypto.PublicKey, now time.Time) (*x509.Certificate, error) {
	return a.IssueProfile(signerTemplate(name, kennitala, now), pub)
}

// IssueProfile issues a certificate of any profile below the issuing authority. The
// serial number, the key identifiers and the addresses are filled in; the rest is
// what the template says, for certificates that are wrong on purpose too.
func (a *Authority) IssueProfile(template *x509.Certificate, pub crypto.PublicKey) (*x509.Certificate, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.issue(a.addressed(template), a.issuing, pub)
}

// issue signs a template. An issuer that has no certificate yet signs its own.
func (a *Authority) issue(template *x509.Certificate, by pair, pub crypto.PublicKey) (*x509.Certificate, error) {
	t := *template
	spki, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, fmt.Errorf("ca: encoding the subject's key: %w", err)
	}
	id := sha256.Sum256(spki)
	t.SubjectKeyId = id[:20] // RFC 7093 section 2, method 4 in length 160
	parent := by.certificate
	if parent == nil {
		parent = &t
	}
	t.SerialNumber = a.newSerial(parent)
	der, err := x509.CreateCertificate(rand.Reader, &t, parent, pub, by.key)
	if err != nil {
		return nil, fmt.Errorf("ca: issuing a certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

func subject(commonName string) pkix.Name {
	return pkix.Name{Country: []string{"IS"}, Organization: []string{"Innsigli Sandbox"}, CommonName: commonName}
}
