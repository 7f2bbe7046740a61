package tsp_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

func pool(certs ...*x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	for _, c := range certs {
		p.AddCert(c)
	}
	return p
}

// usagePeriod is a critical PrivateKeyUsagePeriod (RFC 3280 4.2.1.4), as the Icelandic
// qualified authority has it.
func usagePeriod(from, to time.Time) pkix.Extension {
	limits := func(tag byte, t time.Time) []byte {
		return append([]byte{0x80 | tag, 15}, t.UTC().Format("20060102150405Z")...)
	}
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 16}, Critical: true,
		Value: append([]byte{0x30, 34}, append(limits(0, from), limits(1, to)...)...)}
}

// RFC 3161 2.3: the certificate of an authority.
func TestCertificateIsForTimestamps(t *testing.T) {
	r, now := newRoot(t), time.Now()
	hour := time.Hour
	extended := func(e ...pkix.Extension) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.ExtraExtensions = e }
	}
	for _, tt := range []struct {
		name   string
		change func(*x509.Certificate)
		want   error
	}{
		{"as it should be", func(*x509.Certificate) {}, nil},
		{"without key usage", func(c *x509.Certificate) { c.KeyUsage = 0 }, nil},
		{"for content commitment too", func(c *x509.Certificate) { c.KeyUsage |= x509.KeyUsageContentCommitment }, nil},
		{"key for encryption", func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }, tsp.ErrCertificate},
		{"no extended key usage", extended(), tsp.ErrCertificate},
		{"not critical", func(c *x509.Certificate) {
			c.ExtraExtensions, c.ExtKeyUsage = nil, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}
		}, tsp.ErrCertificate},
		{"another purpose", extended(pkix.Extension{Id: criticalTimeStamping.Id, Critical: true,
			Value: []byte{0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 9}}), tsp.ErrCertificate},
		{"a second purpose", extended(pkix.Extension{Id: criticalTimeStamping.Id, Critical: true,
			Value: []byte{0x30, 20, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 9}}), tsp.ErrCertificate},
		{"a second purpose nobody knows", extended(pkix.Extension{Id: criticalTimeStamping.Id, Critical: true,
			Value: []byte{0x30, 14, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8, 6, 2, 0x2b, 6}}), tsp.ErrCertificate},
		{"expired", func(c *x509.Certificate) { c.NotBefore, c.NotAfter = now.Add(-2*hour), now.Add(-hour) }, tsp.ErrCertificate},
		{"not yet valid", func(c *x509.Certificate) { c.NotBefore, c.NotAfter = now.Add(hour), now.Add(2*hour) }, tsp.ErrCertificate},
		{"within the key's usage period", extended(criticalTimeStamping, usagePeriod(now.Add(-hour), now.Add(hour))), nil},
		{"before it", extended(criticalTimeStamping, usagePeriod(now.Add(hour), now.Add(2*hour))), tsp.ErrCertificate},
		{"after it", extended(criticalTimeStamping, usagePeriod(now.Add(-2*hour), now.Add(-hour))), tsp.ErrCertificate},
		{"in a malformed one", extended(criticalTimeStamping, pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 16}, Critical: true,
			Value: []byte{0x30, 2, 5, 0}}), tsp.ErrCertificate},
	} {
		t.Run(tt.name, func(t *testing.T) {
			template := unitTemplate()
			tt.change(template)
			asked := request([]byte("content"))
			token, err := asked.Check(create(t, r.unit(t, template, certtest.NewKey(t, elliptic.P256())), asked, now))
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if err != nil {
				return
			}
			// What was checked no longer keeps crypto/x509 from building a chain.
			if _, err := ades.Chain(token.Certificate, token.Certificates, pool(r.cert), token.Time); err != nil {
				t.Error(err)
			}
		})
	}
}

