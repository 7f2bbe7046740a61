package validation

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
)

// levelCheck compares the validation data for one target with the requirements of level LT.
type levelCheck struct {
	chainBuilder
	seen    map[fingerprint]bool // certificates whose chain was checked
	used    Data                 // the data that concerns the target, with duplicates
	missing []string             // sentences
}

// Missing returns what the data lacks for level LT (EN 319 142-1 6.3), as sentences without
// duplicates. It fetches nothing and ignores times, as validators do when they determine the level.
// Every certificate below the roots needs revocation data that verifies, and so does every OCSP
// responder that signed revocation data. A target needs a chain to a root, unless it is
// self-signed. Without any revocation data, the level is never LT.
func (d *Data) Missing(k *Known, targets ...Target) []string {
	if len(d.OCSP)+len(d.CRLs) == 0 {
		return []string{"there is no revocation data"}
	}
	var all []string
	seen := make(map[string]bool)
	for _, t := range targets {
		for _, sentence := range d.checkLevel(k, t).missing {
			if !seen[sentence] {
				seen[sentence] = true
				all = append(all, sentence)
			}
		}
	}
	return all
}

// ForTargets returns the part of the data that concerns the targets: their chains including the roots, the
// revocation data about each certificate, and the same for each OCSP responder that signed
// revocation data.
func (d *Data) ForTargets(k *Known, targets ...Target) *Data {
	var all []*Data
	for _, t := range targets {
		all = append(all, &d.checkLevel(k, t).used)
	}
	return Merge(all...)
}

// checkLevel returns the levelCheck of a target, which it makes once.
func (d *Data) checkLevel(k *Known, t Target) *levelCheck {
	index := d.indexed()
	if t.Certificate == nil {
		return &levelCheck{missing: []string{"the certificate of a signer or timestamp authority is absent"}}
	}
	key := index.keyOf(k.forTarget(t), t.Certificate, t.times(time.Time{}).SigningTime)
	m, ok := index.levelChecks[key]
	if !ok {
		m = &levelCheck{chainBuilder: chainBuilder{k.forTarget(t), d}, seen: make(map[fingerprint]bool)}
		m.checkChain(t.Certificate, key.at)
		index.levelChecks[key] = m
	}
	return m
}

func (m *levelCheck) add(format string, args ...any) {
	m.missing = append(m.missing, fmt.Sprintf(format, args...))
}

// isNew reports whether the certificate was not checked before.
func (m *levelCheck) isNew(c *x509.Certificate) bool {
	key := m.known.work.fingerprint(c)
	old := m.seen[key]
	m.seen[key] = true
	return !old
}

// checkChain checks a certificate and its chain, and then the chain of each OCSP responder that
// signed revocation data for them.
func (m *levelCheck) checkChain(c *x509.Certificate, at time.Time) {
	if !m.isNew(c) {
		return
	}
	chain := m.chainAtAnyTime(c, at)
	if chain == nil && !(m.known.work.spend(signatureWork) && isSelfSigned(c)) {
		m.add("no chain leads from %s to a trusted root", ades.Identify(c))
	}
	m.used.Certificates = append(m.used.Certificates, chain...)
	for i := range len(chain) - 1 {
		if i > 0 && !m.isNew(chain[i]) {
			return // the certificates above it were checked too
		}
		m.checkCertificate(chain[i], chain[i+1])
	}
}

func (m *levelCheck) checkCertificate(c, issuer *x509.Certificate) {
	if isExemptForLevel(c) {
		return
	}
	answers := m.data.About(c, issuer)
	if len(answers) == 0 {
		m.add("no revocation data about %s", ades.Identify(c))
	}
	for _, a := range answers {
		if !m.known.work.spend(answerWork) {
			m.add("too much revocation data about %s", ades.Identify(c))
			return
		}
		m.used.OCSP, m.used.CRLs = appendNonNil(m.used.OCSP, a.RevocationData.OCSP), appendNonNil(m.used.CRLs, a.RevocationData.CRL)
		m.checkChain(a.Signer, a.ProducedAt)
	}
}

