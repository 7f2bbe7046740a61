package ades

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

var (
	// ErrNoChain: no certificate chain leads from the certificate to a trusted root.
	ErrNoChain = errors.New("ades: no certificate chain to a trusted root")
	// ErrOutsideValidity: a certificate of the chain has expired or is not yet valid.
	ErrOutsideValidity = errors.New("ades: certificate outside its validity period")
)

// Chain builds a certificate chain from cert over the intermediates to one of the roots, valid at
// the given time (RFC 5280 section 6). cert comes first and the root last. If roots is nil, the
// error is [ErrNoChain]. Chain skips intermediates whose keys [CheckKeySize] refuses. It does not
// check revocation.
func Chain(cert *x509.Certificate, intermediates []*x509.Certificate, roots *x509.CertPool, at time.Time) ([]*x509.Certificate, error) {
	if roots == nil {
		return nil, ErrNoChain
	}
	pool := x509.NewCertPool()
	for _, c := range intermediates {
		if CheckKeySize(c.PublicKey) == nil {
			pool.AddCert(c)
		}
	}
	chains, err := cert.Verify(x509.VerifyOptions{
		Roots:         roots,
		Intermediates: pool,
		CurrentTime:   at,
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return nil, chainError{cause: err}
	}
	return chains[0], nil
}

// chainError reports why crypto/x509 found no chain. It wraps ErrNoChain or ErrOutsideValidity,
// so that callers can test for either with errors.Is.
type chainError struct{ cause error }

func (e chainError) Error() string { return e.sentinel().Error() + ": " + e.reason() }

// reason returns the message of crypto/x509. For violated name constraints (RFC 5280 4.2.1.10) it
// leaves out the names that crypto/x509 repeats, because an e-mail address is personal data (see
// [Identify]).
func (e chainError) reason() string {
	var invalid x509.CertificateInvalidError
	if errors.As(e.cause, &invalid) && invalid.Reason == x509.CANotAuthorizedForThisName {
		invalid.Detail = "name constraints"
		return invalid.Error()
	}
	return e.cause.Error()
}

func (e chainError) Unwrap() []error { return []error{e.sentinel(), e.cause} }

func (e chainError) sentinel() error {
	var invalid x509.CertificateInvalidError
	if errors.As(e.cause, &invalid) && invalid.Reason == x509.Expired {
		return ErrOutsideValidity
	}
	return ErrNoChain
}

// oidPSSKey marks keys that may be used with RSASSA-PSS only (RFC 4055 section 1.2).
var oidPSSKey = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}

// PublicKey returns the public key of a certificate. When crypto/x509 cannot read the key, the
// error is [ErrAlgorithm] and names the type of the key. crypto/x509 cannot read keys that are
// restricted to RSASSA-PSS; PSS signatures with an ordinary RSA key are supported.
func PublicKey(cert *x509.Certificate) (crypto.PublicKey, error) {
	if cert.PublicKey != nil {
		return cert.PublicKey, nil
	}
	var spki struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(cert.RawSubjectPublicKeyInfo, &spki); err != nil {
		return nil, fmt.Errorf("%w: unreadable public key", ErrAlgorithm)
	}
	if spki.Algorithm.Algorithm.Equal(oidPSSKey) {
		return nil, fmt.Errorf("%w: key restricted to RSASSA-PSS (id-RSASSA-PSS)", ErrAlgorithm)
	}
	return nil, fmt.Errorf("%w: key of type %v", ErrAlgorithm, spki.Algorithm.Algorithm)
}

// maxRSABits bounds the work of one verification, which grows with the square of the key's length.
// Keys come from the documents that are verified, and crypto/rsa accepts any length.
const maxRSABits = 8192

// CheckKeySize returns [ErrAlgorithm] for a key that would make a verification too slow: an RSA key
// of more than 8192 bits, which is longer than any key in use, or one with an exponent of more than
// 31 bits, which crypto/rsa does not support.
func CheckKeySize(pub crypto.PublicKey) error {
	key, ok := pub.(*rsa.PublicKey)
	switch {
	case ok && key.N.BitLen() > maxRSABits:
		return fmt.Errorf("%w: RSA key of %d bits", ErrAlgorithm, key.N.BitLen())
	case ok && key.E > math.MaxInt32:
		return fmt.Errorf("%w: RSA key with an exponent of %d bits", ErrAlgorithm, bits.Len(uint(key.E)))
	}
	return nil
}

