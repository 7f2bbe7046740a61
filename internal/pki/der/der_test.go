package der

import (
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// readSigned reads a SEQUENCE of the three fields of a Signed.
func readSigned(t *testing.T, der []byte) Signed {
	t.Helper()
	s := cryptobyte.String(der)
	var fields cryptobyte.String
	if !s.ReadASN1(&fields, cbasn1.SEQUENCE) {
		t.Fatal("no SEQUENCE")
	}
	signed, err := ReadSigned(&fields)
	if err != nil || !fields.Empty() {
		t.Fatalf("%d bytes are left: %v", len(fields), err)
	}
	return signed
}

// TestSigned verifies certificates that crypto/x509 signed with each accepted algorithm (RFC 5280 4.1.1), and what Sign
// signs with the same keys.
func TestSigned(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	testenv.NoError(t, err)
	_, ed25519Key, err := ed25519.GenerateKey(rand.Reader)
	testenv.NoError(t, err)
	other := certtest.New(t, "other", nil).Cert
	for _, test := range []struct {
		key       crypto.Signer
		algorithm x509.SignatureAlgorithm
		sign      error // of Sign
	}{
		{rsaKey, x509.SHA256WithRSA, nil},
		{rsaKey, x509.SHA384WithRSA, nil},
		{rsaKey, x509.SHA512WithRSA, nil},
		{rsaKey, x509.SHA256WithRSAPSS, nil},
		{rsaKey, x509.SHA384WithRSAPSS, nil},
		{rsaKey, x509.SHA512WithRSAPSS, nil},
		{certtest.NewKey(t, elliptic.P256()), x509.ECDSAWithSHA256, nil},
		{certtest.NewKey(t, elliptic.P384()), x509.ECDSAWithSHA384, nil},
		{certtest.NewKey(t, elliptic.P521()), x509.ECDSAWithSHA512, nil},
		{ed25519Key, x509.PureEd25519, ades.ErrAlgorithm},
	} {
		t.Run(test.algorithm.String(), func(t *testing.T) {
			cert := certtest.NewForKey(t, "signer", test.key, nil, func(c *x509.Certificate) { c.SignatureAlgorithm = test.algorithm }).Cert
			signed := readSigned(t, cert.Raw)
			if err := signed.Verify(cert); err != nil {
				t.Error(err)
			}
			if signed.Verify(other) == nil {
				t.Error("it verifies with another key")
			}
			changed := signed
			changed.ToBeSigned = slices.Clone(signed.ToBeSigned)
			changed.ToBeSigned[len(changed.ToBeSigned)-1] ^= 1
			if err := changed.Verify(cert); !errors.Is(err, ades.ErrValue) {
				t.Errorf("changed after signing: got %v, want ErrValue", err)
			}
			signed, err := Sign(signed.ToBeSigned, test.key)
			if !errors.Is(err, test.sign) {
				t.Errorf("Sign: got %v, want %v", err, test.sign)
			}
			if err != nil {
				return
			}
			var b cryptobyte.Builder
			b.AddASN1(cbasn1.SEQUENCE, signed.Append)
			if err := readSigned(t, b.BytesOrPanic()).Verify(cert); err != nil {
				t.Errorf("signed by Sign: %v", err)
			}
		})
	}
}

// TestLongKey checks that no signature is verified with a key whose length would make that slow.
func TestLongKey(t *testing.T) {
	algorithm, err := marshalAlgorithm(ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15})
	testenv.NoError(t, err)
	n := new(big.Int).Lsh(big.NewInt(1), 1<<21)
	long := &x509.Certificate{PublicKeyAlgorithm: x509.RSA, PublicKey: &rsa.PublicKey{N: n.SetBit(n, 0, 1), E: 65537}}
	if err := (Signed{[]byte{0x30, 0}, algorithm, make([]byte, 256)}).Verify(long); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("got %v, want ErrAlgorithm", err)
	}
}

// TestExtensions checks ReadExtensions (RFC 5280 4.1 and 4.2), and that Append writes what it reads.
func TestExtensions(t *testing.T) {
	const one, critical = "300606012a04010a", "300906012b0101ff04010b"
	distinct := func(n int) string { // extensions of 9 bytes
		all := fmt.Sprintf("3082%04x", 9*n)
		for i := range n {
			all += fmt.Sprintf("300706022a%02x04010a", i)
		}
		return all
	}
	for _, test := range []struct {
		name, der string
		want      int // -1: ErrFormat
	}{
		{"none", "3000", 0},
		{"two", sequence(one + critical), 2},
		{"the same twice", sequence(one + one), -1},
		{"no value", sequence("300306012a"), -1},
		{"element after the value", sequence("300806012a04010a0500"), -1},
		{"as many as allowed", distinct(maxExtensions), maxExtensions},
		{"more than allowed", distinct(maxExtensions + 1), -1},
		{"no SEQUENCE", "0500", -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := cryptobyte.String(fromHex(t, test.der))
			all, err := ReadExtensions(&s)
			if test.want < 0 {
				if !errors.Is(err, ErrFormat) {
					t.Errorf("got %v, %v; want ErrFormat", all, err)
				}
				return
			}
			if err != nil || len(all) != test.want {
				t.Fatalf("got %v, %v; want %d extensions", all, err, test.want)
			}
			var b cryptobyte.Builder
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				for _, e := range all {
					e.Append(b)
				}
			})
			if got := hex.EncodeToString(b.BytesOrPanic()); got != test.der {
				t.Errorf("written as %s, want %s", got, test.der)
			}
		})
	}
}

// TestReadTime checks that a time is in UTC with seconds, and may have a fraction (RFC 3161 2.4.2).
func TestReadTime(t *testing.T) {
	at := time.Date(2026, 2, 28, 23, 59, 8, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"20260228235908Z":           at,
		"20260228235908.000000001Z": at.Add(1),
		"20260228235908.500Z":       at.Add(500 * time.Millisecond), // not DER, but in use
		"202602282359Z":             {},
		"20260228235908":            {},
		"20260228235908+0100":       {},
		"20260228235908,5Z":         {},
		"20260228235908.Z":          {},
		"20260229235908Z":           {},
		"260228235908Z":             {},
		"":                          {},
	} {
		var b cryptobyte.Builder
		b.AddASN1(cbasn1.GeneralizedTime, func(b *cryptobyte.Builder) { b.AddBytes([]byte(text)) })
		s := cryptobyte.String(b.BytesOrPanic())
		got, err := ReadTime(&s, cbasn1.GeneralizedTime)
		if !got.Equal(want) || (err != nil) != want.IsZero() || err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
}
