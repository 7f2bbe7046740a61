package crl

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

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
