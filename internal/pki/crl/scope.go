package crl

import (
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

var (
	oidNumber            = oid(2, 5, 29, 20)
	oidReason            = oid(2, 5, 29, 21)
	oidDelta             = oid(2, 5, 29, 27)
	oidDistributionPoint = oid(2, 5, 29, 28)
	oidAuthorityKey      = oid(2, 5, 29, 35)
	oidExpiredOnList     = oid(2, 5, 29, 60)

	tagContext0  = cbasn1.Tag(0).ContextSpecific()
	constructed0 = tagContext0.Constructed()
)

func oid(arcs ...int) asn1.ObjectIdentifier { return arcs }

const (
	maxURIs   = 16 // of a distribution point
	maxNumber = 64 // bytes of a CRL number; RFC 5280 5.2.3 permits 20
)

// A scope is the scope of a list: the fields of its IssuingDistributionPoint (RFC 5280 5.2.5). The
// zero value covers all certificates of the issuer.
type scope struct {
	hasPoint      bool     // distributionPoint is present
	uris          []string // of the distribution point
	onlyUserCerts bool
	onlyCACerts   bool
	unsupported   bool // only some reasons, indirect, or for attribute certificates
}

// check returns [ErrScope] unless the certificate is in the scope (RFC 5280 6.3.3 b).
func (c *scope) check(cert *x509.Certificate) error {
	isAuthority := cert.BasicConstraintsValid && cert.IsCA
	switch {
	case c.unsupported:
		return fmt.Errorf("%w: the CRL covers some reasons, other issuers or attribute certificates", ErrScope)
	case c.onlyUserCerts && isAuthority:
		return fmt.Errorf("%w: the CRL covers end-entity certificates only", ErrScope)
	case c.onlyCACerts && !isAuthority:
		return fmt.Errorf("%w: the CRL covers CA certificates only", ErrScope)
	case c.hasPoint && !slices.ContainsFunc(c.uris, func(name string) bool { return slices.Contains(cert.CRLDistributionPoints, name) }):
		return fmt.Errorf("%w: the CRL covers another distribution point", ErrScope)
	}
	return nil
}

// readExtensions reads crlExtensions. A critical extension that is not known makes the list
// unusable (RFC 5280 5.2).
func (l *List) readExtensions(s cryptobyte.String) error {
	if s.Empty() {
		return nil
	}
	var explicit cryptobyte.String
	if !s.ReadASN1(&explicit, constructed0) || !s.Empty() {
		return fmt.Errorf("%w: crlExtensions is malformed", ErrFormat)
	}
	all, err := der.ReadExtensions(&explicit)
	if err != nil || !explicit.Empty() {
		return fmt.Errorf("%w: crlExtensions is malformed", ErrFormat)
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
	case x.ID.Equal(oidExpiredOnList): // expiredCertsOnCRL of X.509, a GeneralizedTime
		ok = x.Value.PeekASN1Tag(cbasn1.GeneralizedTime) && readTime(&x.Value, &l.ExpiredSince) && x.Value.Empty()
	case x.ID.Equal(oidDelta):
		return fmt.Errorf("%w: the CRL is a delta CRL", ErrScope)
	case x.Critical:
		return fmt.Errorf("%w: the CRL has the unknown critical extension %v", ErrScope, x.ID)
	}
	if !ok {
		return fmt.Errorf("%w: the value of extension %v is malformed", ErrFormat, x.ID)
	}
	return nil
}

// readAuthorityKey reads the key identifier of an AuthorityKeyIdentifier and ignores the issuer and
// serial number after it.
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

// read reads the extension. Each flag is an implicit BOOLEAN with the default FALSE.
func (c *scope) read(s cryptobyte.String) bool {
	var sequence, point, ignored cryptobyte.String
	var indirect, attributes, reasons bool
	ok := s.ReadASN1(&sequence, cbasn1.SEQUENCE) && s.Empty() &&
		sequence.ReadOptionalASN1(&point, &c.hasPoint, constructed0) &&
		readFlag(&sequence, 1, &c.onlyUserCerts) && readFlag(&sequence, 2, &c.onlyCACerts) &&
		sequence.ReadOptionalASN1(&ignored, &reasons, cbasn1.Tag(3).ContextSpecific()) &&
		readFlag(&sequence, 4, &indirect) && readFlag(&sequence, 5, &attributes) && sequence.Empty()
	c.unsupported = reasons || indirect || attributes
	return ok && (!c.hasPoint || c.readURIs(point))
}

// readURIs reads the URIs of a fullName. A nameRelativeToCRLIssuer has none, and check then covers
// no certificate.
func (c *scope) readURIs(point cryptobyte.String) bool {
	var names cryptobyte.String
	if !point.ReadASN1(&names, constructed0) {
		return true
	}
	for !names.Empty() {
		var name cryptobyte.String
		var tag cbasn1.Tag
		if len(c.uris) == maxURIs || !names.ReadAnyASN1(&name, &tag) {
			return false
		}
		if tag == cbasn1.Tag(6).ContextSpecific() {
			c.uris = append(c.uris, string(name))
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
