// Package crl reads certificate revocation lists (RFC 5280 section 5). A list may
// name more than a million certificates, so its entries stay where they are: looking
// a certificate up is one pass over the bytes and allocates nothing for the others.
//
//	list, err := crl.Parse(der)
//	err = list.Verify(issuer)
//	entry, err := list.Find(cert) // nil: not revoked
//
// Complete lists of the issuer's own certificates are read. Delta lists, indirect
// lists and those that cover some reasons alone are refused: they do not say by
// themselves that a certificate is not revoked.
package crl

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

// MaxSize is the length in bytes that no list may exceed.
const MaxSize = 64 << 20

var (
	// ErrFormat: the bytes are no list.
	ErrFormat = errors.New("crl: malformed list")
	// ErrScope: the list does not cover the certificate, or not fully.
	ErrScope = errors.New("crl: list does not cover the certificate")
	// ErrIssuer: the certificate given may not have issued the list.
	ErrIssuer = errors.New("crl: not issued by this certificate")
)

// List is a list that was parsed. Its slices point into Raw.
type List struct {
	Raw        []byte // DER, as validation data carries it
	ThisUpdate time.Time
	NextUpdate time.Time // zero when absent
	// ExpiredSince is the time from which on revoked certificates stay on the list when
	// they expire; zero: they may be dropped.
	ExpiredSince time.Time

	signed       der.Signed
	issuer       []byte // DER Name
	authorityKey []byte // AuthorityKeyIdentifier; nil when absent
	entries      cryptobyte.String
	scope        scope
}

// Entry is a certificate that was revoked.
type Entry struct {
	RevokedAt time.Time
	Reason    int // CRLReason (RFC 5280 5.3.1); 0 when not said
}

// Parse reads a DER list: [ErrFormat], or [ErrScope] when it is of a kind that is
// not read. Nothing in it is to be believed before [List.Verify].
func Parse(encoded []byte) (*List, error) {
	if len(encoded) > MaxSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrFormat, len(encoded))
	}
	s := cryptobyte.String(encoded)
	var outer cryptobyte.String
	if !s.ReadASN1(&outer, cbasn1.SEQUENCE) || !s.Empty() {
		return nil, fmt.Errorf("%w: no CertificateList", ErrFormat)
	}
	signed, err := der.ReadSigned(&outer)
	if err != nil || !outer.Empty() {
		return nil, fmt.Errorf("%w: no CertificateList", ErrFormat)
	}
	l := &List{Raw: encoded, signed: signed}
	return l, l.readFields(signed.ToBeSigned)
}

// readFields reads the TBSCertList (RFC 5280 5.1).
func (l *List) readFields(s cryptobyte.String) error {
	var list, algorithm, issuer cryptobyte.String
	version := 0
	if !s.ReadASN1(&list, cbasn1.SEQUENCE) || list.PeekASN1Tag(cbasn1.INTEGER) && !list.ReadASN1Integer(&version) || version > 1 ||
		!list.ReadASN1Element(&algorithm, cbasn1.SEQUENCE) || !bytes.Equal(algorithm, l.signed.Algorithm) ||
		!list.ReadASN1Element(&issuer, cbasn1.SEQUENCE) || !readTime(&list, &l.ThisUpdate) {
		return fmt.Errorf("%w: no TBSCertList", ErrFormat)
	}
	l.issuer = issuer
	if list.PeekASN1Tag(cbasn1.UTCTime) || list.PeekASN1Tag(cbasn1.GeneralizedTime) {
		if !readTime(&list, &l.NextUpdate) {
			return fmt.Errorf("%w: nextUpdate", ErrFormat)
		}
	}
	if list.PeekASN1Tag(cbasn1.SEQUENCE) && !list.ReadASN1(&l.entries, cbasn1.SEQUENCE) {
		return fmt.Errorf("%w: revoked certificates", ErrFormat)
	}
	return l.readExtensions(list)
}

