package ades

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"slices"
	"time"
)

// Pool has certificates that are at hand, and finds issuers among them without asking
// anybody. It is used by several goroutines.
type Pool struct {
	bySubject map[string][]*x509.Certificate // by RawSubject
}

// NewPool returns a pool of the certificates.
func NewPool(certificates ...*x509.Certificate) *Pool {
	p := &Pool{make(map[string][]*x509.Certificate)}
	for _, c := range certificates {
		p.bySubject[string(c.RawSubject)] = append(p.bySubject[string(c.RawSubject)], c)
	}
	return p
}

// Issuers implements [Issuers]: by the issuer's name and, where both certificates say
// it, by the identifier of its key (RFC 5280 4.1.2.4, 4.2.1.1). It never fails.
func (p *Pool) Issuers(_ context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for _, c := range p.bySubject[string(cert.RawIssuer)] {
		if len(cert.AuthorityKeyId) == 0 || len(c.SubjectKeyId) == 0 || bytes.Equal(cert.AuthorityKeyId, c.SubjectKeyId) {
			found = append(found, c)
		}
	}
	return found, nil
}

// IssuersInOrder asks one after the other until one finds an issuer that is valid now, so
// that what is at hand stands before what has to be fetched. Authorities renew their
// certificates under the same key: an old one at hand does not hide the new one.
type IssuersInOrder []Issuers

// Issuers implements [Issuers]. It returns what was found on the way and did issue the
// certificate. When that is nothing, the error carries that of each source.
func (o IssuersInOrder) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	var failures []error
	now := time.Now()
	for _, source := range o {
		found, err := source.Issuers(ctx, cert)
		if err != nil {
			failures = append(failures, err)
		}
		for _, c := range found {
			if CheckIssuer(cert, c) == nil {
				all = append(all, c)
			}
		}
		if ctx.Err() != nil || slices.ContainsFunc(all, func(c *x509.Certificate) bool { return validAt(c, now) }) {
			break
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, errors.Join(failures...)
}

func validAt(c *x509.Certificate, t time.Time) bool {
	return !t.Before(c.NotBefore) && !t.After(c.NotAfter)
}

var (
	_ Issuers = (*Pool)(nil)
	_ Issuers = IssuersInOrder(nil)
)