// A critical extension that nobody has checked stays unhandled.
func TestUnverifiedTokenHasNoChain(t *testing.T) {
	r, now := newRoot(t), time.Now()
	template := unitTemplate()
	template.ExtraExtensions = append(template.ExtraExtensions, usagePeriod(now.Add(-time.Hour), now.Add(time.Hour)))
	token, err := tsp.ParseToken(create(t, r.unit(t, template, certtest.NewKey(t, elliptic.P256())), request(nil), now))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ades.Chain(token.Certificate, token.Certificates, pool(r.cert), token.Time); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("got %v", err)
	}
}

// What was signed is what is there, by whom it says.
func TestForgeries(t *testing.T) {
	r, now := newRoot(t), time.Now()
	key := certtest.NewKey(t, elliptic.P256())
	unit, other := r.unit(t, unitTemplate(), key), r.unit(t, unitTemplate(), certtest.NewKey(t, elliptic.P256()))
	named := unitTemplate()
	named.Subject.CommonName = "Somebody else"
	sameKey := r.unit(t, named, key)
	good := create(t, unit, request([]byte("content")), now)
	signed, err := cms.ParseEncapsulated(good, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4})
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(part []byte, at int) []byte {
		out := bytes.Clone(good)
		i := bytes.Index(out, part)
		if i < 0 {
			t.Fatal("the token has no such part")
		}
		out[i+at] ^= 1
		return out
	}
	seconds := []byte(now.UTC().Format("20060102150405Z"))
	for _, tt := range []struct {
		name  string
		token []byte
		want  error
	}{
		{"untouched", good, nil},
		{"another second", flipped(seconds, len(seconds)-2), cms.ErrDigest},
		{"another imprint", flipped(sum(crypto.SHA256, []byte("content")), 5), cms.ErrDigest},
		{"another value", flipped(signed.Value, len(signed.Value)-1), ades.ErrValue},
		{"signed with another key", forge(t, unit, unit, other.Key, signed.Content), ades.ErrValue},
		{"another certificate bound", forge(t, unit, other, key, signed.Content), cms.ErrBinding},
		{"another authority named", forge(t, sameKey, sameKey, key, signed.Content), tsp.ErrCertificate},
		{"made as it is made", forge(t, unit, unit, key, signed.Content), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			token, err := tsp.ParseToken(tt.token)
			if err != nil {
				t.Fatal(err)
			}
			if err := token.Verify(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// forge makes a token with the certificate of one unit, bound to that of another.
func forge(t *testing.T, carried, bound tsp.Unit, key crypto.Signer, content []byte) []byte {
	t.Helper()
	tstInfo := asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	a := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	attributes, err := cms.SignedAttributesForContent(tstInfo, bound.Certificate, a, sum(a.Hash, content))
	if err != nil {
		t.Fatal(err)
	}
	value, err := key.Sign(rand.Reader, sum(a.Hash, attributes), a.Hash)
	if err != nil {
		t.Fatal(err)
	}
	der, err := cms.Marshal(cms.Parts{
		Certificate: carried.Certificate, Algorithm: a, SignedAttributes: attributes, Value: value,
		ContentType: tstInfo, Content: content,
	})
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// RFC 3161 2.4.1: without certReq the certificate comes from elsewhere.
func TestCertificateSupplied(t *testing.T) {
	r := newRoot(t)
	unit := r.unit(t, unitTemplate(), certtest.NewKey(t, elliptic.P256()))
	asked := request(nil)
	asked.Certificates = false
	token, err := tsp.ParseToken(create(t, unit, asked, time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	if err := token.Verify(); !errors.Is(err, cms.ErrNoCertificate) || len(token.Certificates) > 0 {
		t.Errorf("%d certificates: %v", len(token.Certificates), err)
	}
	token.AddCertificates([]*x509.Certificate{r.cert})
	if err := token.Verify(); !errors.Is(err, cms.ErrNoCertificate) {
		t.Errorf("with another's certificate: %v", err)
	}
	token.AddCertificates([]*x509.Certificate{r.cert, unit.Certificate})
	if err := token.Verify(); err != nil {
		t.Error(err)
	}
}