// Verify checks that the certificate issued the list and may: names, key
// identifiers, key usage (RFC 5280 6.3.3 f and g), its validity at ThisUpdate and
// the signature. The errors are [ErrIssuer], [ades.ErrOutsideValidity],
// [ades.ErrValue] and [ades.ErrAlgorithm].
func (l *List) Verify(issuer *x509.Certificate) error {
	switch {
	case !bytes.Equal(l.issuer, issuer.RawSubject):
		return fmt.Errorf("%w: %s has another name", ErrIssuer, issuer.Subject)
	case l.authorityKey != nil && issuer.SubjectKeyId != nil && !bytes.Equal(l.authorityKey, issuer.SubjectKeyId):
		return fmt.Errorf("%w: %s has another key", ErrIssuer, issuer.Subject)
	case issuer.KeyUsage != 0 && issuer.KeyUsage&x509.KeyUsageCRLSign == 0:
		return fmt.Errorf("%w: key usage of %s", ErrIssuer, issuer.Subject)
	case l.ThisUpdate.Before(issuer.NotBefore) || l.ThisUpdate.After(issuer.NotAfter):
		return fmt.Errorf("crl: %w: %s at %v", ades.ErrOutsideValidity, issuer.Subject, l.ThisUpdate)
	}
	if err := l.signed.Verify(issuer); err != nil {
		return fmt.Errorf("crl: signature of %s: %w", issuer.Subject, err)
	}
	return nil
}

// readTime reads a Time: UTCTime until 2049 and GeneralizedTime from then on (RFC
// 5280 5.1.2.4).
func readTime(s *cryptobyte.String, out *time.Time) bool {
	if s.PeekASN1Tag(cbasn1.UTCTime) {
		if !s.ReadASN1UTCTime(out) {
			return false
		}
	} else if !s.ReadASN1GeneralizedTime(out) {
		return false
	}
	*out = out.UTC()
	return true
}

func oid(arcs ...int) asn1.ObjectIdentifier { return arcs }

// Find looks a certificate up: nil when the list does not name it as revoked,
// [ErrScope] when the list says nothing about it, [ErrFormat] when an entry cannot
// be read. All entries are read, whatever is found, so that a list that cannot be
// read through is not taken for one that is silent.
func (l *List) Find(cert *x509.Certificate) (*Entry, error) {
	if err := l.scope.covers(cert); err != nil {
		return nil, err
	}
	if !bytes.Equal(l.issuer, cert.RawIssuer) {
		return nil, fmt.Errorf("%w: it was issued by %s", ErrScope, cert.Issuer)
	}
	serial, err := integerContents(cert.SerialNumber)
	if err != nil {
		return nil, err
	}
	var found cryptobyte.String
	for rest := l.entries; !rest.Empty(); {
		var entry, number cryptobyte.String
		if !rest.ReadASN1(&entry, cbasn1.SEQUENCE) || !entry.ReadASN1(&number, cbasn1.INTEGER) {
			return nil, fmt.Errorf("%w: entry", ErrFormat)
		}
		if bytes.Contains(entry, critical) {
			if _, err := readEntry(entry); err != nil {
				return nil, err
			}
		}
		if bytes.Equal(number, serial) {
			found = entry
		}
	}
	if found == nil {
		return nil, nil
	}
	return readEntry(found)
}

// critical is how an extension says that it is. With one that is not known, whichever entry
// it is in, the list says nothing about any certificate (RFC 5280 5.3).
var critical = []byte{1, 1, 0xff}

// integerContents is the serial number as a DER entry has it, so that entries are
// compared as bytes.
func integerContents(n *big.Int) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1BigInt(n)
	encoded, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	s := cryptobyte.String(encoded)
	var contents cryptobyte.String
	s.ReadASN1(&contents, cbasn1.INTEGER)
	return contents, nil
}

var oidReason = oid(2, 5, 29, 21)

// readEntry reads what follows the serial number (RFC 5280 5.3).
func readEntry(s cryptobyte.String) (*Entry, error) {
	e := new(Entry)
	if !readTime(&s, &e.RevokedAt) {
		return nil, fmt.Errorf("%w: revocation date", ErrFormat)
	}
	if s.Empty() {
		return e, nil
	}
	extensions, err := der.ReadExtensions(&s)
	if err != nil || !s.Empty() {
		return nil, fmt.Errorf("%w: extensions of an entry", ErrFormat)
	}
	for _, x := range extensions {
		switch {
		case x.ID.Equal(oidReason):
			if !x.Value.ReadASN1Enum(&e.Reason) || !x.Value.Empty() {
				return nil, fmt.Errorf("%w: reason", ErrFormat)
			}
		case x.Critical:
			return nil, fmt.Errorf("%w: critical extension %v of an entry", ErrScope, x.ID)
		}
	}
	return e, nil
}
