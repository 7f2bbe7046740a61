package validation

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

const (
	// maxAncestors limits the number of certificates above another. Usually there are 2 to 4, and
	// more where an authority was renewed or authorities certified each other.
	maxAncestors = 16
	// maxChecks limits the number of signatures that are verified to find the ancestors.
	maxChecks = 256
)

// path builds chains from the certificates of the data and then those of known. The certificates of
// the data come first because its revocation data is about them.
type path struct {
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
	x := d.read()
	key := chainKey{k, x.work.parsed(c), at.UTC().Round(0)}
	found, ok := x.chains[key]
	if !ok {
		found.chain, found.err = path{k, d}.chain(c, at)
		x.chains[key] = found
	}
	return found.chain, found.err
}

// HasWeakChain reports whether the certificate leads to a root through signatures of which at least
// one uses SHA-1. crypto/x509 rejects SHA-1, so [Data.Chain] does not find such a chain. Callers
// use HasWeakChain to tell a chain that was valid once from no chain at all. It ignores times. No
// signature passes because of such a chain.
func (d *Data) HasWeakChain(k *Known, c *x509.Certificate) bool {
	p, found := path{k, d}, []*x509.Certificate{c}
	weak := make(map[*x509.Certificate]bool) // certificates with a SHA-1 signature below them
	for i := 0; i < len(found) && i < maxAncestors; i++ {
		below := found[i]
		if weak[below] && k.isAnchored(below) {
			return true
		}
		for _, above := range p.withSubject(below.RawIssuer) {
			if !slices.ContainsFunc(found, above.Equal) && p.isSignedBy(below, above) {
				found = append(found, above)
				weak[above] = weak[below] || isSHA1(below.SignatureAlgorithm)
			}
		}
	}
	return false
}

// chain builds a chain at a time. If there is only one way to a root, it first tries that way, on
// which no signature has to be verified beforehand.
func (p path) chain(c *x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	if above := p.uniqueIssuers(c); above != nil && p.known.work.spend(signatureWork*int64(len(above))) {
		if chain, err := p.known.chain(c, above, at); err == nil {
			return chain, nil
		}
	}
	all := p.ancestors(c)
	if !p.isAnchored(all) {
		all = all[:1] // without a root, do not try all ways between authorities that certify each other
	}
	if !p.known.work.spend(signatureWork * int64(len(all))) {
		return nil, fmt.Errorf("%w: too many signatures to verify", ades.ErrNoChain)
	}
	return p.known.chain(c, all[1:], at)
}

// chainAtAnyTime builds a chain from the certificate to a root at any time at which there is one.
// It tries the time first before the others, and returns nil if there is no chain. A chain that was
// ever valid was valid when the validity of its last certificate began.
func (p path) chainAtAnyTime(c *x509.Certificate, first time.Time) []*x509.Certificate {
	if chain := p.chainAt(c, first); chain != nil {
		return chain
	}
	all := p.ancestors(c)
	if !p.isAnchored(all) {
		return nil
	}
	for _, above := range all {
		if chain := p.chainAt(c, above.NotBefore); chain != nil {
			return chain
		}
	}
	return nil
}

// chainAt builds a chain at a time. It returns nil if there is no chain, or if the time is zero,
// which crypto/x509 would take for now.
func (p path) chainAt(c *x509.Certificate, at time.Time) []*x509.Certificate {
	if at.IsZero() {
		return nil
	}
	chain, _ := p.data.Chain(p.known, c, at)
	return chain
}

