package crl

import (
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// now is the time of these tests, in whole seconds as lists have them.
var now = time.Now().UTC().Truncate(time.Second)

type party struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// certify issues a certificate that is valid from an hour ago to an hour from now;
// change edits the template. Without an issuer it is an authority's own.
func certify(t testing.TB, name string, by *party, change func(*x509.Certificate)) *party {
	t.Helper()
	template := x509.Certificate{Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true}
	if change != nil {
		change(&template)
	}
	key := certtest.NewKey(t, elliptic.P256())
	if by == nil {
		by = &party{}
	}
	return &party{certtest.Issue(t, template, key, by.cert, by.key), key}
}

func isAuthority(c *x509.Certificate) {
	c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
}

// create makes a list with crypto/x509.
func create(t testing.TB, by *party, change func(*x509.RevocationList), revoked ...*party) []byte {
	t.Helper()
	template := &x509.RevocationList{Number: big.NewInt(7), ThisUpdate: now, NextUpdate: now.Add(time.Hour)}
	for _, p := range revoked {
		template.RevokedCertificateEntries = append(template.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: p.cert.SerialNumber, RevocationTime: now.Add(-time.Minute), ReasonCode: 1})
	}
	if change != nil {
		change(template)
	}
	encoded, err := x509.CreateRevocationList(rand.Reader, template, by.cert, by.key)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// entry is one of revokedCertificates; reason 0 is left out.
func entry(serial int64, at time.Time, reason int64) cryptobyte.BuilderContinuation {
	return func(b *cryptobyte.Builder) {
		b.AddASN1Int64(serial)
		b.AddASN1UTCTime(at)
		if reason != 0 {
			b.AddASN1(cbasn1.SEQUENCE, der.Extension{ID: oidReason, Value: []byte{byte(cbasn1.ENUM), 1, byte(reason)}}.Append)
		}
	}
}

// assemble makes a list of any form: entries and extensions as they are given,
// nothing where there is none.
func assemble(t testing.TB, by *party, version int, entries []cryptobyte.BuilderContinuation, extensions ...der.Extension) []byte {
	t.Helper()
	var all cryptobyte.Builder
	for _, e := range entries {
		all.AddASN1(cbasn1.SEQUENCE, e)
	}
	return assembleDER(t, by, version, all.BytesOrPanic(), extensions...)
}

// assembleDER is assemble with the entries in DER.
func assembleDER(t testing.TB, by *party, version int, entries []byte, extensions ...der.Extension) []byte {
	t.Helper()
	var tbs cryptobyte.Builder
	tbs.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		if version > 0 {
			b.AddASN1Int64(int64(version))
		}
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2})
		})
		b.AddBytes(by.cert.RawSubject)
		b.AddASN1UTCTime(now)
		if len(entries) > 0 {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddBytes(entries) })
		}
		if len(extensions) > 0 {
			b.AddASN1(constructed0, func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					for _, x := range extensions {
						x.Append(b)
					}
				})
			})
		}
	})
	signed, err := der.Sign(tbs.BytesOrPanic(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, signed.Append)
	return b.BytesOrPanic()
}
