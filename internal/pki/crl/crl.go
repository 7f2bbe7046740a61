// Package crl reads certificate revocation lists (RFC 5280 section 5). A list may have more than a
// million entries, so [Parse] does not decode them: [List.Find] scans their bytes once. It decodes
// the entry of the certificate and entries with a critical extension, and allocates nothing for the
// others.
//
//	list, err := crl.Parse(der)
//	err = list.Verify(issuer)
//	entry, err := list.Find(cert) // nil: not revoked
//
// The package accepts complete lists of the issuer's own certificates. It refuses delta lists,
// indirect lists and lists for some revocation reasons only ([ErrScope]): such a list alone does
// not show that a certificate is not revoked.
package crl

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

// MaxSize is the maximum size of a list in bytes.
const MaxSize = 64 << 20

var (
	// ErrFormat: the bytes are not a certificate revocation list.
	ErrFormat = errors.New("crl: malformed list")
	// ErrScope: the certificate is not, or not completely, in the scope of the list.
	ErrScope = errors.New("crl: list does not cover the certificate")
	// ErrIssuer: the given certificate is not that of the issuer, or is not for signing lists.
	ErrIssuer = errors.New("crl: not issued by this certificate")
)

// A List is a parsed list. Its slices point into Raw.
type List struct {
	Raw        []byte // DER, as embedded in validation data
	ThisUpdate time.Time
	NextUpdate time.Time // zero when absent
	// ExpiredSince is the time of the expiredCertsOnCRL extension: the issuer keeps revoked
	// certificates that expire after it on the list. Zero: the issuer may remove revoked
	// certificates when they expire.
	ExpiredSince time.Time

	signed       der.Signed
	issuer       []byte // DER Name
	authorityKey []byte // keyIdentifier of the AuthorityKeyIdentifier; nil when absent
	entries      cryptobyte.String
	scope        scope
}

// An Entry is the list entry of a revoked certificate.
type Entry struct {
	RevokedAt time.Time
	Reason    int // CRLReason (RFC 5280 5.3.1); 0 if absent
}

// Parse reads a list in DER. The error is [ErrFormat], or [ErrScope] for a delta list and for an
// unknown critical extension. The caller must not rely on a list before [List.Verify] succeeds.
func Parse(encoded []byte) (*List, error) {
	if len(encoded) > MaxSize {
		return nil, fmt.Errorf("%w: it has %d bytes, which are too many", ErrFormat, len(encoded))
	}
	s := cryptobyte.String(encoded)
	var outer cryptobyte.String
	if !s.ReadASN1(&outer, cbasn1.SEQUENCE) || !s.Empty() {
		return nil, fmt.Errorf("%w: not a CertificateList", ErrFormat)
	}
	signed, err := der.ReadSigned(&outer)
	if err != nil || !outer.Empty() {
		return nil, fmt.Errorf("%w: not a CertificateList", ErrFormat)
	}
	l := &List{Raw: encoded, signed: signed}
	if err := l.readFields(signed.ToBeSigned); err != nil {
		return nil, err
	}
	return l, nil
}

// Verify checks that the certificate is the issuer's and for signing lists: name, key identifier,
// key usage (RFC 5280 6.3.3 f and g), validity at ThisUpdate, and signature. The errors are
// [ErrIssuer], [ades.ErrOutsideValidity], [ades.ErrValue] and [ades.ErrAlgorithm].
func (l *List) Verify(issuer *x509.Certificate) error {
	switch {
	case !bytes.Equal(l.issuer, issuer.RawSubject):
		return fmt.Errorf("%w: the issuer field does not name %s", ErrIssuer, issuer.Subject)
	case l.authorityKey != nil && issuer.SubjectKeyId != nil && !bytes.Equal(l.authorityKey, issuer.SubjectKeyId):
		return fmt.Errorf("%w: the authority key identifier is not that of %s", ErrIssuer, issuer.Subject)
	case issuer.KeyUsage != 0 && issuer.KeyUsage&x509.KeyUsageCRLSign == 0:
		return fmt.Errorf("%w: key usage of %s does not allow signing CRLs", ErrIssuer, issuer.Subject)
	case l.ThisUpdate.Before(issuer.NotBefore) || l.ThisUpdate.After(issuer.NotAfter):
		return fmt.Errorf("crl: %w: of %s at thisUpdate, %v", ades.ErrOutsideValidity, issuer.Subject, l.ThisUpdate)
	}
	if err := l.signed.Verify(issuer); err != nil {
		return fmt.Errorf("crl: signature by %s: %w", issuer.Subject, err)
	}
	return nil
}

