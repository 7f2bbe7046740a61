package validation

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
)

const (
	// maxAncestors limits the number of certificates above another. Usually there are 2 to 4, and
	// more where an authority was renewed or authorities certified each other.
	maxAncestors = 16
	// maxChecks limits the number of signatures that are verified to find the ancestors.
	maxChecks = 256
)

// chainBuilder builds chains from the certificates of the data and then those of known. The
// certificates of the data come first because its revocation data is about them.
type chainBuilder struct {
	known *Known
	data  *Data
}

// chainResult is a chain, or the reason why there is none.
type chainResult struct {
	chain []*x509.Certificate
	err   error
}

// Chain builds a chain from the certificate to a root at a time, as [ades.Chain] does, from the
// certificates of the data and those of k.
func (d *Data) Chain(k *Known, c *x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	index := d.indexed()
	key := index.keyOf(k, c, at)
	found, ok := index.chains[key]
	if !ok {
		found.chain, found.err = chainBuilder{k, d}.build(c, at)
		index.chains[key] = found
	}
	return found.chain, found.err
}

// build builds a chain at a time. If there is only one way to a root, it first tries that way, on
// which no signature has to be verified beforehand.
func (b chainBuilder) build(c *x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	if above := b.uniqueIssuers(c); above != nil {
		if chain, err := b.known.chainThrough(c, above, at); err == nil {
			return chain, nil
		}
	}
	all := b.ancestors(c)
	if !b.anyAnchored(all) {
		all = all[:1] // without a root, do not try all ways between authorities that certify each other
	}
	return b.known.chainThrough(c, all[1:], at)
}

// chainAtAnyTime builds a chain from the certificate to a root at any time at which there is one.
// It tries preferred before other times, and returns nil if there is no chain. A chain that was ever
// valid was valid when its certificate with the latest NotBefore became valid.
func (b chainBuilder) chainAtAnyTime(c *x509.Certificate, preferred time.Time) []*x509.Certificate {
	if chain := b.chainAt(c, preferred); chain != nil {
		return chain
	}
	all := b.ancestors(c)
	if !b.anyAnchored(all) {
		return nil
	}
	for _, one := range all {
		if chain := b.chainAt(c, one.NotBefore); chain != nil {
			return chain
		}
	}
	return nil
}

// chainAt is [Data.Chain] without the error. It returns nil if the time is zero, which
// crypto/x509 would take for now.
func (b chainBuilder) chainAt(c *x509.Certificate, at time.Time) []*x509.Certificate {
	if at.IsZero() {
		return nil
	}
	chain, _ := b.data.Chain(b.known, c, at)
	return chain
}

// uniqueIssuers returns the certificates above c, up to a self-signed one or the first issuer name
// without a certificate. It compares names only. It returns nil if there are none, if there are
// maxAncestors or more, or if a name has several certificates.
func (b chainBuilder) uniqueIssuers(c *x509.Certificate) (above []*x509.Certificate) {
	for range maxAncestors {
		named := b.withSubject(c.RawIssuer)
		if len(named) == 0 || named[0].Equal(c) {
			return above
		}
		if slices.ContainsFunc(named[1:], func(other *x509.Certificate) bool { return !other.Equal(named[0]) }) {
			return nil
		}
		c = named[0]
		above = append(above, c)
	}
	return nil
}

// ancestors returns c, then its issuers, their issuers and so on. Each certificate occurs once, so
// that loops end.
func (b chainBuilder) ancestors(c *x509.Certificate) []*x509.Certificate {
	found, checks := []*x509.Certificate{c}, maxChecks
	for i := 0; i < len(found); i++ {
		for _, issuer := range b.issuers(found[i], b.known.work.isIssuedBy, &checks) {
			if len(found) <= maxAncestors && !slices.ContainsFunc(found, issuer.Equal) {
				found = append(found, issuer)
			}
		}
	}
	return found
}

// issuers returns the certificates of the authority that issued c, as isIssuedBy verifies. Among
// those with the issuer's name, it first checks those whose key identifier fits. Once it has found
// the issuer's key, it checks only certificates with that key. It makes at most *checks checks, and
// subtracts them.
func (b chainBuilder) issuers(c *x509.Certificate, isIssuedBy func(c, issuer *x509.Certificate) bool, checks *int) []*x509.Certificate {
	var found []*x509.Certificate
	named := b.withSubject(c.RawIssuer)
	for _, likely := range []bool{true, false} {
		for _, issuer := range named {
			if matchesAuthorityKey(c, issuer) != likely ||
				len(found) > 0 && !bytes.Equal(issuer.RawSubjectPublicKeyInfo, found[0].RawSubjectPublicKeyInfo) {
				continue
			}
			if *checks--; *checks < 0 {
				return found
			}
			if isIssuedBy(c, issuer) {
				found = append(found, issuer)
			}
		}
	}
	return found
}

// withSubject returns the certificates with a subject, in DER.
func (b chainBuilder) withSubject(subject []byte) []*x509.Certificate {
	return slices.Concat(b.data.certificatesOf(subject), b.known.withSubject(subject))
}

// anyAnchored reports whether one of the certificates is a root or was issued by a root. It begins
// with the last, which usually is a root, because that needs no verification of a signature.
func (b chainBuilder) anyAnchored(all []*x509.Certificate) bool {
	for _, c := range slices.Backward(all) {
		if b.known.isAnchored(c) {
			return true
		}
	}
	return false
}

