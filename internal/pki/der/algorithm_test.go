package der

import (
	"crypto"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// DER in hexadecimal.
const (
	pssOID    = "06092a864886f70d01010a"
	mgf1      = "06092a864886f70d010108"
	sha256DER = "300d06096086480165030402010500"
	sha384DER = "300d06096086480165030402020500"
)

// tlv returns an element of less than 128 bytes in hexadecimal.
func tlv(tag, contents string) string { return fmt.Sprintf("%s%02x%s", tag, len(contents)/2, contents) }

func sequence(contents string) string { return tlv("30", contents) }

func fromHex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	testenv.NoError(t, err)
	return b
}

// TestPSS checks ParsePSS, the Marshal method, and which parameters a signature may have (RFC 4055 3.1).
func TestPSS(t *testing.T) {
	pss := func(parameters string) string { return sequence(pssOID + sequence(parameters)) }
	hash := func(der string) string { return tlv("a0", der) }
	mask := func(der string) string { return tlv("a1", sequence(mgf1+der)) }
	const salt20, salt32 = "a203020114", "a203020120"
	all := hash(sha256DER) + mask(sha256DER) + salt32
	sha256 := PSS{crypto.SHA256, crypto.SHA256, 32}
	for _, test := range []struct {
		name, identifier string
		want             PSS
		accepted         x509.SignatureAlgorithm // 0: signatures with it do not verify
		err              error
	}{
		{"all parameters", pss(all), sha256, x509.SHA256WithRSAPSS, nil},
		{"trailer field 1", pss(all + "a303020101"), sha256, x509.SHA256WithRSAPSS, nil},
		{"hash without NULL", pss(hash("300b0609608648016503040201") + mask(sha256DER) + salt32), sha256, x509.SHA256WithRSAPSS, nil},
		{"defaults", pss(""), PSS{crypto.SHA1, crypto.SHA1, 20}, 0, nil},
		{"hash only", pss(hash(sha384DER)), PSS{crypto.SHA384, crypto.SHA1, 20}, 0, nil},
		{"mask only", pss(mask(sha384DER)), PSS{crypto.SHA1, crypto.SHA384, 20}, 0, nil},
		{"mask by another hash", pss(hash(sha256DER) + mask(sha384DER) + salt32), PSS{crypto.SHA256, crypto.SHA384, 32}, 0, nil},
		{"salt shorter than the hash", pss(hash(sha256DER) + mask(sha256DER) + salt20), PSS{crypto.SHA256, crypto.SHA256, 20}, 0, nil},
		{"negative salt", pss("a2030201ff"), PSS{crypto.SHA1, crypto.SHA1, -1}, 0, nil},
		{"trailer field 2", pss(all + "a303020102"), PSS{}, 0, ErrFormat},
		{"no parameters", sequence(pssOID), PSS{}, 0, ErrFormat},
		{"element after the parameters", sequence(pssOID + sequence(all) + "0500"), PSS{}, 0, ErrFormat},
		{"element after the salt", pss(all + "0500"), PSS{}, 0, ErrFormat},
		{"two elements in the hash", pss(hash(sha384DER + "0500")), PSS{}, 0, ErrFormat},
		{"hash with parameters", pss(hash("300e0609608648016503040202020100")), PSS{}, 0, ErrFormat},
		{"two elements in the mask", pss(mask(sha384DER + "0500")), PSS{}, 0, ErrFormat},
		{"mask without hash", pss(mask("")), PSS{}, 0, ErrFormat},
		{"salt of two numbers", pss("a206020114020114"), PSS{}, 0, ErrFormat},
		{"another mask generation function", pss(tlv("a1", sequence("06092a864886f70d010109"+sha384DER))), PSS{}, 0, ades.ErrAlgorithm},
		{"unknown hash", pss(hash("300c06082a864886f70d02050500")), PSS{}, 0, ades.ErrAlgorithm},
		{"another algorithm", sequence("06092a864886f70d01010b" + sequence(all)), PSS{}, 0, ErrFormat},
		{"bytes after the identifier", pss(all) + "00", PSS{}, x509.SHA256WithRSAPSS, ErrFormat},
		{"nothing", "", PSS{}, 0, ErrFormat},
	} {
		t.Run(test.name, func(t *testing.T) {
			identifier := fromHex(t, test.identifier)
			got, err := ParsePSS(identifier)
			if got != test.want || !errors.Is(err, test.err) {
				t.Fatalf("got %v, %v; want %v, %v", got, err, test.want, test.err)
			}
			if accepted, err := parseAlgorithm(identifier); accepted != test.accepted || (err == nil) != (test.accepted != 0) {
				t.Errorf("accepted as %v, %v; want %v", accepted, err, test.accepted)
			}
			if err != nil {
				return
			}
			der, err := got.Marshal()
			testenv.NoError(t, err)
			if again, err := ParsePSS(der); again != got || err != nil {
				t.Errorf("written and read again %v, %v; want %v", again, err, got)
			}
		})
	}
	if _, err := (PSS{Hash: crypto.SHA256}).Marshal(); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("mask without a hash: %v, want ErrAlgorithm", err)
	}
}

// TestParseAlgorithmErrors checks algorithms other than RSASSA-PSS with which a signature does not verify.
func TestParseAlgorithmErrors(t *testing.T) {
	for _, test := range []struct {
		name, identifier string
		want             error
	}{
		{"SHA-1 with RSA", sequence("06092a864886f70d0101050500"), ades.ErrAlgorithm},
		{"SHA-1 with ECDSA", sequence("06072a8648ce3d0401"), ades.ErrAlgorithm},
		{"SHA-256 with RSA and an INTEGER as parameters", sequence("06092a864886f70d01010b020100"), ades.ErrAlgorithm},
		{"Ed25519 with NULL", sequence("06032b65700500"), ades.ErrAlgorithm},
		{"no algorithm", sequence(""), ErrFormat},
	} {
		if got, err := parseAlgorithm(fromHex(t, test.identifier)); got != 0 || !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, %v; want %v", test.name, got, err, test.want)
		}
	}
}
