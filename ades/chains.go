package ades

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Chains is a cache of verified certificate chains and of what authorities have signed: certificates
// and revocation data. Most signatures come from the same few authorities, and verifying the
// authorities' signatures costs more than all other work on a document. The zero value is empty and
// ready to use. Several goroutines may use it at once. The owner keeps it for as long as its
// sources: a server for all signatures, a program that verifies many documents for all of them.
//
// A cached chain is used only for the same certificate, the same intermediates and the same
// [x509.CertPool] of roots, and only at times at which the same chain would be found without the
// cache: all of its certificates are valid, and of the intermediates the same ones. A chain is not
// cached if the certificate leads to more than one root, or is a root. A cached chain states nothing
// about revocation, which is checked each time. A program whose trusted roots change uses another
// pool from then on; one that makes a new pool for each call finds nothing in the cache.
//
// Chains also remembers which signatures on certificates and revocation data were verified, since
// the status of an issuer is read anew for each document from the same CRL or OCSP response.
//
// Chains holds at most 1024 chains and the digests of 1024 signatures, and drops those that were not
// used lately.
type Chains struct {
	byKey  recent[chainKey, []*x509.Certificate]
	signed recent[signedKey, struct{}]
}

// maxChainSize bounds the length of the certificates of a cached chain, in bytes of DER. Chains in
// use have a few thousand.
const maxChainSize = 64 << 10

// digest is the SHA-256 digest of a DER encoding.
type digest = [sha256.Size]byte

// chainKey is everything that a chain depends on besides the validity of its root, for certificates
// for which leadsToOneRoot is true. It includes the intermediates, because documents embed
// certificates of authorities, some of them outdated or revoked: a chain over those must not be used
// for another document.
type chainKey struct {
	certificates digest // the certificate, then the intermediates, and which of them are valid
	roots        *x509.CertPool
}

// newChainKey returns the key of a chain at a time. It includes the critical extensions that no code
// has handled, because a caller that has handled one removes it from the parsed certificate, and
// [Chain] refuses the others.
func newChainKey(cert *x509.Certificate, intermediates []*x509.Certificate, roots *x509.CertPool, at time.Time) chainKey {
	key, all := chainKey{roots: roots}, sha256.New()
	for _, c := range append([]*x509.Certificate{cert}, intermediates...) {
		all.Write(c.Raw) // DER has its own length, and the list its brackets, so no separator is needed
		fmt.Fprint(all, c.UnhandledCriticalExtensions, validAt(c, at))
	}
	all.Sum(key.certificates[:0])
	return key
}

// signedKey identifies a certificate or revocation data, and the certificate whose key signed it.
type signedKey struct{ data, signer digest }

// Chain builds the chain of a certificate to a root of the sources, as the function [Chain] does. If
// the sources have a cache (s.Chains), it returns the chain from there where it can. The caller must
// not change the returned slice.
func (s Sources) Chain(cert *x509.Certificate, intermediates []*x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	if s.Chains == nil {
		return Chain(cert, intermediates, s.Roots, at)
	}
	if at.IsZero() {
		at = time.Now() // as crypto/x509 does
	}
	key := newChainKey(cert, intermediates, s.Roots, at)
	if chain, ok := s.Chains.byKey.get(key); ok && allValidAt(chain, at) {
		return chain, nil
	}
	chain, err := Chain(cert, intermediates, s.Roots, at)
	if err == nil && len(chain) > 1 && leadsToOneRoot(cert, intermediates, s.Roots) {
		s.Chains.add(key, chain)
	}
	return chain, err
}

// leadsToOneRoot reports whether exactly one root of the pool has the name of an issuer above the
// certificate. It follows the names of issuers through all intermediates, and compares names only.
func leadsToOneRoot(cert *x509.Certificate, intermediates []*x509.Certificate, roots *x509.CertPool) bool {
	issuers := make(map[string][]string) // by the subject's name
	for _, c := range intermediates {
		issuers[string(c.RawSubject)] = append(issuers[string(c.RawSubject)], string(c.RawIssuer))
	}
	reached := make(map[string]bool)
	for names := []string{string(cert.RawIssuer)}; len(names) > 0; names = names[1:] {
		if !reached[names[0]] {
			reached[names[0]] = true
			names = append(names, issuers[names[0]]...)
		}
	}
	found := 0
	//lint:ignore SA1019 Subjects leaves out the roots of the system only, and their chains are not cached then.
	for _, subject := range roots.Subjects() {
		if reached[string(subject)] {
			found++
		}
	}
	return found == 1
}

