// Package ca implements a certification authority for tests and the sandbox: a root, an issuing authority below
// it, and signers' certificates with the profile of real ones (RFC 5280, EN 319 412-2 and -5, and the Icelandic
// profile, in which the subject's serialNumber is the bare kennitala). No public trust list contains the root; a
// validator that is configured to trust it accepts the certificates.
//
// For long-term signatures the authority is also a timestamping authority ([Authority.Timestamp]) and an OCSP
// responder ([Authority.OCSP]), and issues revocation lists ([Authority.CRL], [Authority.RootCRL]). These methods
// take the request and the time. A server serves them at the addresses that certificates contain
// ([Authority.SetBaseURL]); [Authority.Sources] calls them without a server.
package ca

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"
)

// Authority is a certification authority. It may be used by several goroutines.
type Authority struct {
	root      keyPair
	serialKey []byte // see newSerial
	sourcePool
	lists keptLists

	mu           sync.RWMutex // guards the fields below
	issuing      keyPair
	responder    keyPair // delegated OCSP responder of the issuing authority
	timestamping keyPair
	baseURL      string
	revoked      []revocation
}

// keyPair is a private key with its certificate.
type keyPair struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// New returns an authority with new keys: P-384 for the root and the issuing authority, P-256 for the others.
func New(now time.Time) (*Authority, error) { return newWithCurve(now, elliptic.P384()) }

// NewP256 is New with P-256 for all keys, which is about ten times as fast. It is for tests that do not depend on
// the type of the keys.
func NewP256(now time.Time) (*Authority, error) { return newWithCurve(now, elliptic.P256()) }

func newWithCurve(now time.Time, issuers elliptic.Curve) (*Authority, error) {
	a := &Authority{serialKey: make([]byte, sha256.Size)}
	rand.Read(a.serialKey) // never fails
	for _, p := range []struct {
		*keyPair
		curve elliptic.Curve
	}{
		{&a.root, issuers}, {&a.issuing, issuers},
		{&a.responder, elliptic.P256()}, {&a.timestamping, elliptic.P256()},
	} {
		if err := p.generateKey(p.curve); err != nil {
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

func (p *keyPair) generateKey(curve elliptic.Curve) error {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		return fmt.Errorf("ca: generating a key: %w", err)
	}
	p.key = key
	return nil
}

// Root returns the root certificate, which a validator has to trust.
func (a *Authority) Root() *x509.Certificate { return a.root.certificate }

// Roots returns a pool that contains the root certificate only.
func (a *Authority) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.Root())
	return pool
}

// RootPEM returns the root certificate in PEM.
func (a *Authority) RootPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Root().Raw})
}

// Chain returns the certificates of the issuing authority and the root, which signatures contain besides the
// signer's certificate.
func (a *Authority) Chain() []*x509.Certificate {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return []*x509.Certificate{a.issuing.certificate, a.root.certificate}
}

// Issue issues a signer's certificate to a person.
func (a *Authority) Issue(name, kennitala string, pub crypto.PublicKey, now time.Time) (*x509.Certificate, error) {
	return a.IssueProfile(signerTemplate(name, kennitala, now), pub)
}

// IssueProfile issues a certificate with the issuing authority from a template. It sets the serial number, the key
// identifiers and the addresses, and takes the rest from the template, which may violate the profiles on purpose.
func (a *Authority) IssueProfile(template *x509.Certificate, pub crypto.PublicKey) (*x509.Certificate, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.issue(a.withAddresses(template), a.issuing, pub)
}

// issue signs a template. If the issuer has no certificate yet, the certificate is self-signed.
func (a *Authority) issue(template *x509.Certificate, by keyPair, pub crypto.PublicKey) (*x509.Certificate, error) {
	t := *template
	spki, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, fmt.Errorf("ca: encoding the subject's key: %w", err)
	}
	id := sha256.Sum256(spki)
	t.SubjectKeyId = id[:20] // RFC 7093 section 2, method 4, truncated to 160 bits
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

// Paths below the base URL, see [Authority.SetBaseURL].
const (
	PathTimestamp = "/tsa"         // POST application/timestamp-query (RFC 3161 3.4)
	PathOCSP      = "/ocsp"        // POST, and GET /ocsp/{base64} (RFC 6960 A.1)
	PathCRL       = "/crl"         // GET: Authority.CRL
	PathRootCRL   = "/crl/root"    // GET: Authority.RootCRL
	PathIssuers   = "/issuers.p7c" // GET: Authority.Issuers
)

// SetBaseURL sets the base URL at which a server answers for the authority. Certificates that are issued from now
// on contain the addresses of the responder, the revocation list and the issuers below it. With the empty string,
// the default, they contain none. The authority's own certificates get the addresses from [Authority.Renew].
func (a *Authority) SetBaseURL(baseURL string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.baseURL = strings.TrimSuffix(baseURL, "/")
}

