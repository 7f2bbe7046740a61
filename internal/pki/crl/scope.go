package crl

import (
	"crypto/x509"
	"fmt"
	"math/big"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

var (
	oidNumber            = oid(2, 5, 29, 20)
	oidDelta             = oid(2, 5, 29, 27)
	oidDistributionPoint = oid(2, 5, 29, 28)
	oidAuthorityKey      = oid(2, 5, 29, 35)
	oidExpiredOnList     = oid(2, 5, 29, 60)

	tagContext0  = cbasn1.Tag(0).ContextSpecific()
	constructed0 = tagContext0.Constructed()
)

const (
	maxNames  = 16 // URIs of a distribution point
	maxNumber = 64 // bytes; RFC 5280 5.2.3 has 20
)

// readExtensions reads crlExtensions. One that is critical and not known makes the
// list useless (RFC 5280 5.2).
func (l *List) readExtensions(s cryptobyte.String) error {
	if s.Empty() {
		return nil
	}
	var explicit cryptobyte.String
	if !s.ReadASN1(&explicit, constructed0) || !s.Empty() {
		return fmt.Errorf("%w: extensions", ErrFormat)
	}
	all, err := der.ReadExtensions(&explicit)
	if err != nil || !explicit.Empty() {
		return fmt.Errorf("%w: extensions", ErrFormat)
	}
	for _, x := range all {
		if err := l.readExtension(x); err != nil {
			return err
		}
	}
	return nil
}

func (l *List) readExtension(x der.Extension) error {
	ok := true
	switch {
	case x.ID.Equal(oidNumber):
		ok = len(x.Value) <= maxNumber && x.Value.ReadASN1Integer(new(big.Int)) && x.Value.Empty()
	case x.ID.Equal(oidAuthorityKey):
		ok = l.readAuthorityKey(x.Value)
	case x.ID.Equal(oidDistributionPoint):
		ok = l.scope.read(x.Value)
	case x.ID.Equal(oidExpiredOnList): // expiredCertsOnCRL of X.509: a GeneralizedTime
		ok = x.Value.PeekASN1Tag(cbasn1.GeneralizedTime) && readTime(&x.Value, &l.ExpiredSince) && x.Value.Empty()
	case x.ID.Equal(oidDelta):
		return fmt.Errorf("%w: it is a delta list", ErrScope)
	case x.Critical:
		return fmt.Errorf("%w: critical extension %v", ErrScope, x.ID)
	}
	if !ok {
		return fmt.Errorf("%w: extension %v", ErrFormat, x.ID)
	}
	return nil
}

// readAuthorityKey keeps the key identifier; issuer and serial number may follow it.
func (l *List) readAuthorityKey(s cryptobyte.String) bool {
	var sequence, key cryptobyte.String
	var present bool
	if !s.ReadASN1(&sequence, cbasn1.SEQUENCE) || !s.Empty() || !sequence.ReadOptionalASN1(&key, &present, tagContext0) {
		return false
	}
	if present {
		l.authorityKey = key
	}
	return true
}

// scope is what the IssuingDistributionPoint says of the list (RFC 5280 5.2.5).
type scope struct {
	names                          []string // URIs of the distribution point
	named, users, authorities, off bool
}

// read reads the extension. Every flag is an implicit BOOLEAN that is false by
// default.
func (c *scope) read(s cryptobyte.String) bool {
	var sequence, point, ignored cryptobyte.String
	var indirect, attributes, reasons bool
	ok := s.ReadASN1(&sequence, cbasn1.SEQUENCE) && s.Empty() &&
		sequence.ReadOptionalASN1(&point, &c.named, constructed0) &&
		readFlag(&sequence, 1, &c.users) && readFlag(&sequence, 2, &c.authorities) &&
		sequence.ReadOptionalASN1(&ignored, &reasons, cbasn1.Tag(3).ContextSpecific()) &&
		readFlag(&sequence, 4, &indirect) && readFlag(&sequence, 5, &attributes) && sequence.Empty()
	c.off = reasons || indirect || attributes
	return ok && (!c.named || c.readNames(point))
}

// readNames reads the URIs of a fullName. A name relative to the issuer is one that
// no certificate here is asked for.
func (c *scope) readNames(point cryptobyte.String) bool {
	var names cryptobyte.String
	if !point.ReadASN1(&names, constructed0) {
		return true
	}
	for !names.Empty() {
		var name cryptobyte.String
		var tag cbasn1.Tag
		if len(c.names) == maxNames || !names.ReadAnyASN1(&name, &tag) {
			return false
		}
		if tag == cbasn1.Tag(6).ContextSpecific() {
			c.names = append(c.names, string(name))
		}
	}
	return point.Empty()
}

func readFlag(s *cryptobyte.String, tag cbasn1.Tag, out *bool) bool {
	var flag cryptobyte.String
	var present bool
	if !s.ReadOptionalASN1(&flag, &present, tag.ContextSpecific()) || present && len(flag) != 1 {
		return false
	}
	*out = present && flag[0] != 0
	return true
}

// covers is RFC 5280 6.3.3 b.
func (c *scope) covers(cert *x509.Certificate) error {
	isAuthority := cert.BasicConstraintsValid && cert.IsCA
	switch {
	case c.off:
		return fmt.Errorf("%w: it is for some reasons, other issuers or attribute certificates", ErrScope)
	case c.users && isAuthority:
		return fmt.Errorf("%w: it is for users' certificates alone", ErrScope)
	case c.authorities && !isAuthority:
		return fmt.Errorf("%w: it is for authorities' certificates alone", ErrScope)
	case c.named && !slices.ContainsFunc(c.names, func(name string) bool { return slices.Contains(cert.CRLDistributionPoints, name) }):
		return fmt.Errorf("%w: it is for another distribution point", ErrScope)
	}
	return nil
}
