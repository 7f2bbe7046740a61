package tsp

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

	"github.com/google/go-cmp/cmp"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestCreate checks the fields of a token for each kind of key (EN 319 422 clause 5).
func TestCreate(t *testing.T) {
	now := time.Now()
	for name, unit := range newUnits(t) {
		t.Run(name, func(t *testing.T) {
			request := newRequest()
			der, err := unit.Create(request, now)
			testenv.NoError(t, err)
			token, err := request.Check(der)
			testenv.NoError(t, err)
			if !token.Time.Equal(now.Truncate(time.Second)) || token.Accuracy != time.Second {
				t.Errorf("got time %v and accuracy %v, want the second of %v and one second", token.Time, token.Accuracy, now)
			}
			got := Request{Hash: token.Hash, Sum: token.Sum, Policy: token.Policy, Nonce: token.Nonce, Certificates: true}
			if diff := cmp.Diff(request, got, compareBig); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !token.Certificate.Equal(unit.Certificate) || len(token.Certificates) != 2 || !bytes.Equal(token.Raw, der) {
				t.Errorf("got certificate %v and %d certificates, want %v and 2", token.Certificate, len(token.Certificates), unit.Certificate)
			}
			if token.SerialNumber.Sign() <= 0 || token.SerialNumber.BitLen() > 160 {
				t.Errorf("serial number %v", token.SerialNumber)
			}
		})
	}
}

// TestParseToken checks that zero bytes may follow a token, as in the Contents of a PDF, and nothing else.
func TestParseToken(t *testing.T) {
	der := mustCreate(t, newUnit(t), newRequest())
	if token := mustParse(t, append(bytes.Clone(der), make([]byte, 1000)...)); !bytes.Equal(token.Raw, der) {
		t.Error("the token has other bytes than those before the padding")
	}
	for name, b := range map[string][]byte{
		"other bytes after it": append(bytes.Clone(der), 0, 1),
		"empty":                nil,
		"truncated":            der[:len(der)-1],
		"too large":            append(bytes.Clone(der), make([]byte, maxSize)...),
	} {
		if _, err := ParseToken(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
}

// TestCertificate checks which certificates are for timestamps (RFC 3161 2.3), and valid at the time of the token.
func TestCertificate(t *testing.T) {
	now := time.Now()
	at := func(hours time.Duration) time.Time { return now.Add(hours * time.Hour) }
	period := func(from, to time.Duration) func(*x509.Certificate) { // PrivateKeyUsagePeriod (RFC 3280 4.2.1.4)
		value := []byte{0x30, 34}
		for tag, limit := range []time.Time{at(from), at(to)} {
			value = append(append(value, 0x80|byte(tag), 15), limit.UTC().Format("20060102150405Z")...)
		}
		return certtest.Extended(pkix.Extension{Id: oidPrivateKeyUsagePeriod, Critical: true, Value: value})
	}
	usage := func(u x509.KeyUsage) func(*x509.Certificate) { return func(c *x509.Certificate) { c.KeyUsage = u } }
	only := func(e ...pkix.Extension) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.ExtraExtensions = e }
	}
	root := certtest.New(t, "Root", nil, certtest.Authority)
	for _, test := range []struct {
		name   string
		change func(*x509.Certificate)
		want   error
	}{
		{"for timestamps", func(*x509.Certificate) {}, nil},
		{"no key usage", usage(0), nil},
		{"key usage with contentCommitment", usage(x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment), nil},
		{"key usage keyEncipherment", usage(x509.KeyUsageKeyEncipherment), ErrCertificate},
		{"no extended key usage", only(), ErrCertificate},
		{"extended key usage not critical", func(c *x509.Certificate) {
			c.ExtraExtensions, c.ExtKeyUsage = nil, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}
		}, ErrCertificate},
		{"another purpose", only(purposes(t, oidOCSPSigning)), ErrCertificate},
		{"second purpose", only(purposes(t, oidTimeStamping, oidOCSPSigning)), ErrCertificate},
		{"second purpose, unknown", only(purposes(t, oidTimeStamping, policy)), ErrCertificate},
		{"expired", certtest.Valid(at(-2), at(-1)), ErrCertificate},
		{"not yet valid", certtest.Valid(at(1), at(2)), ErrCertificate},
		{"within the usage period of the key", period(-1, 1), nil},
		{"before the usage period", period(1, 2), ErrCertificate},
		{"after the usage period", period(-2, -1), ErrCertificate},
		{"malformed usage period", certtest.Extended(pkix.Extension{Id: oidPrivateKeyUsagePeriod, Critical: true, Value: []byte{0x30, 2, 5, 0}}), ErrCertificate},
	} {
		t.Run(test.name, func(t *testing.T) {
			token := mustParse(t, mustCreate(t, newUnitOf(t, root, certtest.NewKey(t, elliptic.P256()), test.change), newRequest()))
			chain := func() error {
				_, err := ades.Chain(token.Certificate, token.Certificates, certtest.Pool(root.Cert), token.Time)
				return err
			}
			if len(token.Certificate.UnhandledCriticalExtensions) > 0 && !errors.Is(chain(), ades.ErrNoChain) {
				t.Error("a chain is found before Verify has checked the usage period")
			}
			if err := token.Verify(); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if err := chain(); test.want == nil && err != nil {
				t.Errorf("no chain after Verify: %v", err)
			}
		})
	}
}

