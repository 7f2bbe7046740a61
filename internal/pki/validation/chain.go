package validation

import (
	"bytes"
	"context"
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
	// maxAncestors bounds the certificates above one. Chains have 2 to 4 of them, more
	// where authorities were renewed or certified each other.
	maxAncestors = 16
	// maxChecks bounds the signatures that are verified to find them.
	maxChecks = 256
)

// Known is who is trusted, and certificates of a document outside of its validation data,
// such as those in its signatures and timestamps, among which issuers are found. All that
// is asked with it, and with what [Known.With] returns, shares one bound on the work:
// beyond that, or when the context ends, no more chains and proofs are found.
//
// A Known is not changed by what is asked with it. Questions come from one goroutine at a time.
type Known struct {
	work       *work
	roots      *x509.CertPool                 // what chains have to lead to
	parent     *Known                         // whose certificates come first; nil: none
	bySubject  map[string][]*x509.Certificate // by RawSubject
	timestamps *Known                         // see ForTimestamps; nil: not asked for yet
}

// NewKnown returns what is known of a document. Of the sources these are the roots, without
// which nobody is trusted, and the chains that are remembered.
func NewKnown(ctx context.Context, sources ades.Sources, certificates ...*x509.Certificate) *Known {
	k := &Known{work: newWork(ctx, sources), roots: sources.Roots}
	k.bySubject = k.work.bySubject(certificates)
	return k
}

// With returns the same with more certificates.
func (k *Known) With(certificates ...*x509.Certificate) *Known {
	return &Known{work: k.work, roots: k.roots, parent: k, bySubject: k.work.bySubject(certificates)}
}

// ForTimestamps returns the same with the roots of timestamp authorities.
func (k *Known) ForTimestamps() *Known {
	roots := k.work.sources.TimestampRoots
	if roots == nil || roots == k.roots {
		return k
	}
	if k.timestamps == nil {
		k.timestamps = &Known{work: k.work, roots: roots, parent: k.parent, bySubject: k.bySubject}
	}
	return k.timestamps
}

// of returns the same with the roots that the certificate of a target has to lead to.
func (k *Known) forTarget(t Target) *Known {
	if t.Timestamp {
		return k.ForTimestamps()
	}
	return k
}

// chain builds a chain to the roots over certificates above one.
func (k *Known) chain(c *x509.Certificate, above []*x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	sources := k.work.sources
	sources.Roots = k.roots
	return sources.Chain(c, above, at)
}

func (w *work) bySubject(certificates []*x509.Certificate) map[string][]*x509.Certificate {
	named, seen := make(map[string][]*x509.Certificate), make(map[fingerprint]bool)
	for _, c := range certificates {
		if key := w.fingerprint(c); !seen[key] {
			seen[key] = true
			named[string(c.RawSubject)] = append(named[string(c.RawSubject)], c)
		}
	}
	return named
}

// named returns the certificates of one subject.
func (k *Known) withSubject(subject []byte) []*x509.Certificate {
	if k == nil {
		return nil
	}
	return slices.Concat(k.parent.withSubject(subject), k.bySubject[string(subject)])
}

// isAnchored reports whether a certificate is a root or a root issued it, be it at another
// time: without such a certificate there is no chain at any time.
func (k *Known) isAnchored(c *x509.Certificate) bool {
	key := anchorKey{k.work.fingerprint(c), k.roots}
	anchored, ok := k.work.anchored[key]
	if !ok && k.work.spend(signatureWork) {
		_, err := k.chain(c, nil, c.NotBefore)
		anchored = !errors.Is(err, ades.ErrNoChain)
		k.work.anchored[key] = anchored
	}
	return anchored
}

// checkUnaltered makes sure that no certificate that is known has the issuer and serial number of an authority between the
// signer and the root of a chain, and is another: a number is given once (RFC 5280 4.1.2.2), so that one of the two was
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

// path is where chains are looked for: over the certificates of the data, which are those
// that its proofs are about, and then over the others.
type path struct {
	known *Known
	data  *Data
}

func (p path) withSubject(subject []byte) []*x509.Certificate {
	return slices.Concat(p.data.certificatesOf(subject), p.known.withSubject(subject))
}

// ancestors returns the certificate and those that issued it, or issued one that did. Each
// comes once, so loops end.
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

// issuers returns the certificates of the authority that issued one. Of several of its
// name, those whose key it seems to be are looked at first, and once that is known no
// others.
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

// matchesAuthorityKey goes by the identifier of the key (RFC 5280 4.2.1.1), which a certificate
// that is signed by its own key may leave out.
func matchesAuthorityKey(above, c *x509.Certificate) bool {
	if len(c.AuthorityKeyId) == 0 {
		return bytes.Equal(above.RawSubjectPublicKeyInfo, c.RawSubjectPublicKeyInfo)
	}
	return bytes.Equal(above.SubjectKeyId, c.AuthorityKeyId)
}

// line returns the certificates above one, by their names alone, if there is one of each name: it is the only way
// up. nil: there is none, or a choice.
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