// Find returns the entry of a certificate, or nil if the list has none: the certificate is not
// revoked. The error is [ErrScope] if the certificate is out of the scope of the list, or if any
// entry has an unknown critical extension, and [ErrFormat] if an entry is malformed. Find always
// reads all entries, so that a list with a malformed entry never passes for one without an entry of
// the certificate.
func (l *List) Find(cert *x509.Certificate) (*Entry, error) {
	if err := l.scope.check(cert); err != nil {
		return nil, err
	}
	if !bytes.Equal(l.issuer, cert.RawIssuer) {
		return nil, fmt.Errorf("%w: the certificate was issued by %s", ErrScope, cert.Issuer)
	}
	serial, err := serialContents(cert.SerialNumber)
	if err != nil {
		return nil, err
	}
	var found cryptobyte.String
	for rest := l.entries; !rest.Empty(); {
		var entry, number cryptobyte.String
		if !rest.ReadASN1(&entry, cbasn1.SEQUENCE) || !entry.ReadASN1(&number, cbasn1.INTEGER) {
			return nil, fmt.Errorf("%w: an entry of revokedCertificates has no serial number", ErrFormat)
		}
		if bytes.Contains(entry, derTrue) {
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

// readFields reads the TBSCertList (RFC 5280 5.1).
func (l *List) readFields(s cryptobyte.String) error {
	var list, algorithm, issuer cryptobyte.String
	version := 0
	if !s.ReadASN1(&list, cbasn1.SEQUENCE) || list.PeekASN1Tag(cbasn1.INTEGER) && !list.ReadASN1Integer(&version) || version > 1 ||
		!list.ReadASN1Element(&algorithm, cbasn1.SEQUENCE) || !bytes.Equal(algorithm, l.signed.Algorithm) ||
		!list.ReadASN1Element(&issuer, cbasn1.SEQUENCE) || !readTime(&list, &l.ThisUpdate) {
		return fmt.Errorf("%w: the TBSCertList lacks a field up to thisUpdate, or names another signature algorithm", ErrFormat)
	}
	l.issuer = issuer
	if list.PeekASN1Tag(cbasn1.UTCTime) || list.PeekASN1Tag(cbasn1.GeneralizedTime) {
		if !readTime(&list, &l.NextUpdate) {
			return fmt.Errorf("%w: nextUpdate is not a valid time", ErrFormat)
		}
	}
	if list.PeekASN1Tag(cbasn1.SEQUENCE) && !list.ReadASN1(&l.entries, cbasn1.SEQUENCE) {
		return fmt.Errorf("%w: revokedCertificates is not a SEQUENCE", ErrFormat)
	}
	return l.readExtensions(list)
}

// derTrue is the DER of BOOLEAN TRUE, which a critical extension contains. A critical entry
// extension that is not known makes the whole list unusable, whichever entry has it (RFC 5280 5.3).
var derTrue = []byte{1, 1, 0xff}

// serialContents returns the contents octets of a serial number in DER, so that Find compares
// entries as bytes.
func serialContents(n *big.Int) ([]byte, error) {
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

// readEntry reads the fields after the serial number (RFC 5280 5.3).
func readEntry(s cryptobyte.String) (*Entry, error) {
	e := new(Entry)
	if !readTime(&s, &e.RevokedAt) {
		return nil, fmt.Errorf("%w: the revocationDate of an entry is not a valid time", ErrFormat)
	}
	if s.Empty() {
		return e, nil
	}
	extensions, err := der.ReadExtensions(&s)
	if err != nil || !s.Empty() {
		return nil, fmt.Errorf("%w: the extensions of an entry are malformed", ErrFormat)
	}
	for _, x := range extensions {
		switch {
		case x.ID.Equal(oidReason):
			if !x.Value.ReadASN1Enum(&e.Reason) || !x.Value.Empty() {
				return nil, fmt.Errorf("%w: the reasonCode of an entry is not an ENUMERATED", ErrFormat)
			}
		case x.Critical:
			return nil, fmt.Errorf("%w: an entry has the unknown critical extension %v", ErrScope, x.ID)
		}
	}
	return e, nil
}

// readTime reads a Time: UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280 5.1.2.4).
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
