// Package authority is a certification authority for tests and the sandbox: a
// root, an issuing authority below it, and signers' certificates in the shape of
// real ones (RFC 5280, EN 319 412-2 and -5, and the Icelandic profile in which
// the serialNumber of the subject is the bare kennitala). Nothing it issues is
// under a public trust list; a validator that is handed its root accepts it.
package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

const (
	rootYears    = 20
	issuingYears = 15
	signerYears  = 5

	// A certificate is valid from a little before it is issued, for clocks that
	// are behind.
	backdate = 5 * time.Minute
)

// Authority issues certificates. It may be used by several goroutines.
type Authority struct {
	root, issuing       *x509.Certificate
	rootKey, issuingKey crypto.Signer
}

// New makes an authority of its own, with new P-384 keys.
func New(now time.Time) (*Authority, error) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("authority: making the root's key: %w", err)
	}
	issuingKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("authority: making the issuing authority's key: %w", err)
	}
	a := &Authority{rootKey: rootKey, issuingKey: issuingKey}
	if a.root, err = a.issue(rootTemplate(now), nil, rootKey.Public(), rootKey); err != nil {
		return nil, err
	}
	if a.issuing, err = a.issue(issuingTemplate(now), a.root, issuingKey.Public(), rootKey); err != nil {
		return nil, err
	}
	return a, nil
}

// Root is the certificate that a validator has to be handed.
func (a *Authority) Root() *x509.Certificate { return a.root }

// Roots is a pool with the root alone.
func (a *Authority) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.root)
	return pool
}

// RootPEM is the root's certificate in PEM.
func (a *Authority) RootPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.root.Raw})
}

// Chain is what a signature carries beside the signer's certificate: the issuing
// authority and the root.
func (a *Authority) Chain() []*x509.Certificate {
	return []*x509.Certificate{a.issuing, a.root}
}

// Issue issues a signer's certificate for a person.
func (a *Authority) Issue(name, kennitala string, pub crypto.PublicKey, now time.Time) (*x509.Certificate, error) {
	return a.issue(signerTemplate(name, kennitala, now), a.issuing, pub, a.issuingKey)
}

// issue signs a template; parent nil makes it self-signed.
func (a *Authority) issue(template, parent *x509.Certificate, pub crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	if parent == nil {
		parent = template
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("authority: drawing a serial number: %w", err)
	}
	template.SerialNumber = serial.SetBit(serial, 127, 1) // never zero, always 17 octets in DER
	spki, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, fmt.Errorf("authority: encoding the subject's key: %w", err)
	}
	id := sha256.Sum256(spki)
	template.SubjectKeyId = id[:20] // RFC 7093 section 2, method 4 in length 160
	der, err := x509.CreateCertificate(rand.Reader, template, parent, pub, key)
	if err != nil {
		return nil, fmt.Errorf("authority: issuing %s: %w", template.Subject.CommonName, err)
	}
	return x509.ParseCertificate(der)
}

// stored is the encoding of an authority; it stays readable for later versions.
type stored struct {
	Version    int    `json:"version"`
	Root       []byte `json:"root"` // DER
	RootKey    []byte `json:"rootKey"`
	Issuing    []byte `json:"issuing"`
	IssuingKey []byte `json:"issuingKey"` // PKCS #8
}

// MarshalBinary encodes the authority with its keys, which are not protected:
// they are worth nothing outside a sandbox.
func (a *Authority) MarshalBinary() ([]byte, error) {
	rootKey, err := x509.MarshalPKCS8PrivateKey(a.rootKey)
	if err != nil {
		return nil, fmt.Errorf("authority: encoding the root's key: %w", err)
	}
	issuingKey, err := x509.MarshalPKCS8PrivateKey(a.issuingKey)
	if err != nil {
		return nil, fmt.Errorf("authority: encoding the issuing authority's key: %w", err)
	}
	return json.Marshal(stored{1, a.root.Raw, rootKey, a.issuing.Raw, issuingKey})
}

// UnmarshalBinary decodes what MarshalBinary made.
func (a *Authority) UnmarshalBinary(b []byte) error {
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("authority: decoding: %w", err)
	}
	if s.Version != 1 {
		return fmt.Errorf("authority: version %d is not known", s.Version)
	}
	root, rootKey, err := parsePair(s.Root, s.RootKey)
	if err != nil {
		return fmt.Errorf("authority: decoding the root: %w", err)
	}
	issuing, issuingKey, err := parsePair(s.Issuing, s.IssuingKey)
	if err != nil {
		return fmt.Errorf("authority: decoding the issuing authority: %w", err)
	}
	*a = Authority{root: root, issuing: issuing, rootKey: rootKey, issuingKey: issuingKey}
	return nil
}

func parsePair(der, pkcs8 []byte) (*x509.Certificate, crypto.Signer, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return nil, nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, nil, fmt.Errorf("key %T does not sign", key)
	}
	return cert, signer, nil
}

func subject(commonName string) pkix.Name {
	return pkix.Name{Country: []string{"IS"}, Organization: []string{"Innsigli Sandbox"}, CommonName: commonName}
}