// Present reports whether the data contains everything that level LT consists of, valid or not.
// This is, for each target, a chain to a root or to a certificate that names itself as its issuer,
// revocation data about each certificate below that, and the same for the OCSP responders that
// signed revocation data. Validators determine the level of a signature in this way, even if they
// trust no root or if the chain uses SHA-1. A [Validator] decides whether the data is valid.
func (d *Data) Present(k *Known, targets ...Target) bool {
	if len(d.OCSP)+len(d.CRLs) == 0 {
		return false
	}
	seen := make(map[fingerprint]bool)
	for _, t := range targets {
		p := presence{chainBuilder{k.forTarget(t), d}, seen}
		if t.Certificate == nil || len(d.Missing(k, t)) > 0 && !p.hasAllParts(t.Certificate) {
			return false
		}
	}
	return true
}

// presence follows chains by the names and key identifiers in certificates. It verifies no
// signatures of certificates.
type presence struct {
	chainBuilder
	seen map[fingerprint]bool // certificates from which a chain was followed
}

// hasAllParts reports whether the data contains the certificates from c up to one that names itself
// as its issuer, and revocation data about each below that. A chain may also end at a certificate
// that is exempt from revocation checking.
func (p presence) hasAllParts(c *x509.Certificate) bool {
	for !bytes.Equal(c.RawSubject, c.RawIssuer) {
		key := p.known.work.fingerprint(c)
		if p.seen[key] {
			return true
		}
		p.seen[key] = true
		issuer := p.likelyIssuer(c)
		switch {
		case issuer == nil:
			return isExemptForLevel(c)
		case !isExemptForLevel(c) && !p.hasRevocationData(c, issuer):
			return false
		}
		c = issuer
	}
	return true
}

// likelyIssuer returns the certificate that c names as its issuer, or nil. If there are several, it
// prefers the one with the key identifier that c states, and then one that names itself as its
// issuer: a certificate that another authority issued would need more validation data.
func (p presence) likelyIssuer(c *x509.Certificate) (found *x509.Certificate) {
	likelihood := func(issuer *x509.Certificate) (n int) {
		if matchesAuthorityKey(c, issuer) {
			n += 2
		}
		if bytes.Equal(issuer.RawSubject, issuer.RawIssuer) {
			n++
		}
		return n
	}
	for _, issuer := range p.withSubject(c.RawIssuer) {
		if !p.known.work.spend(answerWork) {
			return nil
		}
		if found == nil || likelihood(issuer) > likelihood(found) {
			found = issuer
		}
	}
	return found
}

// hasRevocationData reports whether there is revocation data about a certificate, and whether all
// parts are present for every OCSP responder that signed such data.
func (p presence) hasRevocationData(c, issuer *x509.Certificate) bool {
	index, found := p.data.indexed(), false
	for _, r := range index.responses[c.SerialNumber.String()] {
		if _, about := r.For(c, issuer); !about {
			continue
		}
		if !p.known.work.spend(int64(len(r.Raw))) {
			return false
		}
		found = true
		if signer := r.Responder(issuer); signer == nil || !p.hasAllParts(signer) {
			return false
		}
	}
	for _, l := range index.lists {
		found = found || p.listCovers(l, c, issuer)
	}
	return found
}

// listCovers reports whether a CRL with the issuer's name and key identifier covers the
// certificate. It accepts a CRL whose signature is invalid, or that was made outside of the
// issuer's validity.
func (p presence) listCovers(l *crl.List, c, issuer *x509.Certificate) bool {
	err := p.known.work.verifyList(l, issuer)
	if errors.Is(err, crl.ErrIssuer) || errors.Is(err, errTooMuch) || !p.known.work.spend(int64(len(l.Raw))) {
		return false
	}
	_, err = l.Find(c)
	return err == nil
}
