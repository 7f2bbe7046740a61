package simulated

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
)

const (
	backdate = 5 * time.Minute // for clocks that are behind
	validity = 365 * 24 * time.Hour
)

// derive derives a P-256 key from the seed (RFC 5869). Not every 32 bytes are one, though
// almost.
func (p *Provider) derive(whose string) (*ecdsa.PrivateKey, error) {
	for try := range 8 {
		scalar, err := hkdf.Key(sha256.New, p.options.Seed, nil, fmt.Sprint("innsigli simulated key ", try, " ", whose), 32)
		if err != nil {
			return nil, fmt.Errorf("simulated: deriving a key: %w", err)
		}
		if key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar); err == nil {
			return key, nil
		}
	}
	return nil, errors.New("simulated: the seed gives no key")
}

// certify gives the person a certificate, which is another one in each conversation.
func (p *Provider) certify(c *conversation) error {
	key, err := p.derive(c.Kennitala)
	if err != nil {
		return err
	}
	issue := p.options.Issue
	if issue == nil {
		issue = p.issue
	}
	if c.chain, err = issue(p.options.Name(c.Kennitala), c.Kennitala, key.Public()); err != nil {
		return fmt.Errorf("simulated: certifying the person: %w", err)
	}
	if len(c.chain) == 0 || slices.Contains(c.chain, nil) || !key.PublicKey.Equal(c.chain[0].PublicKey) {
		return errors.New("simulated: Options.Issue gave no certificate for the key")
	}
	for _, certificate := range c.chain {
		c.Certificates = append(c.Certificates, certificate.Raw)
	}
	return nil
}

// sign signs what the person has approved.
func (p *Provider) sign(c conversation) ([][]byte, error) {
	key, err := p.derive(c.Kennitala)
	if err != nil {
		return nil, err
	}
	if !key.PublicKey.Equal(c.chain[0].PublicKey) {
		return nil, errors.New("simulated: the state is of a Provider with another seed")
	}
	if err := c.check(c.Digests); err != nil {
		return nil, err
	}
	return signAll(key, c.Digests)
}

func signAll(key crypto.Signer, digests []ades.Digest) (values [][]byte, err error) {
	for _, d := range digests {
		value, err := key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
		if err != nil {
			return nil, fmt.Errorf("simulated: signing: %w", err)
		}
		values = append(values, value)
	}
	return values, nil
}

// Root is the certificate to trust for the signatures of people whom the Provider certifies
// itself, nil with [Options].Issue. The same seed always gives the same one.
func (p *Provider) Root() *x509.Certificate { return p.root }

// certifyItself makes the root. All of it follows from the seed, and so does the signature,
// which is deterministic without a source of randomness.
func (p *Provider) certifyItself() error {
	key, err := p.derive("root")
	if err != nil {
		return err
	}
	p.root, err = certificate(nil, &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{Country: []string{"IS"}, Organization: []string{"Innsigli Simulation"}, CommonName: "Simulated Root"},
		NotBefore:             time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), // RFC 5280 4.1.2.5: no end
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}, nil, key.Public(), key)
	return err
}

// issue certifies a person below the root, with the serialNumber of Icelandic certificates.
func (p *Provider) issue(name, kennitala string, public crypto.PublicKey) ([]*x509.Certificate, error) {
	key, err := p.derive("root")
	if err != nil {
		return nil, err
	}
	now := time.Now()
	own, err := certificate(rand.Reader, &x509.Certificate{
		Subject:   pkix.Name{Country: []string{"IS"}, CommonName: name, SerialNumber: kennitala},
		NotBefore: now.Add(-backdate),
		NotAfter:  now.Add(validity),
		KeyUsage:  x509.KeyUsageContentCommitment,
	}, p.root, public, key)
	if err != nil {
		return nil, err
	}
	return []*x509.Certificate{own, p.root}, nil
}

// certificate signs a template; without an issuer, by itself.
func certificate(random io.Reader, template, issuer *x509.Certificate, public crypto.PublicKey, by crypto.Signer) (*x509.Certificate, error) {
	if issuer == nil {
		issuer = template
	}
	der, err := x509.CreateCertificate(random, template, issuer, public, by)
	if err != nil {
		return nil, fmt.Errorf("simulated: issuing a certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}
