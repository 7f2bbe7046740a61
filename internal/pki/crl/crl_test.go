package crl

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestFind looks for certificates in lists of both versions, with and without optional fields (RFC 5280 5.1 to 5.3).
func TestFind(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	revoked := slices.Concat(entry(4), entry(5, reason(6)), entry(6))
	found := map[int64]*Entry{4: {now, 0}, 5: {now, 6}, 7: nil}
	for _, test := range []struct {
		name       string
		list       []byte
		nextUpdate time.Time
		want       map[int64]*Entry // by serial number
	}{
		{"by crypto/x509", create(t, ca, 5), now.Add(time.Hour), map[int64]*Entry{5: {now.Add(-time.Minute), 1}, 6: nil}},
		{"version 1 without entries", assemble(t, ca, 0, nil), time.Time{}, map[int64]*Entry{5: nil}},
		{"version 1", assemble(t, ca, 0, revoked), time.Time{}, found},
		{"version 2 without entries", assemble(t, ca, 1, nil), time.Time{}, map[int64]*Entry{5: nil}},
		{"version 2", assemble(t, ca, 1, revoked), time.Time{}, found},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := Parse(test.list)
			testenv.NoError(t, err)
			if err := l.Verify(ca.Cert); err != nil {
				t.Error(err)
			}
			if !l.ThisUpdate.Equal(now) || !l.NextUpdate.Equal(test.nextUpdate) {
				t.Errorf("got %v to %v, want %v to %v", l.ThisUpdate, l.NextUpdate, now, test.nextUpdate)
			}
			checkEntries(t, l, ca.Cert, test.want)
			if _, err := l.Find(certtest.New(t, "certificate of another issuer", nil).Cert); !errors.Is(err, ErrScope) {
				t.Errorf("certificate of another issuer: got %v, want ErrScope", err)
			}
		})
	}
	if _, err := Parse(assemble(t, ca, 2, nil)); !errors.Is(err, ErrFormat) {
		t.Errorf("version 3: got %v, want ErrFormat", err)
	}
}

// TestFindInMalformedList checks that a list with a malformed entry shows nothing about any certificate.
func TestFindInMalformedList(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	critical := der.Extension{ID: oid(2, 5, 29, 29), Critical: true, Value: []byte{0x30, 0}}
	noSerial, noTime := []byte{0x30, 2, 5, 0}, []byte{0x30, 3, 2, 1, 5}
	for _, test := range []struct {
		name    string
		entries []byte
		want    error
	}{
		{"malformed entry before that of the certificate", slices.Concat(noSerial, entry(5)), ErrFormat},
		{"malformed entry after that of the certificate", slices.Concat(entry(5), noSerial), ErrFormat},
		{"entry of the certificate without time", noTime, ErrFormat},
		{"entry of the certificate with a critical extension (RFC 5280 5.3.3)", entry(5, critical), ErrScope},
		{"entry of another certificate with a critical extension (RFC 5280 5.3)", entry(6, critical), ErrScope},
	} {
		l, err := Parse(assemble(t, ca, 1, test.entries))
		testenv.NoError(t, err)
		if e, err := l.Find(certificate(ca.Cert, 5)); e != nil || !errors.Is(err, test.want) {
			t.Errorf("%s: got %+v, %v; want %v", test.name, e, err, test.want)
		}
	}
}

// TestVerify checks which certificates are accepted as that of the issuer (RFC 5280 6.3.3 f and g).
func TestVerify(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	other := *certtest.New(t, "CA", nil, certtest.Authority).Cert
	noKeyID := other
	noKeyID.SubjectKeyId = nil
	l, err := Parse(create(t, ca))
	testenv.NoError(t, err)
	for name, test := range map[string]struct {
		change func(*x509.Certificate) // of the issuer's certificate
		want   error
	}{
		"the issuer's":                        {func(*x509.Certificate) {}, nil},
		"without key usage":                   {func(c *x509.Certificate) { c.KeyUsage = 0 }, nil},
		"another name":                        {func(c *x509.Certificate) { c.RawSubject = []byte{0x30, 0} }, ErrIssuer},
		"another key with its identifier":     {func(c *x509.Certificate) { *c = other }, ErrIssuer},
		"another key without identifier":      {func(c *x509.Certificate) { *c = noKeyID }, ades.ErrValue},
		"key usage without cRLSign":           {func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCertSign }, ErrIssuer},
		"expired when the list was issued":    {func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Second) }, ades.ErrOutsideValidity},
		"not yet valid when it was issued":    {func(c *x509.Certificate) { c.NotBefore = now.Add(time.Second) }, ades.ErrOutsideValidity},
		"in the last second of its validity":  {func(c *x509.Certificate) { c.NotAfter = now }, nil},
		"in the first second of its validity": {func(c *x509.Certificate) { c.NotBefore = now }, nil},
	} {
		issuer := *ca.Cert
		test.change(&issuer)
		if err := l.Verify(&issuer); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}