// CheckIssuer does what the function [CheckIssuer] does, and remembers in s.Chains for which
// certificates and issuers it succeeded.
func (s Sources) CheckIssuer(cert, issuer *x509.Certificate) error {
	sum := func() [sha256.Size]byte { return sha256.Sum256(cert.Raw) }
	return s.CheckSigned(sum, issuer, func() error { return CheckIssuer(cert, issuer) })
}

// CheckSigned calls check and returns its error. check verifies that signer has signed a certificate
// or revocation data; its result depends on nothing else. sum returns the SHA-256 digest of the DER
// of what was signed. CheckSigned remembers in s.Chains that check succeeded, and does not call it
// again then. Without s.Chains it does not call sum.
func (s Sources) CheckSigned(sum func() [sha256.Size]byte, signer *x509.Certificate, check func() error) error {
	if s.Chains == nil {
		return check()
	}
	key := signedKey{sum(), sha256.Sum256(signer.Raw)}
	if _, ok := s.Chains.signed.get(key); ok {
		return nil
	}
	err := check()
	if err == nil {
		s.Chains.signed.add(key, struct{}{})
	}
	return err
}

// add adds a chain that was verified, and its issuers except those that [CheckIssuer] refuses.
func (c *Chains) add(key chainKey, chain []*x509.Certificate) {
	for i, issuer := range chain[1:] {
		if CheckKeySize(issuer.PublicKey) == nil {
			c.signed.add(signedKey{sha256.Sum256(chain[i].Raw), sha256.Sum256(issuer.Raw)}, struct{}{})
		}
	}
	if kept := cloneChain(chain); kept != nil {
		c.byKey.add(key, kept)
	}
}

// cloneChain returns a copy of a chain, or nil if the chain is too long to be cached. It copies the
// certificates below the root, because a parsed certificate keeps all the bytes from which it was
// parsed in memory, such as those of a whole signature. The root stays in memory with the pool.
func cloneChain(chain []*x509.Certificate) (clone []*x509.Certificate) {
	size := 0
	for i, c := range chain {
		if size += len(c.Raw); size > maxChainSize {
			return nil
		}
		if i < len(chain)-1 {
			copied, err := x509.ParseCertificate(bytes.Clone(c.Raw))
			if err != nil {
				return nil
			}
			copied.UnhandledCriticalExtensions = slices.Clone(c.UnhandledCriticalExtensions)
			c = copied
		}
		clone = append(clone, c)
	}
	return clone
}

func allValidAt(chain []*x509.Certificate, at time.Time) bool {
	for _, c := range chain {
		if !validAt(c, at) {
			return false
		}
	}
	return true
}

// recent is a bounded map of what was used lately, in two generations. An entry that is used moves
// to the younger one. When that is full, it becomes the older one, and the older one is dropped. So
// an entry remains while it is used at least once in maxGeneration additions.
// The zero value is empty and ready to use. Several goroutines may use it at once.
type recent[K comparable, V any] struct {
	mu             sync.Mutex
	younger, older map[K]V
}

const maxGeneration = 512 // entries

func (r *recent[K, V]) get(key K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok := r.younger[key]
	if !ok {
		if value, ok = r.older[key]; ok {
			r.put(key, value)
		}
	}
	return value, ok
}

func (r *recent[K, V]) add(key K, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(key, value)
}

// put adds an entry to the younger generation. The caller holds the mutex.
func (r *recent[K, V]) put(key K, value V) {
	if _, ok := r.younger[key]; !ok && len(r.younger) >= maxGeneration {
		r.older, r.younger = r.younger, nil
	}
	if r.younger == nil {
		r.younger = make(map[K]V)
	}
	r.younger[key] = value
}
