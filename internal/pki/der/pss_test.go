package der

import (
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"math/big"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

// RFC 4055 3.1: what may be left out stands for SHA-1 with a salt of 20.
func TestParametersOfPSS(t *testing.T) {
	const (
		pss    = "06092a864886f70d01010a"
		sha384 = "06096086480165030402020500"
		hash   = "a00f300d" + sha384
		mask   = "a11c301a06092a864886f70d010108300d" + sha384
		salt   = "a203020114"
	)
	for _, row := range []struct {
		name, parameters string
		want             PSS
		err              error
	}{
		{"all", sequence(hash + mask + "a203020130"), PSS{crypto.SHA384, crypto.SHA384, 48}, nil},
		{"nothing", "3000", PSS{crypto.SHA1, crypto.SHA1, 20}, nil},
		{"a hash alone", sequence(hash), PSS{crypto.SHA384, crypto.SHA1, 20}, nil},
		{"a mask alone", sequence(mask), PSS{crypto.SHA1, crypto.SHA384, 20}, nil},
		{"a negative salt", sequence("a2030201ff"), PSS{crypto.SHA1, crypto.SHA1, -1}, nil},
		{"no parameters", "", PSS{}, ErrFormat},
		{"something after them", "30000500", PSS{}, ErrFormat},
		{"something within them", sequence(salt + "0500"), PSS{}, ErrFormat},
		{"two things in a hash", sequence("a011300d" + sha384 + "0500"), PSS{}, ErrFormat},
		{"a hash with parameters", sequence("a010300e0609608648016503040202020100"), PSS{}, ErrFormat},
		{"two things in a mask", sequence("a11e301a06092a864886f70d010108300d" + sha384 + "0500"), PSS{}, ErrFormat},
		{"a salt in two numbers", sequence("a206020114020114"), PSS{}, ErrFormat},
		{"another mask generation", sequence("a111300f06092a864886f70d0101093002" + "0500"), PSS{}, ades.ErrAlgorithm},
		{"an unknown hash", sequence("a00e300c06082a864886f70d02050500"), PSS{}, ades.ErrAlgorithm},
	} {
		t.Run(row.name, func(t *testing.T) {
			der, err := hex.DecodeString(sequence(pss + row.parameters))
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParsePSS(der)
			if got != row.want || !errors.Is(err, row.err) {
				t.Fatalf("%v, %v; want %v, %v", got, err, row.want, row.err)
			}
			if err != nil {
				return
			}
			if der, err = got.Marshal(); err != nil {
				t.Fatal(err)
			}
			if again, err := ParsePSS(der); again != got || err != nil {
				t.Errorf("written as %v, %v", again, err)
			}
		})
	}
	for name, identifier := range map[string]string{"empty": "", "another algorithm": sequence("06092a864886f70d01010b" + "3000"), "more": sequence(pss+"3000") + "00"} {
		der, err := hex.DecodeString(identifier)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParsePSS(der); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (PSS{Hash: crypto.SHA256}).Marshal(); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("a mask by nothing: %v", err)
	}
}

// A key comes with what it is to verify, and may be of any length.
func TestLongKeysVerifyNothing(t *testing.T) {
	signed, err := Sign([]byte{0x30, 0}, rsaKey(t))
	if err != nil {
		t.Fatal(err)
	}
	n := new(big.Int).Lsh(big.NewInt(1), 1<<21)
	long := &x509.Certificate{PublicKeyAlgorithm: x509.RSA, PublicKey: &rsa.PublicKey{N: n.SetBit(n, 0, 1), E: 65537}}
	if err := signed.Verify(long); !errors.Is(err, ades.ErrAlgorithm) {
		t.Error(err)
	}
}
