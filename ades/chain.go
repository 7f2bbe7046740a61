package ades

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"time"
)

var (
	// ErrNoChain: no chain leads from the certificate to a root.
	ErrNoChain = errors.New("ades: no certificate chain to a trusted root")
	// ErrOutsideValidity: a certificate of the chain is expired or not yet valid.
	ErrOutsideValidity = errors.New("ades: certificate outside its validity period")
)

// Chain builds a chain from cert over the intermediates to one of the roots that
// is valid at the time given (RFC 5280 section 6), cert first and the root last.
// Without roots there is no chain. Intermediates whose keys [CheckKeySize] refuses are
// passed over. Revocation is not looked at.
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

// chainError carries why crypto/x509 found no chain, as one of the two errors
// that callers tell apart.
type chainError struct{ cause error }

func (e chainError) Error() string { return e.sentinel().Error() + ": " + e.reason() }

// reason leaves out the names that crypto/x509 repeats where constraints forbid them (RFC
// 5280 4.2.1.10): an e-mail address is personal data, as [Identify] says.
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

// Chains remembers what was verified about certificates for one signature, for the next:
// authorities are the same in nearly all, and verifying their certificates costs more than
// all else that is done. The zero value is empty and ready; it is used by several
// goroutines.
type Chains struct {
	mu     sync.Mutex
	chains map[chainKey][]*x509.Certificate
	issued map[issuerKey]bool
}

type certificateID [sha256.Size]byte

// chainKey is all that a chain depends on beside the time. Documents bring certificates of
// authorities, some of them outdated or revoked: which chain is found over those is for
// that document alone.
type chainKey struct {
	certificate, intermediates certificateID
	roots                      *x509.CertPool
}

func newChainKey(cert *x509.Certificate, intermediates []*x509.Certificate, roots *x509.CertPool) chainKey {
	key := chainKey{certificate: sha256.Sum256(cert.Raw), roots: roots}
	all := sha256.New()
	for _, c := range intermediates { // DER says itself where it ends
		all.Write(c.Raw)
	}
	all.Sum(key.intermediates[:0])
	return key
}

// maxRemembered bounds what is remembered of each kind. Beyond it all is forgotten and
// found anew.
const maxRemembered = 1024

// Chain is [Chain] to the roots of the sources. A chain that was found before is returned
// again while all of its certificates are valid: nothing else about it depends on time.
func (s Sources) Chain(cert *x509.Certificate, intermediates []*x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	if s.Chains == nil {
		return Chain(cert, intermediates, s.Roots, at)
	}
	key := newChainKey(cert, intermediates, s.Roots)
	if chain := s.Chains.chain(key, at); chain != nil {
		return chain, nil
	}
	chain, err := Chain(cert, intermediates, s.Roots, at)
	if err == nil {
		s.Chains.mu.Lock()
		defer s.Chains.mu.Unlock()
		remember(&s.Chains.chains, key, chain)
		for i := range len(chain) - 1 {
			remember(&s.Chains.issued, newIssuerKey(chain[i], chain[i+1]), true)
		}
	}
	return chain, err
}

// issuerKey is a certificate and whose key it is signed by.
type issuerKey [2]certificateID

func newIssuerKey(cert, issuer *x509.Certificate) issuerKey {
	return issuerKey{sha256.Sum256(cert.Raw), sha256.Sum256(issuer.Raw)}
}

// CheckIssuer is [CheckIssuer], and remembers who did issue a certificate.
func (s Sources) CheckIssuer(cert, issuer *x509.Certificate) error {
	if s.Chains == nil {
		return CheckIssuer(cert, issuer)
	}
	key := newIssuerKey(cert, issuer)
	s.Chains.mu.Lock()
	issued := s.Chains.issued[key]
	s.Chains.mu.Unlock()
	if issued {
		return nil
	}
	err := CheckIssuer(cert, issuer)
	if err == nil {
		s.Chains.mu.Lock()
		defer s.Chains.mu.Unlock()
		remember(&s.Chains.issued, key, true)
	}
	return err
}