// chain builds a chain at a time. Where there is one way up, its signatures are verified with the chain.
func (p path) chain(c *x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	if above := p.uniqueIssuers(c); above != nil && p.known.work.spend(signatureWork*int64(len(above))) {
		if chain, err := p.known.chain(c, above, at); err == nil {
			return chain, nil
		}
	}
	all := p.ancestors(c)
	if !p.isAnchored(all) {
		all = all[:1] // authorities that certify each other are no reason to try all ways between them
	}
	if !p.known.work.spend(signatureWork * int64(len(all))) {
		return nil, fmt.Errorf("%w: too many signatures to verify", ades.ErrNoChain)
	}
	return p.known.chain(c, all[1:], at)
}

// isAnchored reports whether a root issued one of a certificate and its ancestors, or is one: the last of them, as a
// rule, which is found out with no signature to verify.
func (p path) isAnchored(all []*x509.Certificate) bool {
	for _, c := range slices.Backward(all) {
		if p.known.isAnchored(c) {
			return true
		}
	}
	return false
}

// chainAtAnyTime builds a chain from the certificate to a root at whatever time there is
// one; nil when there is none. If a chain was ever valid, it was so when the last of
// its certificates began to be.
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

// chainAt builds a chain at a time; nil: there is none, or no time, which crypto/x509 would take for now.
func (p path) chainAt(c *x509.Certificate, at time.Time) []*x509.Certificate {
	if at.IsZero() {
		return nil
	}
	chain, _ := p.data.Chain(p.known, c, at)
	return chain
}

// chainResult is a chain, or why there is none.
type chainResult struct {
	chain []*x509.Certificate
	err   error
}

// Chain builds a chain from the certificate to a root at a time, as [ades.Chain] does,
// over the certificates of the data and those that are known.
func (d *Data) Chain(k *Known, c *x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	x := d.read()
	key := chainKey{k, x.work.fingerprint(c), at.UTC().Round(0)}
	found, ok := x.chains[key]
	if !ok {
		found.chain, found.err = path{k, d}.chain(c, at)
		x.chains[key] = found
	}
	return found.chain, found.err
}

// certificatesOf returns those of one subject.
func (d *Data) certificatesOf(subject []byte) []*x509.Certificate {
	return d.read().certificates[string(subject)]
}

// HasWeakChain reports whether the certificate leads to a root by signatures some of which are by SHA-1, that nobody
// relies on any more and crypto/x509 does not look at: so that a chain that was good once is told from none. No
// time is looked at, and nothing passes by such a chain.
func (d *Data) HasWeakChain(k *Known, c *x509.Certificate) bool {
	p, found := path{k, d}, []*x509.Certificate{c}
	weak := make(map[*x509.Certificate]bool) // below whom there is such a signature
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

func isSHA1(a x509.SignatureAlgorithm) bool {
	return a == x509.SHA1WithRSA || a == x509.ECDSAWithSHA1
}

// signed verifies a signature by any hash that crypto/x509 knows but MD5.
func (p path) isSignedBy(c, by *x509.Certificate) bool {
	return matchesAuthorityKey(by, c) && ades.CheckKeySize(by.PublicKey) == nil && p.known.work.spend(signatureWork) &&
		by.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

// CheckAuthorities makes sure that the authorities of a chain, all between its ends, are certified as such: for
// signing certificates, by an extension that has to be there (RFC 5280 4.2.1.3), with the identifier of their key
// (4.2.1.2), and without what says that nobody need ask about them: that is for responders (RFC 6960 4.2.2.2.1), or
// for who signs nothing that others rely on in turn (RFC 9608 4). crypto/x509 lets these things pass.
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
		return fmt.Errorf("%w: %s is an authority, and says that nobody need ask about it", ades.ErrNoChain, ades.Identify(c))
	}
	return nil
}

// CheckSigner makes sure that the certificate is not one of those which only responders may have.
func CheckSigner(c *x509.Certificate) error {
	if hasExtension(c, oidNoCheck) {
		return fmt.Errorf("%w: %s signs, and is certified as a responder is", ades.ErrNoChain, ades.Identify(c))
	}
	return nil
}

var (
	oidNoCheck    = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}
	oidNoRevAvail = asn1.ObjectIdentifier{2, 5, 29, 56}
	oidShortTerm  = asn1.ObjectIdentifier{0, 4, 0, 194121, 2, 1}
)

// exempt reports whether nobody asks if the certificate was revoked. Of a responder's it is id-pkix-ocsp-nocheck that
// says so (RFC 6960 4.2.2.2.1), of a signer's that no information is available (RFC 9608), or that it lives shorter
// than revoking it would take (EN 319 412-1 5.2). An authority's never is, be it one of timestamps: many rely on it
// for long.
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

// isExemptForLevel is the rule by which validators find the level of a signature: what says that nobody need ask says so of
// whoever has it. What is relied upon goes by [exempt], which is stricter.
func isExemptForLevel(c *x509.Certificate) bool {
	return isExempt(c) || !c.IsCA && (hasExtension(c, oidNoRevAvail) || hasExtension(c, oidShortTerm))
}

func hasExtension(c *x509.Certificate, id asn1.ObjectIdentifier) bool {
	_, ok := der.ExtensionOf(c, id)
	return ok
}

// selfSigned: there is no authority that could revoke it.
func isSelfSigned(c *x509.Certificate) bool {
	return bytes.Equal(c.RawSubject, c.RawIssuer) && ades.CheckKeySize(c.PublicKey) == nil &&
		c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}
