package ades

import (
	"bytes"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"strings"
	"testing"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// TestCheckPurpose checks which certificates are for signing documents, and which have nonRepudiation (RFC
// 5280 4.2.1.3, 4.2.1.9 and 4.2.1.12, RFC 9336, EN 319 412-2 4.3.2).
func TestCheckPurpose(t *testing.T) {
	const digitalSignature, nonRepudiation = x509.KeyUsageDigitalSignature, x509.KeyUsageContentCommitment
	const usage, extended = "key usage has neither", "extended key usage"
	keyUsage := func(usage x509.KeyUsage) x509.Certificate { return x509.Certificate{KeyUsage: usage} }
	extKeyUsage := func(all ...x509.ExtKeyUsage) x509.Certificate { return x509.Certificate{ExtKeyUsage: all} }
	other := func(id ...int) x509.Certificate {
		return x509.Certificate{UnknownExtKeyUsage: []asn1.ObjectIdentifier{id}}
	}
	empty := func(id ...int) x509.Certificate { return x509.Certificate{Extensions: []pkix.Extension{{Id: id}}} }
	both := other(1, 3, 6, 1, 5, 5, 7, 3, 36)
	both.KeyUsage = x509.KeyUsageKeyEncipherment
	for name, row := range map[string]struct {
		certificate    x509.Certificate
		reason         string // "": it is for signing documents
		nonRepudiation bool
	}{
		"no extensions":                       {x509.Certificate{}, "", true},
		"nonRepudiation":                      {keyUsage(nonRepudiation), "", true},
		"both":                                {keyUsage(nonRepudiation | digitalSignature), "", true},
		"digitalSignature":                    {keyUsage(digitalSignature), "", false},
		"keyEncipherment":                     {keyUsage(x509.KeyUsageKeyEncipherment), usage, false},
		"empty key usage":                     {empty(2, 5, 29, 15), usage, false},
		"empty extended key usage":            {empty(2, 5, 29, 37), extended, true},
		"certification authority":             {x509.Certificate{IsCA: true, KeyUsage: nonRepudiation | x509.KeyUsageCertSign}, "-addext basicConstraints", true},
		"anyExtendedKeyUsage":                 {extKeyUsage(x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageAny), "", true},
		"emailProtection":                     {extKeyUsage(x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageEmailProtection), "", true},
		"documentSigning":                     {other(1, 3, 6, 1, 5, 5, 7, 3, 36), "", true},
		"document signing of Microsoft":       {other(1, 3, 6, 1, 4, 1, 311, 10, 3, 12), "", true},
		"authentic documents of Adobe":        {other(1, 2, 840, 113583, 1, 1, 5), "", true},
		"unknown purpose":                     {other(1, 2, 3), extended, true},
		"other purposes":                      {extKeyUsage(x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageTimeStamping), extended, true},
		"documentSigning and keyEncipherment": {both, usage, false},
	} {
		err := CheckPurpose(&row.certificate)
		if refused := errors.Is(err, ErrPurpose); refused != (row.reason != "") || refused && !strings.Contains(err.Error(), row.reason) {
			t.Errorf("%s: got %v, want %q", name, err, row.reason)
		}
		if got := AllowsNonRepudiation(&row.certificate); got != row.nonRepudiation {
			t.Errorf("%s: nonRepudiation: got %t, want %t", name, got, row.nonRepudiation)
		}
	}
}

// TestResolveRefuses checks certificates that are absent, for another purpose, or have a key that is not
// supported. An RSA key that is restricted to PSS (RFC 4055 section 1.2) is named in the error.
func TestResolveRefuses(t *testing.T) {
	key := newRSAKey(t)
	der := certtest.Issue(t, x509.Certificate{SerialNumber: big.NewInt(1)}, key, nil, nil).Raw
	rsaEncryption := []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1}
	withKeyType := func(id ...byte) *x509.Certificate {
		cert, err := x509.ParseCertificate(bytes.Replace(der, rsaEncryption, append(bytes.Clone(rsaEncryption[:6]), id...), 1))
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	for name, row := range map[string]struct {
		certificate *x509.Certificate
		want        error
		text        string
	}{
		"no certificate":    {nil, nil, "without certificate"},
		"TLS server":        {&x509.Certificate{PublicKey: key.Public(), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, ErrPurpose, ""},
		"P-224":             {&x509.Certificate{PublicKey: certtest.NewKey(t, elliptic.P224()).Public()}, ErrAlgorithm, ""},
		"no key":            {&x509.Certificate{}, ErrAlgorithm, "unreadable public key"},
		"restricted to PSS": {withKeyType(1, 1, 10), ErrAlgorithm, "id-RSASSA-PSS"},
		"other type of key": {withKeyType(1, 1, 99), ErrAlgorithm, "1.2.840.113549.1.1.99"},
	} {
		_, err := SignerIdentity{Certificate: row.certificate}.Resolve()
		if err == nil || row.want != nil && !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: got %v, want %v with %q", name, err, row.want, row.text)
		}
	}
}
