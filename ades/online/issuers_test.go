package online_test

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// below issues a certificate that names addresses of its issuer's.
func (w *world) below(t *testing.T, paths ...string) *x509.Certificate {
	t.Helper()
	return issue(t, w.root, &x509.Certificate{Subject: pkix.Name{CommonName: "Test Signer"}, IssuingCertificateURL: w.at(paths)}).cert
}

func encodePEM(certs ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return out
}

// bundle makes a certs-only CMS with openssl.
func bundle(t *testing.T, form string, certs ...*x509.Certificate) []byte {
	t.Helper()
	openssl := testenv.Program(t, "openssl")
	path := filepath.Join(t.TempDir(), "certs.pem")
	if err := os.WriteFile(path, encodePEM(certs...), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(openssl, "crl2pkcs7", "-nocrl", "-certfile", path, "-outform", form).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// indefinite rewrites the three outermost lengths of a bundle the way that BER allows
// (X.690 8.1.3.6), as some authorities publish it.
func indefinite(t *testing.T, der []byte) []byte {
	t.Helper()
	const outer = 4 // octets of identifier and length
	oid := []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02}
	if !bytes.Equal(der[outer:outer+len(oid)], oid) {
		t.Fatalf("unexpected bundle %x", der[:20])
	}
	inner := der[outer+len(oid)+2*outer:]
	out := append([]byte{0x30, 0x80}, oid...)
	out = append(out, 0xa0, 0x80, 0x30, 0x80)
	return append(append(out, inner...), make([]byte, 6)...)
}

// RFC 5280 4.2.2.1: what stands at a caIssuers address.
func TestIssuers(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	root, second := w.root.cert, other.root.cert
	many := make([]*x509.Certificate, 100)
	for i := range many {
		many[i] = root
	}
	both := bundle(t, "DER", root, second)
	for name, test := range map[string]struct {
		content []byte
		want    int // certificates, of which one is the root; 0: an error
	}{
		"one certificate":       {root.Raw, 1},
		"certificate in PEM":    {encodePEM(root), 1},
		"PEM with text":         {append([]byte("subject=Test Root\n"), encodePEM(root, second)...), 2},
		"bundle":                {both, 2},
		"bundle in PEM":         {bundle(t, "PEM", root, second), 2},
		"bundle in BER":         {indefinite(t, both), 2},
		"bundle of many":        {bundle(t, "DER", many...), 64},
		"many in PEM":           {encodePEM(many...), 64},
		"bundle of none":        {[]byte{0x30, 0x0b, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2}, 0},
		"bundle cut off":        {both[:len(both)/3], 0},
		"garbage":               {[]byte("<html>"), 0},
		"garbage in PEM":        {[]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0},
		"empty":                 {nil, 0},
		"more than a megabyte":  {make([]byte, 1<<20+1), 0},
		"deeply nested":         {bytes.Repeat([]byte{0x30, 0x80}, 1<<18), 0},
		"certificate and a bit": {append(bytes.Clone(root.Raw), 0), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w.only("/ca", body(test.content))
			found, err := (&online.Issuers{Client: local()}).Issuers(t.Context(), w.below(t, "/ca"))
			if len(found) != test.want || (err != nil) != (test.want == 0) || errors.Is(err, ades.ErrUnavailable) {
				t.Fatalf("%d certificates, %v", len(found), err)
			}
			for _, c := range found {
				if !c.Equal(root) && !c.Equal(second) {
					t.Errorf("certificate of %s", c.Subject)
				}
			}
		})
	}
}

// Addresses are tried in order; ldap and the like are left out, and a certificate
// that names nothing has no issuer that could be found.
func TestIssuersTriesOtherAddresses(t *testing.T) {
	w := newWorld(t)
	w.mux.Handle("/down", status(503))
	w.mux.Handle("/ca", body(w.root.cert.Raw))
	source := &online.Issuers{Client: local()}

	if found, err := source.Issuers(t.Context(), w.below(t, "/down", "/ca")); err != nil || len(found) != 1 || !found[0].Equal(w.root.cert) {
		t.Error(found, err)
	}
	if _, err := source.Issuers(t.Context(), w.below(t, "/down")); !errors.Is(err, ades.ErrUnavailable) || !strings.Contains(err.Error(), "/down") {
		t.Error(err)
	}
	before := len(w.requests())
	nowhere := w.below(t)
	nowhere.IssuingCertificateURL = []string{"ldap://host/cn=ca", "file:///etc/passwd"}
	if found, err := source.Issuers(t.Context(), nowhere); found != nil || err != nil || len(w.requests()) != before {
		t.Error(found, err)
	}
	if _, err := new(online.Issuers).Issuers(t.Context(), w.below(t, "/ca")); !errors.Is(err, online.ErrAddress) {
		t.Error(err)
	}
}
