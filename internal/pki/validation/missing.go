package validation

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
)

// Lacking returns the targets for which something has to be collected, and why: what is
// [Data.Missing], and chains whose [Data.ChainStatus] is not known or bad, since a proof
// of another day says nothing about today.
//
// A target whose chain is not valid at the time by which it is judged lacks nothing by
// that, which no proof would change.
func (d *Data) Lacking(k *Known, targets ...Target) (lacking []Target, why error) {
	var reasons []error
	now := time.Now()
	for _, t := range targets {
		if err := d.suffices(k, t, now); err != nil {
			lacking, reasons = append(lacking, t), append(reasons, err)
		}
	}
	return lacking, errors.Join(reasons...)
}

func (d *Data) suffices(k *Known, t Target, now time.Time) error {
	if missing := d.Missing(k, t); len(missing) > 0 {
		return fmt.Errorf("%w: %s", ades.ErrNoRevocation, strings.Join(missing, "; "))
	}
	times := t.times(now)
	chain, err := d.Chain(k.forTarget(t), t.Certificate, times.ValidationTime)
	if err != nil || len(chain) == 1 {
		return nil
	}
	return d.ChainStatus(chain, times)
}

// Complete collects the validation data that have lacks for the targets, and that of the others in any case. The result is
// what to add to have, some of which have may contain; it is empty if have suffices.
//
// If have contains only revocation data from before a signature about its signer, as when the same person signed the
// document a moment ago, Complete asks the sources again, because the certificate may have been revoked since. It is no
// error then if they have no newer data.
func Complete(ctx context.Context, sources ades.Sources, known *Known, have *Data, targets []Target, others ...Target) (*Data, error) {
	lacking, _ := have.Lacking(known, targets...)
	older := have.answeredBefore(known, targets, lacking)
	found, err := Collect(ctx, sources, known, append(lacking, others...)...)
	if err != nil {
		return nil, err
	}
	if _, err := Merge(have, found).ChargeTo(known).Lacking(known, targets...); err != nil {
		return nil, err
	}
	for _, t := range older {
		newer, err := Collect(ctx, sources, known, t)
		switch {
		case errors.Is(err, ades.ErrRevoked):
			return nil, err
		case err == nil:
			found = Merge(found, newer)
		}
	}
	return found, ctx.Err()
}

// answeredBefore returns the targets, except those of lacking, about which the data contains only revocation data from
// before the signature. An expired certificate is not among them: its authority need not know its status any more.
func (d *Data) answeredBefore(k *Known, targets, lacking []Target) (older []Target) {
	now := time.Now()
	for _, t := range targets {
		if t.BestSignatureTime.IsZero() || now.After(t.Certificate.NotAfter) || isExempt(t.Certificate) || slices.Contains(lacking, t) {
			continue
		}
		chain, err := d.Chain(k.forTarget(t), t.Certificate, t.BestSignatureTime)
		if err != nil || len(chain) == 1 {
			continue
		}
		if !slices.ContainsFunc(d.About(t.Certificate, chain[1]), func(a Answer) bool { return a.issuedSince(t.BestSignatureTime) }) {
			older = append(older, t)
		}
	}
	return older
}

// Missing says what the data lacks for level LT (EN 319 142-1 6.3), in sentences, each
// once; none: nothing. The rule is that of the validators: offline, and without looking at
// times, every certificate below the roots has a proof that verifies, as has every
// responder that signed one. A target without a chain to a root lacks all of it,
// unless it is self-signed, and data without any proof is never enough.
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

// Of returns what of the data is about the targets: their chains with the roots, the
// proofs about each certificate of them, and the same for whoever signed a proof.
func (d *Data) Of(k *Known, targets ...Target) *Data {
	var all []*Data
	for _, t := range targets {
		all = append(all, &d.checkLevel(k, t).used)
	}
	return Merge(all...)
}

// checkLevel goes through all that has to be there for a target, once for each.
func (d *Data) checkLevel(k *Known, t Target) *levelCheck {
	x := d.read()
	if t.Certificate == nil {
		return &levelCheck{missing: []string{"the certificate of a signer or timestamp authority is absent"}}
	}
	key := chainKey{k.forTarget(t), x.work.fingerprint(t.Certificate), t.times(time.Time{}).SigningTime.UTC().Round(0)}
	m, ok := x.levelChecks[key]
	if !ok {
		m = &levelCheck{path: path{k.forTarget(t), d}, seen: make(map[fingerprint]bool)}
		m.checkChain(t.Certificate, key.at)
		x.levelChecks[key] = m
	}
	return m
}