// TestVerify verifies tokens that were altered, that bind another certificate, or that name another authority.
func TestVerify(t *testing.T) {
	root, key, now := certtest.New(t, "Root", nil, certtest.Authority), certtest.NewKey(t, elliptic.P256()), time.Now()
	unit, sameKey := newUnitOf(t, root, key), newUnitOf(t, root, key)
	otherName := newUnitOf(t, root, key, func(c *x509.Certificate) { c.Subject.CommonName = "Another authority" })
	good, err := unit.Create(newRequest(), now)
	testenv.NoError(t, err)
	signed, err := cms.ParseEncapsulated(good, oidTSTInfo)
	testenv.NoError(t, err)
	altered := func(part []byte) []byte { // in the last byte but one
		i := bytes.Index(good, part) + len(part) - 2
		out := bytes.Clone(good)
		out[i] ^= 1
		return out
	}
	signedAs := func(contained, bound Unit) []byte {
		a := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
		attributes, err := cms.SignedAttributesForContent(oidTSTInfo, bound.Certificate, a, sum(a.Hash, signed.Content))
		testenv.NoError(t, err)
		value, err := key.Sign(rand.Reader, sum(a.Hash, attributes), a.Hash)
		testenv.NoError(t, err)
		der, err := cms.Marshal(cms.Parts{
			Certificate: contained.Certificate, Algorithm: a, SignedAttributes: attributes, Value: value, ContentType: oidTSTInfo, Content: signed.Content,
		})
		testenv.NoError(t, err)
		return der
	}
	for name, test := range map[string]struct {
		token []byte
		want  error
	}{
		"unaltered":                 {good, nil},
		"another time":              {altered([]byte(now.UTC().Format("20060102150405Z"))), cms.ErrDigest},
		"another value":             {altered(signed.Value), ades.ErrValue},
		"signed again":              {signedAs(unit, unit), nil},
		"another certificate":       {signedAs(unit, sameKey), cms.ErrBinding},
		"name of another authority": {signedAs(otherName, otherName), ErrCertificate},
	} {
		if err := mustParse(t, test.token).Verify(); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}

// TestAddCertificates adds the authority's certificate to a token without certificates (RFC 3161 2.4.1).
func TestAddCertificates(t *testing.T) {
	unit := newUnit(t)
	token := mustParse(t, mustCreate(t, unit, changedRequest(func(r *Request) { r.Certificates = false })))
	if len(token.Certificates) > 0 {
		t.Errorf("got %d certificates, want none", len(token.Certificates))
	}
	for _, test := range []struct {
		add  []*x509.Certificate
		want error
	}{{nil, cms.ErrNoCertificate}, {unit.Chain, cms.ErrNoCertificate}, {append(unit.Chain, unit.Certificate), nil}} {
		token.AddCertificates(test.add)
		if err := token.Verify(); !errors.Is(err, test.want) {
			t.Errorf("with %d certificates: got %v, want %v", len(test.add), err, test.want)
		}
	}
}

// TestEqualGeneralNames compares names of the field tsa with that of a certificate, whose strings may be of another type
// (RFC 3161 2.4.2).
func TestEqualGeneralNames(t *testing.T) {
	name := func(tag cbasn1.Tag, cn string) []byte {
		der, err := asn1.Marshal(pkix.RDNSequence{{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: asn1.RawValue{Tag: int(tag), Bytes: []byte(cn)}}}})
		testenv.NoError(t, err)
		return directoryName(der)
	}
	own := name(cbasn1.UTF8String, "TSA")
	for title, test := range map[string]struct {
		name []byte
		want bool
	}{
		"the same":             {own, true},
		"a PrintableString":    {name(cbasn1.PrintableString, "TSA"), true},
		"another name":         {name(cbasn1.UTF8String, "TSB"), false},
		"a dNSName":            {[]byte{0x82, 3, 'T', 'S', 'A'}, false},
		"truncated":            {own[:len(own)-1], false},
		"empty directory name": {[]byte{0xa4, 0}, false},
	} {
		if got := equalGeneralNames(test.name, own); got != test.want {
			t.Errorf("%s: got %t, want %t", title, got, test.want)
		}
	}
}

// FuzzParseToken checks that a token which verifies with the unit's certificate is the one that the unit created.
func FuzzParseToken(f *testing.F) {
	unit := newUnit(f)
	good := mustCreate(f, unit, newRequest())
	f.Add(good)
	f.Add(mustCreate(f, unit, changedRequest(func(r *Request) { r.Nonce, r.Certificates = nil, false })))
	f.Add([]byte{0x30, 0x80, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		token, err := ParseToken(b)
		if err != nil {
			return
		}
		if !bytes.HasPrefix(b, token.Raw) { // it was BER
			if again, err := ParseToken(token.Raw); err != nil || !bytes.Equal(again.Raw, token.Raw) {
				t.Errorf("the DER is read as another token: %v", err)
			}
		}
		// A seed of an earlier run has a certificate of that run.
		if token.Verify() != nil || !token.Certificate.Equal(unit.Certificate) {
			return
		}
		want := mustParse(t, good)
		if !token.Time.Equal(want.Time) || !bytes.Equal(token.Sum, want.Sum) || token.SerialNumber.Cmp(want.SerialNumber) != 0 {
			t.Errorf("a token that the unit did not create verifies: %+v", token)
		}
	})
}
