package validation

import (
	"bytes"
	"crypto/x509"
	"errors"

	"github.com/innsigli/innsigli/internal/pki/crl"
)

// Present reports whether the pieces are there that level LT consists of, whatever they are worth: a way from each
// target up to a root, or to a certificate that names itself as its issuer, a proof about each certificate below
// that, and the same for whoever signed the proof. So validators find the level of a signature, also where they
// trust nobody, or where SHA-1 was in use; whether anybody should rely on the pieces is for the judgement.
func (d *Data) Present(k *Known, targets ...Target) bool {
	if len(d.OCSP)+len(d.CRLs) == 0 {
		return false
	}
	seen := make(map[id]bool)
	for _, t := range targets {
		p := presence{path{k.of(t), d}, seen}
		if t.Certificate == nil || len(d.Missing(k, t)) > 0 && !p.reachesUp(t.Certificate) {
			return false
		}
	}
	return true
}

// presence goes up chains by what certificates say of each other.
type presence struct {
	path
	seen map[id]bool // certificates that were gone up from
}

func (p presence) reachesUp(c *x509.Certificate) bool {
	for !bytes.Equal(c.RawSubject, c.RawIssuer) {
		key := p.known.work.id(c)
		if p.seen[key] {
			return true
		}
		p.seen[key] = true
		issuer := p.seemingIssuer(c)
		switch {
		case issuer == nil:
			return unasked(c)
		case !unasked(c) && !p.isTold(c, issuer):
			return false
		}
		c = issuer
	}
	return true
}

// seemingIssuer is the one that a certificate names, by the identifier of its key where there are several, and of
// those one that names itself: what others certified needs more.
func (p presence) seemingIssuer(c *x509.Certificate) (found *x509.Certificate) {
	likelihood := func(above *x509.Certificate) (n int) {
		if seemsIssuer(above, c) {
			n += 2
		}
		if bytes.Equal(above.RawSubject, above.RawIssuer) {
			n++
		}
		return n
	}
	for _, above := range p.named(c.RawIssuer) {
		if !p.known.work.spend(answerWork) {
			return nil
		}
		if found == nil || likelihood(above) > likelihood(found) {
			found = above
		}
	}
	return found
}

// isTold reports whether a proof is about a certificate, and what is needed of those who signed such proofs is there
// as well.
func (p presence) isTold(c, issuer *x509.Certificate) bool {
	x, told := p.data.read(), false
	for _, r := range x.responses[c.SerialNumber.String()] {
		if _, about := r.For(c, issuer); !about {
			continue
		}
		if !p.known.work.spend(int64(len(r.Raw))) {
			return false
		}
		told = true
		if signer := r.Responder(issuer); signer == nil || !p.reachesUp(signer) {
			return false
		}
	}
	for _, l := range x.lists {
		told = told || p.covers(l, c, issuer)
	}
	return told
}

func (p presence) covers(l *crl.List, c, issuer *x509.Certificate) bool {
	err := p.known.work.verifyList(l, issuer)
	if errors.Is(err, crl.ErrIssuer) || errors.Is(err, errTooMuch) || !p.known.work.spend(int64(len(l.Raw))) {
		return false
	}
	_, err = l.Find(c)
	return err == nil
}