// TestChangedList changes each byte of a list, and cuts the list at each byte.
func TestChangedList(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	whole := create(t, ca, 5)
	for i := range whole {
		changed := slices.Clone(whole)
		changed[i] ^= 0x01
		if l, err := Parse(changed); err == nil && l.Verify(ca.Cert) == nil {
			t.Errorf("byte %d of %d changed: the list verifies", i, len(whole))
		}
		if _, err := Parse(whole[:i]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d bytes: got %v, want ErrFormat", i, err)
		}
	}
	if _, err := Parse(append(whole, 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte after the list: got %v, want ErrFormat", err)
	}
}

// TestOpenSSLList reads a list that openssl issued.
func TestOpenSSLList(t *testing.T) {
	openssl := testenv.NewOpenSSL(t)
	openssl.Write("config", []byte("[ca]\ndefault_ca=a\n[a]\ndatabase=index\ncrlnumber=number\ndefault_md=sha384\ndefault_crl_days=30\n"+
		"crl_extensions=x\n[x]\nauthorityKeyIdentifier=keyid\n[req]\ndistinguished_name=d\n[d]\n"))
	openssl.Write("index", []byte("V\t400101000000Z\t\t05\tunknown\t/CN=good\n"+
		"R\t400101000000Z\t200102030405Z,keyCompromise\t1234\tunknown\t/CN=revoked\n"+
		"R\t400101000000Z\t210102030405Z\tFF01\tunknown\t/CN=revoked without reason\n"))
	openssl.Write("number", []byte("0A"))
	openssl.Run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "cert", "-subj", "/CN=openssl", "-days", "30", "-config", "config",
		"-addext", "keyUsage=cRLSign,keyCertSign", "-addext", "subjectKeyIdentifier=hash", "-addext", "basicConstraints=critical,CA:TRUE")
	openssl.Run("ca", "-config", "config", "-gencrl", "-keyfile", "key", "-cert", "cert", "-out", "list.pem")
	openssl.Run("crl", "-in", "list.pem", "-outform", "DER", "-out", "list")
	openssl.Run("x509", "-in", "cert", "-outform", "DER", "-out", "cert.der")
	issuer, err := x509.ParseCertificate(openssl.Read("cert.der"))
	testenv.NoError(t, err)
	l, err := Parse(openssl.Read("list"))
	testenv.NoError(t, err)
	if err := l.Verify(issuer); err != nil {
		t.Error(err)
	}
	checkEntries(t, l, issuer, map[int64]*Entry{
		0x05: nil, 0x34: nil,
		0x1234: {time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), 1},
		0xff01: {time.Date(2021, 1, 2, 3, 4, 5, 0, time.UTC), 0},
	})
}

// TestForeignLists reads the lists in signed XML files of the corpus as crypto/x509 does.
func TestForeignLists(t *testing.T) {
	read, entries := 0, 0
	testenv.EncapsulatedValues(t, "EncapsulatedCRLValue", func(name string, der []byte) {
		l, err := Parse(der)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		want, err := x509.ParseRevocationList(der)
		if err != nil {
			t.Logf("%s: crypto/x509: %v", name, err)
			return
		}
		read++
		entries += len(want.RevokedCertificateEntries)
		if !l.ThisUpdate.Equal(want.ThisUpdate) || !l.NextUpdate.Equal(want.NextUpdate) {
			t.Errorf("%s: got %v to %v, want %v to %v", name, l.ThisUpdate, l.NextUpdate, want.ThisUpdate, want.NextUpdate)
		}
		l.scope = scope{} // the certificates of the entries are not in the corpus
		for _, e := range want.RevokedCertificateEntries[:min(len(want.RevokedCertificateEntries), 100)] {
			got, err := l.Find(&x509.Certificate{RawIssuer: want.RawIssuer, SerialNumber: e.SerialNumber})
			if diff := cmp.Diff(&Entry{e.RevocationTime.UTC(), e.ReasonCode}, got); diff != "" || err != nil {
				t.Errorf("%s, %x: %v, -want +got:\n%s", name, e.SerialNumber, err, diff)
			}
		}
	})
	if read < 20 || entries < 100 {
		t.Errorf("got %d lists with %d entries, want at least 20 with 100", read, entries)
	}
}