// uniqueIssuers returns the certificates above c if there is exactly one for each issuer name on
// the way. It compares names only. It returns nil if there is none, or more than one for a name.
func (p path) uniqueIssuers(c *x509.Certificate) (above []*x509.Certificate) {
	for range maxAncestors {
		named := p.withSubject(c.RawIssuer)
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

// ancestors returns the certificate, its issuers, their issuers and so on. Each certificate occurs
// once, so that loops end.
func (p path) ancestors(c *x509.Certificate) []*x509.Certificate {
	found, checks := []*x509.Certificate{c}, maxChecks
	for i := 0; i < len(found); i++ {
		for _, issuer := range p.issuers(found[i], &checks) {
			if len(found) <= maxAncestors && !slices.ContainsFunc(found, issuer.Equal) {
				found = append(found, issuer)
			}
		}
	}
	return found
}

// issuers returns the certificates of the authority that issued c. Among those with the issuer's
// name, it first checks those whose key identifier fits. Once it has found the issuer's key, it
// checks only certificates with that key.
func (p path) issuers(c *x509.Certificate, checks *int) []*x509.Certificate {
	var found []*x509.Certificate
	named := p.withSubject(c.RawIssuer)
	for _, likely := range []bool{true, false} {
		for _, above := range named {
			if matchesAuthorityKey(above, c) != likely ||
				len(found) > 0 && !bytes.Equal(above.RawSubjectPublicKeyInfo, found[0].RawSubjectPublicKeyInfo) {
				continue
			}
			if *checks--; *checks < 0 {
				return found
			}
			if p.known.work.isIssuer(above, c) {
				found = append(found, above)
			}
		}
	}
	return found
}

// withSubject returns the certificates with a subject, in DER.
func (p path) withSubject(subject []byte) []*x509.Certificate {
	return slices.Concat(p.data.certificatesOf(subject), p.known.withSubject(subject))
}

// isAnchored reports whether one of the certificates is a root or was issued by a root. It begins
// with the last, which usually is a root, because that needs no verification of a signature.
func (p path) isAnchored(all []*x509.Certificate) bool {
	for _, c := range slices.Backward(all) {
		if p.known.isAnchored(c) {
			return true
		}
	}
	return false
}

// isSignedBy reports whether the key of by signed c. It accepts every hash that crypto/x509
// implements except MD5.
func (p path) isSignedBy(c, by *x509.Certificate) bool {
	return matchesAuthorityKey(by, c) && ades.CheckKeySize(by.PublicKey) == nil && p.known.work.spend(signatureWork) &&
		by.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

// chain builds a chain from c through the certificates above to one of the roots.
func (k *Known) chain(c *x509.Certificate, above []*x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	sources := k.work.sources
	sources.Roots = k.roots
	return sources.Chain(c, above, at)
}

// isAnchored reports whether a certificate is a root or a root issued it, whatever its validity.
// Without an anchored certificate there is no chain at any time.
func (k *Known) isAnchored(c *x509.Certificate) bool {
	key := anchorKey{k.work.parsed(c), k.roots}
	anchored, ok := k.work.anchored[key]
	if !ok && k.work.spend(signatureWork) {
		_, err := k.chain(c, nil, c.NotBefore)
		anchored = !errors.Is(err, ades.ErrNoChain)
		k.work.anchored[key] = anchored
	}
	return anchored
}

// checkUnaltered checks the authorities between the signer and the root of a chain. It returns an
// error if a different known certificate has the issuer and serial number of one of them. An
// authority uses a serial number once (RFC 5280 4.1.2.2), so one of the two certificates was
// altered.
func (k *Known) checkUnaltered(chain []*x509.Certificate) error {
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

// CheckAuthorities checks the certificates of the authorities in a chain, which are all but the
// first and the last. Each must allow the signing of certificates in an extension, which is
// mandatory (RFC 5280 4.2.1.3), and have the identifier of its key (4.2.1.2). None may have an
// extension that exempts it from revocation checking: those are for OCSP responders (RFC 6960
// 4.2.2.2.1), and for signers of data that is not used to validate other data (RFC 9608 4).
// crypto/x509 does not check this.
func CheckAuthorities(chain []*x509.Certificate) error {
	for i := 1; i+1 < len(chain); i++ {
		if err := checkAuthority(chain[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkAuthority(c *x509.Certificate) error {
	switch {
	case c.KeyUsage&x509.KeyUsageCertSign == 0:
		return fmt.Errorf("%w: %s is not certified for signing certificates", ades.ErrNoChain, ades.Identify(c))
	case len(c.SubjectKeyId) == 0:
		return fmt.Errorf("%w: %s does not identify its key", ades.ErrNoChain, ades.Identify(c))
	case hasExtension(c, oidNoCheck), hasExtension(c, oidNoRevAvail):
		return fmt.Errorf("%w: %s is an authority, and is exempt from revocation checking", ades.ErrNoChain, ades.Identify(c))
	}
	return nil
}

// CheckSigner returns an error if the certificate has id-pkix-ocsp-nocheck, which only OCSP
// responders may have.
func CheckSigner(c *x509.Certificate) error {
	if hasExtension(c, oidNoCheck) {
		return fmt.Errorf("%w: %s is a signer with id-pkix-ocsp-nocheck", ades.ErrNoChain, ades.Identify(c))
	}
	return nil
}

var (
	oidNoCheck    = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5} // id-pkix-ocsp-nocheck
	oidNoRevAvail = asn1.ObjectIdentifier{2, 5, 29, 56}                  // noRevAvail
	oidShortTerm  = asn1.ObjectIdentifier{0, 4, 0, 194121, 2, 1}         // id-etsi-ext-valassured-ST-certs
)

// isExempt reports whether a certificate needs no revocation data. An OCSP responder is exempt by
// id-pkix-ocsp-nocheck (RFC 6960 4.2.2.2.1). A signer is exempt if its certificate states that no
// revocation information is available (RFC 9608), or that it expires before it could be revoked (EN
// 319 412-1 5.2). A certification authority or timestamp authority is never exempt, because many
// signatures depend on it for a long time.
func isExempt(c *x509.Certificate) bool {
	isFor := func(usage x509.ExtKeyUsage) bool { return slices.Contains(c.ExtKeyUsage, usage) }
	switch {
	case c.IsCA, isFor(x509.ExtKeyUsageTimeStamping):
		return false
	case isFor(x509.ExtKeyUsageOCSPSigning):
		return hasExtension(c, oidNoCheck)
	}
	return hasExtension(c, oidNoRevAvail) || hasExtension(c, oidShortTerm)
}

// isExemptForLevel is the rule by which validators determine the level of a signature. The two
// extensions for signers exempt every certificate that is not a certification authority's. The
// validation of a certificate uses isExempt, which is stricter.
func isExemptForLevel(c *x509.Certificate) bool {
	return isExempt(c) || !c.IsCA && (hasExtension(c, oidNoRevAvail) || hasExtension(c, oidShortTerm))
}

func hasExtension(c *x509.Certificate, id asn1.ObjectIdentifier) bool {
	_, ok := der.ExtensionOf(c, id)
	return ok
}

// matchesAuthorityKey compares the authority key identifier of c with the subject key identifier of
// above (RFC 5280 4.2.1.1). A certificate that is signed by its own key may leave the identifier
// out: then the keys are compared.
func matchesAuthorityKey(above, c *x509.Certificate) bool {
	if len(c.AuthorityKeyId) == 0 {
		return bytes.Equal(above.RawSubjectPublicKeyInfo, c.RawSubjectPublicKeyInfo)
	}
	return bytes.Equal(above.SubjectKeyId, c.AuthorityKeyId)
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