// CheckIssuer checks that an authority issued the certificate: by the issuer's name and by its
// signature (RFC 5280 6.1.3 (a)(4) and (a)(1)). The error is [ErrNoChain] if the authority did not
// issue it, and [ErrAlgorithm] if [CheckKeySize] refuses the authority's key. It checks neither
// validity nor revocation.
func CheckIssuer(cert, issuer *x509.Certificate) error {
	if !bytes.Equal(cert.RawIssuer, issuer.RawSubject) {
		return fmt.Errorf("%w: %s: the issuer has another name", ErrNoChain, Identify(cert))
	}
	if err := CheckKeySize(issuer.PublicKey); err != nil {
		return err
	}
	if err := cert.CheckSignatureFrom(issuer); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNoChain, Identify(cert), err)
	}
	return nil
}

// Pool is a set of certificates in memory. It finds issuers among them without any request. Several
// goroutines may use it at once.
type Pool struct {
	bySubject map[string][]*x509.Certificate // by RawSubject
}

// NewPool returns a pool of the certificates.
func NewPool(certificates ...*x509.Certificate) *Pool {
	p := &Pool{make(map[string][]*x509.Certificate)}
	for _, c := range certificates {
		p.bySubject[string(c.RawSubject)] = append(p.bySubject[string(c.RawSubject)], c)
	}
	return p
}

// Issuers implements [Issuers]. It matches the issuer's name and, where both certificates have it,
// the identifier of the issuer's key (RFC 5280 4.1.2.4, 4.2.1.1). It never fails.
func (p *Pool) Issuers(_ context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for _, c := range p.bySubject[string(cert.RawIssuer)] {
		if len(cert.AuthorityKeyId) == 0 || len(c.SubjectKeyId) == 0 || bytes.Equal(cert.AuthorityKeyId, c.SubjectKeyId) {
			found = append(found, c)
		}
	}
	return found, nil
}

// IssuersInOrder asks its sources in order until one finds an issuer that is valid now. Sources in
// memory therefore come before sources that fetch. Authorities renew their certificates under the
// same key, so an expired certificate in memory does not end the search.
type IssuersInOrder []Issuers

// Issuers implements [Issuers]. It returns all certificates found so far that have the issuer's name
// and the identifier of its key; where a certificate has no identifier, those whose key signed cert.
// If there are none, it returns the errors of all sources, joined; nil if no source has failed.
func (o IssuersInOrder) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	var failures []error
	now := time.Now()
	for _, source := range o {
		found, err := source.Issuers(ctx, cert)
		if err != nil {
			failures = append(failures, err)
		}
		for _, c := range found {
			if isLikelyIssuer(cert, c) {
				all = append(all, c)
			}
		}
		if ctx.Err() != nil || slices.ContainsFunc(all, func(c *x509.Certificate) bool { return validAt(c, now) }) {
			break
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, errors.Join(failures...)
}

// isLikelyIssuer reports whether issuer has the name and the key that cert names. It verifies a
// signature only if one of them does not identify the key, because the caller verifies the chain
// anyway.
func isLikelyIssuer(cert, issuer *x509.Certificate) bool {
	if len(cert.AuthorityKeyId) == 0 || len(issuer.SubjectKeyId) == 0 {
		return CheckIssuer(cert, issuer) == nil
	}
	return bytes.Equal(cert.RawIssuer, issuer.RawSubject) && bytes.Equal(cert.AuthorityKeyId, issuer.SubjectKeyId)
}

func validAt(c *x509.Certificate, t time.Time) bool {
	return !t.Before(c.NotBefore) && !t.After(c.NotAfter)
}

var (
	_ Issuers = (*Pool)(nil)
	_ Issuers = IssuersInOrder(nil)
)