// FuzzParse checks that Parse and Find agree with crypto/x509 where that reads the list too.
func FuzzParse(f *testing.F) {
	ca := certtest.New(f, "CA", nil, certtest.Authority)
	f.Add(create(f, ca, 1), int64(1))
	f.Add(assemble(f, ca, 0, nil), int64(0))
	f.Add(assemble(f, ca, 1, slices.Concat(entry(5), entry(6, reason(6)))), int64(6))
	f.Fuzz(func(t *testing.T, der []byte, serial int64) {
		l, err := Parse(der)
		if err != nil {
			return
		}
		l.Verify(ca.Cert)
		got, err := l.Find(&x509.Certificate{RawIssuer: l.issuer, SerialNumber: big.NewInt(serial)})
		theirs, theirErr := x509.ParseRevocationList(der)
		if err != nil || theirErr != nil {
			return
		}
		var want *Entry
		for _, e := range theirs.RevokedCertificateEntries { // the last one counts
			if e.SerialNumber.Cmp(big.NewInt(serial)) == 0 {
				want = &Entry{e.RevocationTime.UTC(), e.ReasonCode}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-crypto/x509 +ours:\n%s", diff)
		}
	})
}

// now is the time of the lists, in whole seconds.
var now = time.Now().UTC().Truncate(time.Second)

// certificate returns a certificate of an issuer with a serial number, as far as Find reads it.
func certificate(issuer *x509.Certificate, serial int64) *x509.Certificate {
	return &x509.Certificate{RawIssuer: issuer.RawSubject, SerialNumber: big.NewInt(serial)}
}

// checkEntries compares what Find returns for each serial number.
func checkEntries(t *testing.T, l *List, issuer *x509.Certificate, want map[int64]*Entry) {
	t.Helper()
	for serial, want := range want {
		got, err := l.Find(certificate(issuer, serial))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%x: %v, -want +got:\n%s", serial, err, diff)
		}
	}
}

// create issues a list by crypto/x509. The certificates were revoked a minute ago, with the reason keyCompromise.
func create(t testing.TB, by *certtest.Pair, revoked ...int64) []byte {
	t.Helper()
	template := &x509.RevocationList{Number: big.NewInt(7), ThisUpdate: now, NextUpdate: now.Add(time.Hour)}
	for _, serial := range revoked {
		template.RevokedCertificateEntries = append(template.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: big.NewInt(serial), RevocationTime: now.Add(-time.Minute), ReasonCode: 1})
	}
	encoded, err := x509.CreateRevocationList(rand.Reader, template, by.Cert, by.Key)
	testenv.NoError(t, err)
	return encoded
}

// entry returns an element of revokedCertificates in DER.
func entry(serial int64, extensions ...der.Extension) []byte {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(serial)
		b.AddASN1UTCTime(now)
		addExtensions(b, extensions)
	})
	return b.BytesOrPanic()
}

func reason(n byte) der.Extension {
	return der.Extension{ID: oidReason, Value: []byte{byte(cbasn1.ENUM), 1, n}}
}

func addExtensions(b *cryptobyte.Builder, extensions []der.Extension) {
	if len(extensions) == 0 {
		return
	}
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for _, x := range extensions {
			x.Append(b)
		}
	})
}

// assemble issues a list with entries and extensions that crypto/x509 does not write. It leaves out what is empty.
func assemble(t testing.TB, by *certtest.Pair, version int64, entries []byte, extensions ...der.Extension) []byte {
	t.Helper()
	var tbs cryptobyte.Builder
	tbs.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		if version > 0 {
			b.AddASN1Int64(version)
		}
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1ObjectIdentifier(asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}) // ecdsa-with-SHA256
		})
		b.AddBytes(by.Cert.RawSubject)
		b.AddASN1UTCTime(now)
		if len(entries) > 0 {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddBytes(entries) })
		}
		if len(extensions) > 0 {
			b.AddASN1(constructed0, func(b *cryptobyte.Builder) { addExtensions(b, extensions) })
		}
	})
	signed, err := der.Sign(tbs.BytesOrPanic(), by.Key)
	testenv.NoError(t, err)
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, signed.Append)
	return b.BytesOrPanic()
}
