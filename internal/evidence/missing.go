package evidence

import (
	"crypto/x509"
	"fmt"
	"time"
)

// Missing says what the data lacks for level LT (EN 319 142-1 6.3), in sentences;
// none: nothing. The rule is that of the validators: offline, and without looking at
// times, every certificate below the roots has a proof that verifies, as has every
// responder that signed one. A target without a chain to a root lacks all of it,
// unless it is self-signed, and data without any proof is never enough.
//
// The known certificates are those of the document outside of the data, such as in
// its signatures and timestamps.
func (d *Data) Missing(roots *x509.CertPool, known []*x509.Certificate, targets ...Target) []string {
	if len(d.OCSP)+len(d.CRLs) == 0 {
		return []string{"there is no revocation data"}
	}
	m := &inventory{data: d, roots: roots, seen: make(set)}
	m.known = unique(Merge(&Data{Certificates: known}, &Data{Certificates: d.Certificates}).Certificates)
	for _, t := range targets {
		if t.Certificate == nil {
			m.add("the certificate of a signer or timestamp authority is absent")
			continue
		}
		m.check(t.Certificate, t.Fresh)
	}
	return m.missing
}

// inventory goes through all that has to be there.
type inventory struct {
	data    *Data
	roots   *x509.CertPool
	known   []*x509.Certificate
	seen    set // certificates whose chain was looked at
	missing []string
}

func (m *inventory) add(format string, args ...any) {
	m.missing = append(m.missing, fmt.Sprintf(format, args...))
}

// check looks at a certificate and its chain. Answers lead to responders, whose
// chains are looked at in turn.
func (m *inventory) check(c *x509.Certificate, at time.Time) {
	if !m.seen.add(c.Raw) {
		return
	}
	chain := everValid(c, m.known, m.roots, at)
	if chain == nil && !selfSigned(c) {
		m.add("no chain leads from %s to a trusted root", c.Subject)
	}
	for i := range len(chain) - 1 {
		if i > 0 && !m.seen.add(chain[i].Raw) {
			return // and so was all above it
		}
		m.checkOne(chain[i], chain[i+1])
	}
}

func (m *inventory) checkOne(c, issuer *x509.Certificate) {
	if exempt(c) {
		return
	}
	answers := m.data.About(c, issuer)
	if len(answers) == 0 {
		m.add("no revocation data about %s, which %s issued", c.Subject, issuer.Subject)
	}
	for _, a := range answers {
		m.check(a.Signer, a.ProducedAt)
	}
}