// chainThrough builds a chain from c through the certificates above to one of the roots. The work
// that it counts is an estimate: crypto/x509 verifies one signature for each certificate of a plain
// chain, and up to 100 where authorities certified each other.
func (k *Known) chainThrough(c *x509.Certificate, above []*x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	if !k.work.spend(signatureWork * int64(1+len(above))) {
		if err := k.work.interrupted(nil); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: too many signatures to verify", ades.ErrNoChain)
	}
	sources := k.work.sources
	sources.Roots = k.roots // for timestamps these are other roots
	return sources.Chain(c, above, at)
}

// isAnchored reports whether a certificate is a root or a root issued it, whatever its validity.
// Without an anchored certificate there is no chain at any time.
func (k *Known) isAnchored(c *x509.Certificate) bool {
	key := anchorKey{k.work.parsed(c), k.roots}
	anchored, ok := k.work.anchored[key]
	if !ok {
		_, err := k.chainThrough(c, nil, c.NotBefore)
		anchored = err == nil || errors.Is(err, ades.ErrOutsideValidity) // a root outside its validity anchors it too
		k.work.anchored[key] = anchored
	}
	return anchored
}

// checkSerialNumbers checks the authorities between the signer and the root of a chain. It returns
// an error if a different known certificate has the subject, the issuer and the serial number of one
// of them. An authority uses a serial number once (RFC 5280 4.1.2.2), so one of the two certificates
// was altered.
func (k *Known) checkSerialNumbers(chain []*x509.Certificate) error {
	if len(chain) < 3 {
		return nil
	}
	for _, c := range chain[1 : len(chain)-1] {
		for _, other := range k.withSubject(c.RawSubject) {
			if other.SerialNumber.Cmp(c.SerialNumber) == 0 && bytes.Equal(other.RawIssuer, c.RawIssuer) && !other.Equal(c) {
				return fmt.Errorf("two certificates have the same issuer and serial number, %s", ades.Identify(c))
			}
		}
	}
	return nil
}

// HasWeakChain reports whether the certificate leads to a root through signatures of which at least
// one uses SHA-1. crypto/x509 rejects SHA-1, so [Data.Chain] does not find such a chain. Callers
// use HasWeakChain to tell a chain that was valid once from no chain at all. It ignores times. It
// misses a SHA-1 signature of a root that is trusted, but whose certificate is neither in d nor in k.
// No signature passes because of such a chain.
func (d *Data) HasWeakChain(k *Known, c *x509.Certificate) bool {
	b, checks := chainBuilder{k, d}, maxChecks
	found := []partialChain{{certificates: []*x509.Certificate{c}}}
	for i := 0; i < len(found); i++ {
		below := found[i]
		if below.weak && k.isAnchored(below.last()) {
			return true
		}
		for _, issuer := range b.issuers(below.last(), b.isSignedBy, &checks) {
			longer := below.with(issuer)
			// Each ancestor is found at most twice: above a SHA-1 signature, and above none.
			if len(found) <= 2*maxAncestors && !below.hasKeyOf(issuer) && !slices.ContainsFunc(found, longer.endsLike) {
				found = append(found, longer)
			}
		}
	}
	return false
}

// partialChain is a certificate and others above it, each of which signed the one below.
type partialChain struct {
	certificates []*x509.Certificate
	weak         bool // one of the signatures uses SHA-1
}

func (p partialChain) last() *x509.Certificate { return p.certificates[len(p.certificates)-1] }

func (p partialChain) with(issuer *x509.Certificate) partialChain {
	return partialChain{append(slices.Clip(p.certificates), issuer), p.weak || isSHA1(p.last().SignatureAlgorithm)}
}

// hasKeyOf reports whether a certificate of the chain has the name and the key of c. A chain has each
// authority once, so that loops end.
func (p partialChain) hasKeyOf(c *x509.Certificate) bool {
	return slices.ContainsFunc(p.certificates, func(other *x509.Certificate) bool {
		return bytes.Equal(other.RawSubject, c.RawSubject) && bytes.Equal(other.RawSubjectPublicKeyInfo, c.RawSubjectPublicKeyInfo)
	})
}

// endsLike reports whether both chains have the same last certificate, and both or neither is weak.
func (p partialChain) endsLike(other partialChain) bool {
	return p.weak == other.weak && p.last().Equal(other.last())
}

// isSignedBy reports whether the key of issuer signed c. It accepts every hash that crypto/x509
// implements except MD5.
func (b chainBuilder) isSignedBy(c, issuer *x509.Certificate) bool {
	return ades.CheckKeySize(issuer.PublicKey) == nil && b.known.work.spend(signatureWork) &&
		issuer.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

// matchesAuthorityKey compares the authority key identifier of c with the subject key identifier of
// issuer (RFC 5280 4.2.1.1). A certificate that is signed by its own key may leave the identifier
// out: then the keys are compared.
func matchesAuthorityKey(c, issuer *x509.Certificate) bool {
	if len(c.AuthorityKeyId) == 0 {
		return bytes.Equal(issuer.RawSubjectPublicKeyInfo, c.RawSubjectPublicKeyInfo)
	}
	return bytes.Equal(issuer.SubjectKeyId, c.AuthorityKeyId)
}

// isSelfSigned reports whether the certificate is signed by its own key. No authority can revoke
// such a certificate.
func isSelfSigned(c *x509.Certificate) bool {
	return bytes.Equal(c.RawSubject, c.RawIssuer) && ades.CheckKeySize(c.PublicKey) == nil &&
		c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

func isSHA1(a x509.SignatureAlgorithm) bool {
	return a == x509.SHA1WithRSA || a == x509.ECDSAWithSHA1
}
