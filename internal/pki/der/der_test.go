package der

import (
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

func rsaKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func selfSigned(t *testing.T, key crypto.Signer, algorithm x509.SignatureAlgorithm) *x509.Certificate {
	t.Helper()
	return certtest.Issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "signer"}, SignatureAlgorithm: algorithm}, key, nil, nil)
}

func outerOf(t *testing.T, der []byte) Signed {
	t.Helper()
	s := cryptobyte.String(der)
	var fields cryptobyte.String
	if !s.ReadASN1(&fields, cbasn1.SEQUENCE) {
		t.Fatal("no SEQUENCE")
	}
	signed, err := ReadSigned(&fields)
	if err != nil || !fields.Empty() {
		t.Fatal(err)
	}
	return signed
}

// RFC 5280 4.1.1: crypto/x509 wrote these certificates, each with another algorithm.
func TestEveryAlgorithmOfCertificates(t *testing.T) {
	ofRSA := rsaKey(t)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		key       crypto.Signer
		algorithm x509.SignatureAlgorithm
	}{
		{ofRSA, x509.SHA256WithRSA}, {ofRSA, x509.SHA384WithRSA}, {ofRSA, x509.SHA512WithRSA},
		{ofRSA, x509.SHA256WithRSAPSS}, {ofRSA, x509.SHA384WithRSAPSS}, {ofRSA, x509.SHA512WithRSAPSS},
		{certtest.NewKey(t, elliptic.P256()), x509.ECDSAWithSHA256},
		{certtest.NewKey(t, elliptic.P384()), x509.ECDSAWithSHA384},
		{certtest.NewKey(t, elliptic.P521()), x509.ECDSAWithSHA512},
		{edwards, x509.PureEd25519},
	} {
		t.Run(row.algorithm.String(), func(t *testing.T) {
			cert := selfSigned(t, row.key, row.algorithm)
			signed := outerOf(t, cert.Raw)
			if err := signed.Verify(cert); err != nil {
				t.Fatal(err)
			}
			if err := signed.Verify(selfSigned(t, certtest.NewKey(t, elliptic.P256()), 0)); err == nil {
				t.Error("it verifies with another key")
			}
			signed.ToBeSigned = append([]byte{}, signed.ToBeSigned...)
			signed.ToBeSigned[len(signed.ToBeSigned)-1] ^= 1
			if err := signed.Verify(cert); !errors.Is(err, ades.ErrValue) {
				t.Errorf("changed afterwards: %v", err)
			}
		})
	}
}

func TestSignedVerifies(t *testing.T) {
	for name, key := range map[string]crypto.Signer{
		"RSA": rsaKey(t), "P-256": certtest.NewKey(t, elliptic.P256()), "P-384": certtest.NewKey(t, elliptic.P384()), "P-521": certtest.NewKey(t, elliptic.P521()),
	} {
		signed, err := Sign([]byte{0x30, 0x03, 0x02, 0x01, 0x05}, key)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var b cryptobyte.Builder
		b.AddASN1(cbasn1.SEQUENCE, signed.Append)
		if err := outerOf(t, b.BytesOrPanic()).Verify(selfSigned(t, key, 0)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// RFC 4055 3.1: a hash, the mask by the same, a salt of its length. The identifiers
// are of SHA-256 unless the name says otherwise.
func TestAlgorithmsThatAreNotAccepted(t *testing.T) {
	const (
		pss    = "06092a864886f70d01010a"
		hash   = "a00f300d06096086480165030402010500"
		mask   = "a11c301a06092a864886f70d010108300d06096086480165030402010500"
		salt32 = "a203020120"
	)
	whole := pss + sequence(hash+mask+salt32)
	for _, row := range []struct {
		name, identifier string
		want             x509.SignatureAlgorithm
	}{
		{"PSS", whole, x509.SHA256WithRSAPSS},
		{"PSS with the trailer written", pss + sequence(hash+mask+salt32+"a303020101"), x509.SHA256WithRSAPSS},
		{"PSS with the hash's NULL left out", pss + sequence("a00d300b0609608648016503040201"+mask+salt32), x509.SHA256WithRSAPSS},
		{"PSS by default, SHA-1", pss + "3000", 0},
		{"PSS without parameters", pss, 0},
		{"PSS with a salt of 20", pss + sequence(hash+mask+"a203020114"), 0},
		{"PSS masked by SHA-384", pss + sequence(hash+strings.Replace(mask, "0402010500", "0402020500", 1)+salt32), 0},
		{"PSS with another mask", pss + sequence(hash+strings.Replace(mask, "010108", "010109", 1)+salt32), 0},
		{"PSS with another trailer", pss + sequence(hash+mask+salt32+"a303020102"), 0},
		{"PSS and something after it", whole + "0500", 0},
		{"SHA-1 with RSA", "06092a864886f70d0101050500", 0},
		{"MD5 with RSA", "06092a864886f70d0101040500", 0},
		{"SHA-1 with ECDSA", "06072a8648ce3d0401", 0},
		{"SHA-256 with RSA", "06092a864886f70d01010b0500", x509.SHA256WithRSA},
		{"SHA-256 with RSA and a number", "06092a864886f70d01010b020100", 0},
		{"Ed25519", "06032b6570", x509.PureEd25519},
		{"Ed25519 with NULL", "06032b65700500", 0},
		{"nothing", "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			der, err := hex.DecodeString(sequence(row.identifier))
			if err != nil {
				t.Fatal(err)
			}
			got, err := parseAlgorithm(der)
			if got != row.want || (err == nil) != (row.want != 0) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// sequence puts a SEQUENCE of less than 128 bytes around hexadecimal contents.
func sequence(contents string) string {
	return "30" + hex.EncodeToString([]byte{byte(len(contents) / 2)}) + contents
}

// distinct is n extensions, 1.2.0 and on, 9 bytes each.
func distinct(n int) string {
	all := ""
	for i := range n {
		all += fmt.Sprintf("300706022a%02x04010a", i)
	}
	return fmt.Sprintf("3082%04x", 9*n) + all
}

// RFC 5280 4.1 and 4.2.
func TestExtensions(t *testing.T) {
	const one, critical = "300606012a04010a", "300906012b0101ff04010b"
	for _, row := range []struct {
		name, der string
		want      int
	}{
		{"none", "3000", 0},
		{"two", sequence(one + critical), 2},
		{"the same twice", sequence(one + one), -1},
		{"no value", sequence("300306012a"), -1},
		{"more in one", sequence("300806012a04010a0500"), -1},
		{"many", distinct(64), 64},
		{"more than any", distinct(65), -1},
		{"no SEQUENCE", "0500", -1},
	} {
		t.Run(row.name, func(t *testing.T) {
			der, err := hex.DecodeString(row.der)
			if err != nil {
				t.Fatal(err)
			}
			s := cryptobyte.String(der)
			all, err := ReadExtensions(&s)
			if row.want < 0 {
				if !errors.Is(err, ErrFormat) {
					t.Errorf("%v, %v", all, err)
				}
				return
			}
			if err != nil || len(all) != row.want {
				t.Fatalf("%v, %v", all, err)
			}
			var b cryptobyte.Builder
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				for _, e := range all {
					e.Append(b)
				}
			})
			if got := hex.EncodeToString(b.BytesOrPanic()); got != row.der {
				t.Errorf("written again: %s", got)
			}
		})
	}
}
