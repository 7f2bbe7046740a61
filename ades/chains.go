package ades

import (
	"crypto/sha256"
	"crypto/x509"
	"sync"
	"time"
)

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
