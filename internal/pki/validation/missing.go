package validation

import (
	"crypto/x509"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
)

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
		for _, sentence := range d.takeStock(k, t).missing {
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
		all = append(all, &d.takeStock(k, t).used)
	}
	return Merge(all...)
}

// takeStock goes through all that has to be there for a target, once for each.
func (d *Data) takeStock(k *Known, t Target) *inventory {
	x := d.read()
	if t.Certificate == nil {
		return &inventory{missing: []string{"the certificate of a signer or timestamp authority is absent"}}
	}
	key := question{k.of(t), x.work.id(t.Certificate), t.times(time.Time{}).SigningTime.UTC().Round(0)}
	m, ok := x.inventories[key]
	if !ok {
		m = &inventory{path: path{k.of(t), d}, seen: make(map[id]bool)}
		m.check(t.Certificate, key.at)
		x.inventories[key] = m
	}
	return m
}

// question is one about a certificate at a time, by what is known.
type question struct {
	known *Known
	cert  id
	at    time.Time // comparable: UTC without the monotonic clock
}

// inventory is what has to be there for one target.
type inventory struct {
	path
	seen    map[id]bool // certificates whose chain was looked at
	used    Data        // what there is, some of it repeatedly
	missing []string
}

func (m *inventory) add(format string, args ...any) {
	m.missing = append(m.missing, fmt.Sprintf(format, args...))
}

// isNew reports whether a certificate comes for the first time.
func (m *inventory) isNew(c *x509.Certificate) bool {
	key := m.known.work.id(c)
	old := m.seen[key]
	m.seen[key] = true
	return !old
}

// check looks at a certificate and its chain. Answers lead to responders, whose
// chains are looked at in turn.
func (m *inventory) check(c *x509.Certificate, at time.Time) {
	if !m.isNew(c) {
		return
	}
	chain := m.everValid(c, at)
	if chain == nil && !(m.known.work.spend(signatureWork) && selfSigned(c)) {
		m.add("no chain leads from %s to a trusted root", ades.Identify(c))
	}
	m.used.Certificates = append(m.used.Certificates, chain...)
	for i := range len(chain) - 1 {
		if i > 0 && !m.isNew(chain[i]) {
			return // and so was all above it
		}
		m.checkOne(chain[i], chain[i+1])
	}
}

func (m *inventory) checkOne(c, issuer *x509.Certificate) {
	if unasked(c) {
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
		m.used.OCSP, m.used.CRLs = appendProof(m.used.OCSP, a.Proof.OCSP), appendProof(m.used.CRLs, a.Proof.CRL)
		m.check(a.Signer, a.ProducedAt)
	}
}

func appendProof(all [][]byte, proof []byte) [][]byte {
	if proof == nil {
		return all
	}
	return append(all, proof)
}
