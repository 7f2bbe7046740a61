package evidence

import (
	"crypto/x509"

	"github.com/innsigli/innsigli/internal/crl"
	"github.com/innsigli/innsigli/internal/ocsp"
)

const (
	// maxWork bounds what all questions to one Data may cost together, in bytes that
	// are hashed or read through. Verifying a signature counts as so many more.
	maxWork       = 2 << 30
	signatureWork = 256 << 10
)

// index is the proofs of a Data, parsed, and what was found out about them.
type index struct {
	responses map[string][]*ocsp.Response // by the serial numbers they are about
	lists     []*crl.List
	verified  map[verification]bool
	answers   map[[2]string][]Answer
	work      int64
}

// verification is whether a list is an issuer's.
type verification struct {
	list   *crl.List
	issuer string
}

// build parses the proofs. What cannot be read proves nothing and is left out.
func (x *index) build(d *Data) {
	x.responses, x.verified = make(map[string][]*ocsp.Response), make(map[verification]bool)
	x.answers, x.work = make(map[[2]string][]Answer), maxWork
	for _, der := range d.OCSP {
		if r, err := ocsp.Parse(der); err == nil {
			x.addResponse(r)
		}
	}
	for _, der := range d.CRLs {
		if l, err := crl.Parse(der); err == nil {
			x.lists = append(x.lists, l)
		}
	}
}

func (x *index) addResponse(r *ocsp.Response) {
	seen := make(map[string]bool)
	for _, single := range r.Singles {
		if serial := single.ID.Serial.String(); !seen[serial] {
			seen[serial] = true
			x.responses[serial] = append(x.responses[serial], r)
		}
	}
}

// About returns what the proofs say about a certificate that the issuer issued, each
// of them verified: its signature, and that who signed it may speak for the issuer.
// Nothing is fetched, and time is not looked at.
func (d *Data) About(cert, issuer *x509.Certificate) []Answer {
	d.once.Do(func() { d.index.build(d) })
	key := [2]string{string(cert.Raw), string(issuer.Raw)}
	answers, ok := d.index.answers[key]
	if !ok {
		answers = d.index.find(cert, issuer)
		d.index.answers[key] = answers
	}
	return answers
}

func (x *index) find(cert, issuer *x509.Certificate) []Answer {
	var found []Answer
	for _, r := range x.responses[cert.SerialNumber.String()] {
		if !x.spend(int64(len(r.Raw)) + signatureWork) {
			break
		}
		if a, err := readResponse(r, cert, issuer); err == nil {
			found = append(found, a)
		}
	}
	for _, l := range x.lists {
		if !x.isOf(l, issuer) || !x.spend(int64(len(l.Raw))) {
			continue
		}
		if a, err := readList(l, cert, issuer); err == nil {
			found = append(found, a)
		}
	}
	return found
}

// isOf verifies a list once for each issuer.
func (x *index) isOf(l *crl.List, issuer *x509.Certificate) bool {
	key := verification{l, string(issuer.Raw)}
	valid, ok := x.verified[key]
	if !ok && x.spend(int64(len(l.Raw))+signatureWork) {
		valid = l.Verify(issuer) == nil
		x.verified[key] = valid
	}
	return valid
}

func (x *index) spend(n int64) bool {
	x.work -= n
	return x.work >= 0
}