func (c *Chains) chain(key chainKey, at time.Time) []*x509.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	chain := c.chains[key]
	for _, cert := range chain {
		if at.Before(cert.NotBefore) || at.After(cert.NotAfter) {
			return nil
		}
	}
	return chain
}

func remember[K comparable, V any](all *map[K]V, key K, value V) {
	if *all == nil || len(*all) >= maxRemembered {
		*all = make(map[K]V)
	}
	(*all)[key] = value
}

// oidPSSKey marks keys that may be used with RSASSA-PSS alone (RFC 4055 section 1.2).
var oidPSSKey = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}

// PublicKey returns the key of a certificate. [ErrAlgorithm], with the name of the
// kind, when crypto/x509 cannot read it: a key that is restricted to RSASSA-PSS is
// one, while PSS with an ordinary RSA key is well supported.
func PublicKey(cert *x509.Certificate) (crypto.PublicKey, error) {
	if cert.PublicKey != nil {
		return cert.PublicKey, nil
	}
	var spki struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(cert.RawSubjectPublicKeyInfo, &spki); err != nil {
		return nil, fmt.Errorf("%w: certificate without a key", ErrAlgorithm)
	}
	if spki.Algorithm.Algorithm.Equal(oidPSSKey) {
		return nil, fmt.Errorf("%w: key restricted to RSASSA-PSS (id-RSASSA-PSS)", ErrAlgorithm)
	}
	return nil, fmt.Errorf("%w: key of type %v", ErrAlgorithm, spki.Algorithm.Algorithm)
}

// maxRSABits bounds the work of one check, which grows with the square of it: keys come
// with what they are to verify, and crypto/rsa calculates with any.
const maxRSABits = 8192

// CheckKeySize reports whether a signature is checked with the key in the time that keys in
// use need; [ErrAlgorithm] when it is longer than any of them (RSA beyond 8192 bits), or has
// an exponent that crypto/rsa does not calculate with (beyond 31 bits).
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

// CheckIssuer reports whether an authority issued the certificate: by its name and by its
// signature (RFC 5280 6.1.3 (a)(4) and (a)(1)). [ErrNoChain] when not, [ErrAlgorithm] when
// the authority's key is one that [CheckKeySize] refuses. Neither validity nor revocation is
// looked at.
func CheckIssuer(cert, issuer *x509.Certificate) error {
	if !bytes.Equal(cert.RawIssuer, issuer.RawSubject) {
		return fmt.Errorf("%w: %s: the issuer is of another name", ErrNoChain, Identify(cert))
	}
	if err := CheckKeySize(issuer.PublicKey); err != nil {
		return err
	}
	if err := cert.CheckSignatureFrom(issuer); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNoChain, Identify(cert), err)
	}
	return nil
}

// Pool has certificates that are at hand, and finds issuers among them without asking
// anybody. It is used by several goroutines.
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

// Issuers implements [Issuers]: by the issuer's name and, where both certificates say
// it, by the identifier of its key (RFC 5280 4.1.2.4, 4.2.1.1). It never fails.
func (p *Pool) Issuers(_ context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for _, c := range p.bySubject[string(cert.RawIssuer)] {
		if len(cert.AuthorityKeyId) == 0 || len(c.SubjectKeyId) == 0 || bytes.Equal(cert.AuthorityKeyId, c.SubjectKeyId) {
			found = append(found, c)
		}
	}
	return found, nil
}

// IssuersInOrder asks one after the other until one finds an issuer that is valid now, so
// that what is at hand stands before what has to be fetched. Authorities renew their
// certificates under the same key: an old one at hand does not hide the new one.
type IssuersInOrder []Issuers

// Issuers implements [Issuers]. It returns what was found on the way and did issue the
// certificate. When that is nothing, the error carries that of each source.
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
			if CheckIssuer(cert, c) == nil {
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

func validAt(c *x509.Certificate, t time.Time) bool {
	return !t.Before(c.NotBefore) && !t.After(c.NotAfter)
}

var (
	_ Issuers = (*Pool)(nil)
	_ Issuers = IssuersInOrder(nil)
)
