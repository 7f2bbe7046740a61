package online

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/pki/cms"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// TestParseBundle checks the forms in which authorities publish certificates (RFC 5280 4.2.2.1, RFC 8551
// 3.8, RFC 7468), and that certificates are returned beside errors about other content.
func TestParseBundle(t *testing.T) {
	first, second := issue(t, pair{}, x509.Certificate{}).cert, issue(t, pair{}, x509.Certificate{}).cert
	bundle := bundleOf(t, first, second)
	for name, row := range map[string]struct {
		content []byte
		want    []*x509.Certificate
		fails   bool
	}{
		"certificate in DER":           {first.Raw, []*x509.Certificate{first}, false},
		"certs-only CMS":               {bundle, []*x509.Certificate{first, second}, false},
		"certs-only CMS in BER":        {indefinite(t, bundle), []*x509.Certificate{first, second}, false},
		"certificates in PEM":          {slices.Concat([]byte("Root:\n"), certtest.PEM(first, second)), []*x509.Certificate{first, second}, false},
		"PKCS7 in PEM":                 {block("PKCS7", bundle), []*x509.Certificate{first, second}, false},
		"CMS and a certificate in PEM": {append(block("CMS", bundle), certtest.PEM(first)...), []*x509.Certificate{first, second, first}, false},
		"other PEM and a certificate":  {append(block("DH PARAMETERS", []byte{1}), certtest.PEM(first)...), []*x509.Certificate{first}, false},
		"malformed certificate in PEM": {slices.Concat(certtest.PEM(first), block("CERTIFICATE", []byte{1}), certtest.PEM(second)), []*x509.Certificate{first, second}, true},
		"malformed CMS in PEM":         {append(certtest.PEM(first), block("CMS", []byte{1})...), []*x509.Certificate{first}, true},
		"only other PEM":               {block("PUBLIC KEY", []byte{1}), nil, true},
		"octet after a certificate":    {append(bytes.Clone(first.Raw), 0), nil, true},
		"CMS without certificates":     {[]byte{0x30, 0x0b, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2}, nil, true},
		"CMS that is cut off":          {bundle[:len(bundle)/3], nil, true},
		"deeply nested BER":            {bytes.Repeat([]byte{0x30, 0x80}, 1<<18), nil, true},
		"neither DER nor PEM":          {[]byte("<html>"), nil, true},
		"empty":                        {nil, nil, true},
	} {
		got, err := ParseBundle(row.content)
		byRaw := func(a, b *x509.Certificate) int { return bytes.Compare(a.Raw, b.Raw) } // a CMS sorts them
		slices.SortFunc(got, byRaw)
		slices.SortFunc(row.want, byRaw)
		if diff := cmp.Diff(row.want, got); diff != "" || (err != nil) != row.fails {
			t.Errorf("%s: %v, want an error: %t (-want +got):\n%s", name, err, row.fails, diff)
		}
	}
}

// TestIssuers checks the certificates from caIssuers addresses (RFC 5280 4.2.2.1): addresses are tried in
// order, ldap is left out, and at most 64 certificates are returned.
func TestIssuers(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	root, second := a.root.cert, other.root.cert
	many := slices.Repeat([]*x509.Certificate{root}, 100)
	a.serve("/one", body(root.Raw))
	a.serve("/two", body(append(certtest.PEM(root, second), block("CERTIFICATE", []byte{1})...)))
	a.serve("/many", body(certtest.PEM(many...)))
	a.serve("/down", status(503))
	a.serve("/garbage", body([]byte("<html>")))
	a.serve("/large", body(make([]byte, 1<<20+1)))
	for name, row := range map[string]struct {
		paths       []string
		want        int
		requests    string
		fails       bool
		unavailable bool
	}{
		"one certificate":                 {[]string{"/one"}, 1, "GET /one", false, false},
		"two certificates, and malformed": {[]string{"/two"}, 2, "GET /two", false, false},
		"100 certificates":                {[]string{"/many"}, 64, "GET /many", false, false},
		"first address down":              {[]string{"/down", "/one"}, 1, "GET /down GET /one", false, false},
		"all addresses down":              {[]string{"/down"}, 0, "GET /down", true, true},
		"garbage":                         {[]string{"/garbage"}, 0, "GET /garbage", true, false},
		"more than a megabyte":            {[]string{"/large"}, 0, "GET /large", true, false},
		"no address":                      {nil, 0, "", false, false},
	} {
		signer := a.signer(t, nil, nil, row.paths).cert
		signer.IssuingCertificateURL = append([]string{"ldap://host/cn=ca", "file:///etc/passwd"}, signer.IssuingCertificateURL...)
		found, err := (&Issuers{Client: local()}).Issuers(t.Context(), signer)
		if got := a.seen(); len(found) != row.want || (err != nil) != row.fails || got != row.requests {
			t.Errorf("%s: got %d certificates, %v by %s; want %d by %s", name, len(found), err, got, row.want, row.requests)
		}
		checkUnavailable(t, err, row.unavailable)
		for _, c := range found {
			if !c.Equal(root) && !c.Equal(second) {
				t.Errorf("%s: got a certificate of %s", name, c.Subject)
			}
		}
	}
	if _, err := new(Issuers).Issuers(t.Context(), a.signer(t, nil, nil, []string{"/one"}).cert); !errors.Is(err, ErrAddress) {
		t.Errorf("default client: got %v, want %v", err, ErrAddress)
	}
}

// FuzzParseCertificates parses arbitrary responses, which come from addresses in certificates.
func FuzzParseCertificates(f *testing.F) {
	c := certtest.Issue(f, x509.Certificate{}, certtest.NewKey(f, elliptic.P256()), nil, nil)
	f.Add(c.Raw)
	f.Add(certtest.PEM(c))
	f.Add([]byte("-----BEGIN PKCS7-----\nMAsGCSqGSIb3DQEHAg==\n-----END PKCS7-----\n"))
	f.Add([]byte{0x30, 0x80, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2, 0xa0, 0x80})
	f.Fuzz(func(t *testing.T, body []byte) {
		found, err := parseCertificates(body)
		if (err == nil) != (len(found) > 0) || len(found) > maxCertificates {
			t.Errorf("%d certificates, %v", len(found), err)
		}
		for _, c := range found {
			if c == nil || len(c.Raw) == 0 {
				t.Error("a certificate without its bytes")
			}
		}
	})
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func bundleOf(t *testing.T, certificates ...*x509.Certificate) []byte {
	t.Helper()
	bundle, err := cms.MarshalCertificates(certificates)
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}

// indefinite replaces the three outermost lengths of a bundle by the indefinite form (X.690 8.1.3.6), as
// some authorities publish it.
func indefinite(t *testing.T, der []byte) []byte {
	t.Helper()
	const header = 4 // octets of identifier and length
	oid := []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02}
	if !bytes.Equal(der[header:header+len(oid)], oid) {
		t.Fatalf("unexpected bundle %x", der[:20])
	}
	content := der[header+len(oid)+2*header:]
	return slices.Concat([]byte{0x30, 0x80}, oid, []byte{0xa0, 0x80, 0x30, 0x80}, content, make([]byte, 6))
}