// renewal is how long before its expiry a certificate of the authority itself is renewed.
const renewal = 30 * 24 * time.Hour

// Renew issues new certificates for the authority's own keys, except the root, where a certificate expires soon or
// contains other addresses than the current ones. It reports whether it issued any; the caller then has to store
// the authority again. Certificates that were issued before stay valid.
func (a *Authority) Renew(now time.Time) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.renew(now)
}

func (a *Authority) renew(now time.Time) (renewed bool, err error) {
	for _, own := range []struct {
		*keyPair
		template *x509.Certificate
		by       *keyPair
	}{
		{&a.issuing, a.withRootAddresses(issuingTemplate(now)), &a.root},
		{&a.responder, a.withAddresses(responderTemplate(now)), &a.issuing},
		{&a.timestamping, a.withAddresses(timestampingTemplate(now)), &a.issuing},
	} {
		if own.certificate != nil && !expiresSoon(own.certificate, now) && sameAddresses(own.certificate, own.template) {
			continue
		}
		if own.certificate, err = a.issue(own.template, *own.by, own.key.Public()); err != nil {
			return renewed, err
		}
		renewed = true
	}
	return renewed, nil
}

func expiresSoon(c *x509.Certificate, now time.Time) bool { return c.NotAfter.Sub(now) < renewal }

func sameAddresses(a, b *x509.Certificate) bool {
	return slices.Equal(a.OCSPServer, b.OCSPServer) && slices.Equal(a.CRLDistributionPoints, b.CRLDistributionPoints) &&
		slices.Equal(a.IssuingCertificateURL, b.IssuingCertificateURL)
}

// withAddresses returns a copy of the template of a certificate that the issuing authority issues, with the
// addresses of its revocation data and issuers (RFC 5280 4.2.1.13 and 4.2.2.1).
func (a *Authority) withAddresses(template *x509.Certificate) *x509.Certificate {
	t := *template
	if a.baseURL != "" {
		t.OCSPServer = []string{a.baseURL + PathOCSP}
		t.CRLDistributionPoints = []string{a.baseURL + PathCRL}
		t.IssuingCertificateURL = []string{a.baseURL + PathIssuers}
	}
	return &t
}

// withRootAddresses does the same for a certificate that the root issues. It sets no OCSP address: a root that is
// offline has no responder.
func (a *Authority) withRootAddresses(template *x509.Certificate) *x509.Certificate {
	t := *template
	if a.baseURL != "" {
		t.CRLDistributionPoints = []string{a.baseURL + PathRootCRL}
		t.IssuingCertificateURL = []string{a.baseURL + PathIssuers}
	}
	return &t
}

// serialHalf is the length in bytes of the random half of a serial number, and of the MAC over it.
const serialHalf = 8

// newSerial returns a serial number that its issuer recognizes without a list of issued certificates: a random
// half, then a MAC over the issuer's key identifier and that half. It is never zero and has 17 octets in DER.
func (a *Authority) newSerial(issuer *x509.Certificate) *big.Int {
	half := make([]byte, serialHalf)
	rand.Read(half) // never fails
	half[0] |= 0x80
	return new(big.Int).SetBytes(append(half, a.serialMAC(issuer, half)...))
}

// issued reports whether the issuer issued the certificate with the serial number.
func (a *Authority) issued(issuer *x509.Certificate, serial *big.Int) bool {
	if a.serialKey == nil {
		return a.mayHaveIssued(issuer, serial)
	}
	if serial.Sign() < 0 || serial.BitLen() != 2*8*serialHalf {
		return false
	}
	b := serial.Bytes()
	return hmac.Equal(b[serialHalf:], a.serialMAC(issuer, b[:serialHalf]))
}

func (a *Authority) serialMAC(issuer *x509.Certificate, half []byte) []byte {
	mac := hmac.New(sha256.New, a.serialKey)
	mac.Write(issuer.SubjectKeyId)
	mac.Write(half)
	return mac.Sum(nil)[:serialHalf]
}

// mayHaveIssued implements issued for an authority of version 1, whose serial numbers have no MAC: the root issued
// one certificate, and any other serial number may be of the issuing authority.
func (a *Authority) mayHaveIssued(issuer *x509.Certificate, serial *big.Int) bool {
	ofRoot := serial.Cmp(a.issuing.certificate.SerialNumber) == 0
	return ofRoot == issuer.Equal(a.root.certificate)
}

func (a *Authority) issuedByRoot(cert *x509.Certificate) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.issued(a.root.certificate, cert.SerialNumber)
}