// question is one about a certificate at a time, by what is known.
type chainKey struct {
	known *Known
	cert  fingerprint
	at    time.Time // comparable: UTC without the monotonic clock
}

// levelCheck is what has to be there for one target.
type levelCheck struct {
	path
	seen    map[fingerprint]bool // certificates whose chain was looked at
	used    Data                 // what there is, some of it repeatedly
	missing []string
}

func (m *levelCheck) add(format string, args ...any) {
	m.missing = append(m.missing, fmt.Sprintf(format, args...))
}

// isNew reports whether a certificate comes for the first time.
func (m *levelCheck) isNew(c *x509.Certificate) bool {
	key := m.known.work.fingerprint(c)
	old := m.seen[key]
	m.seen[key] = true
	return !old
}

// check looks at a certificate and its chain. Answers lead to responders, whose
// chains are looked at in turn.
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
			return // and so was all above it
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
			m.add("too much is said about %s", ades.Identify(c))
			return
		}
		m.used.OCSP, m.used.CRLs = appendNonNil(m.used.OCSP, a.RevocationData.OCSP), appendNonNil(m.used.CRLs, a.RevocationData.CRL)
		m.checkChain(a.Signer, a.ProducedAt)
	}
}

func appendNonNil(all [][]byte, proof []byte) [][]byte {
	if proof == nil {
		return all
	}
	return append(all, proof)
}

// Present reports whether the pieces are there that level LT consists of, whatever they are worth: a way from each
// target up to a root, or to a certificate that names itself as its issuer, a proof about each certificate below
// that, and the same for whoever signed the proof. So validators find the level of a signature, also where they
// trust nobody, or where SHA-1 was in use; whether anybody should rely on the pieces is for the judgement.
func (d *Data) Present(k *Known, targets ...Target) bool {
	if len(d.OCSP)+len(d.CRLs) == 0 {
		return false
	}
	seen := make(map[fingerprint]bool)
	for _, t := range targets {
		p := presence{path{k.forTarget(t), d}, seen}
		if t.Certificate == nil || len(d.Missing(k, t)) > 0 && !p.hasAllParts(t.Certificate) {
			return false
		}
	}
	return true
}

// presence goes up chains by what certificates say of each other.
type presence struct {
	path
	seen map[fingerprint]bool // certificates that were gone up from
}

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

// likelyIssuer is the one that a certificate names, by the identifier of its key where there are several, and of
// those one that names itself: what others certified needs more.
func (p presence) likelyIssuer(c *x509.Certificate) (found *x509.Certificate) {
	likelihood := func(above *x509.Certificate) (n int) {
		if matchesAuthorityKey(above, c) {
			n += 2
		}
		if bytes.Equal(above.RawSubject, above.RawIssuer) {
			n++
		}
		return n
	}
	for _, above := range p.withSubject(c.RawIssuer) {
		if !p.known.work.spend(answerWork) {
			return nil
		}
		if found == nil || likelihood(above) > likelihood(found) {
			found = above
		}
	}
	return found
}

// hasRevocationData reports whether a proof is about a certificate, and what is needed of those who signed such proofs is there
// as well.
func (p presence) hasRevocationData(c, issuer *x509.Certificate) bool {
	x, told := p.data.read(), false
	for _, r := range x.responses[c.SerialNumber.String()] {
		if _, about := r.For(c, issuer); !about {
			continue
		}
		if !p.known.work.spend(int64(len(r.Raw))) {
			return false
		}
		told = true
		if signer := r.Responder(issuer); signer == nil || !p.hasAllParts(signer) {
			return false
		}
	}
	for _, l := range x.lists {
		told = told || p.listCovers(l, c, issuer)
	}
	return told
}

func (p presence) listCovers(l *crl.List, c, issuer *x509.Certificate) bool {
	err := p.known.work.verifyList(l, issuer)
	if errors.Is(err, crl.ErrIssuer) || errors.Is(err, errTooMuch) || !p.known.work.spend(int64(len(l.Raw))) {
		return false
	}
	_, err = l.Find(c)
	return err == nil
}
