package cms

import (
	"bytes"
	"crypto"
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestParseHash checks that the identifier of a signature algorithm is told from that of an unknown hash.
func TestParseHash(t *testing.T) {
	for _, s := range signatureOIDs {
		identifier, err := marshalAlgorithmIdentifier(s.oid, false)
		testenv.NoError(t, err)
		if _, err := ParseHash(identifier); !errors.Is(err, ErrNoDigest) || errors.Is(err, ErrDigest) || errors.Is(err, ades.ErrAlgorithm) {
			t.Errorf("%v: got %v, want ErrNoDigest only", s.oid, err)
		}
	}
	unknown, err := marshalAlgorithmIdentifier(oidData, false)
	testenv.NoError(t, err)
	if _, err := ParseHash(unknown); !errors.Is(err, ades.ErrAlgorithm) || errors.Is(err, ErrNoDigest) {
		t.Errorf("unknown hash: got %v, want ErrAlgorithm only", err)
	}
}

// TestPSS checks which parameters of RSASSA-PSS fit a digest algorithm and crypto/rsa. Package der tests how they are
// read.
func TestPSS(t *testing.T) {
	sha256 := func(salt int) der.PSS { return der.PSS{Hash: crypto.SHA256, Mask: crypto.SHA256, Salt: salt} }
	for name, test := range map[string]struct {
		parameters der.PSS
		digest     crypto.Hash
		want       ades.Algorithm
		err        error
	}{
		"salt as long as the hash": {sha256(32), crypto.SHA256, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}, nil},
		"salt of another length":   {sha256(20), crypto.SHA256, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS, Salt: 20}, nil},
		"defaults": {der.PSS{Hash: crypto.SHA1, Mask: crypto.SHA1, Salt: 20}, crypto.SHA1,
			ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.PSS}, nil},
		"another hash than the digest algorithm": {sha256(32), crypto.SHA384, ades.Algorithm{}, ErrFormat},
		"mask by another hash": {der.PSS{Hash: crypto.SHA256, Mask: crypto.SHA512, Salt: 32}, crypto.SHA256,
			ades.Algorithm{}, ades.ErrAlgorithm},
		"no salt":       {sha256(0), crypto.SHA256, ades.Algorithm{}, ades.ErrAlgorithm},
		"negative salt": {sha256(-1), crypto.SHA256, ades.Algorithm{}, ades.ErrAlgorithm},
	} {
		identifier, err := test.parameters.Marshal()
		testenv.NoError(t, err)
		if got, err := parsePSS(test.digest, identifier); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: got %v, %v; want %v, %v", name, got, err, test.want, test.err)
		}
	}
	bare, err := marshalAlgorithmIdentifier(oidPSS, true)
	testenv.NoError(t, err)
	if _, err := parsePSS(crypto.SHA256, bare); !errors.Is(err, ErrFormat) {
		t.Errorf("NULL as parameters: got %v, want ErrFormat", err)
	}
}

// TestOpenSSLPSS verifies signatures of openssl with salts of several lengths, and compares the parameters.
func TestOpenSSLPSS(t *testing.T) {
	o := testenv.NewOpenSSL(t)
	writeSigner(t, o, newRSASigner(t, ades.Algorithm{}))
	digest := sum(crypto.SHA256, document)
	for length, salt := range map[string]int{"digest": 0, "max": 222, "20": 20} {
		der := signByOpenSSL(o, "-md", "sha256", "-keyopt", "rsa_padding_mode:pss", "-keyopt", "rsa_pss_saltlen:"+length)
		sd := mustParse(t, der)
		want := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS, Salt: salt}
		if sd.Algorithm() != want {
			t.Errorf("salt %s: got %v, want %v", length, sd.Algorithm(), want)
		}
		if err := sd.Verify(digest); err != nil {
			t.Errorf("salt %s: %v", length, err)
		}
		own, err := marshalSignatureAlgorithm(want)
		testenv.NoError(t, err)
		if salt != 20 && !bytes.Contains(der, own) { // openssl omits the salt if it has the default length
			t.Errorf("salt %s: openssl does not write the parameters as %x", length, own)
		}
		sd.algorithm.Salt = 33
		if err := sd.Verify(digest); !errors.Is(err, ades.ErrValue) {
			t.Errorf("salt %s, verified with 33 bytes: got %v, want ErrValue", length, err)
		}
	}
}

// TestKeyRestrictedToPSS checks that a signature with a key of type id-RSASSA-PSS has the error of an unknown algorithm,
// not of a wrong value.
func TestKeyRestrictedToPSS(t *testing.T) {
	o := testenv.NewOpenSSL(t)
	o.Run("req", "-x509", "-newkey", "rsa-pss", "-pkeyopt", "rsa_keygen_bits:2048", "-noenc",
		"-subj", "/CN=PSS", "-keyout", "key.pem", "-out", "cert.pem")
	sd := mustParse(t, signByOpenSSL(o, "-md", "sha256"))
	if err := sd.Verify(sum(sd.Algorithm().Hash, document)); !errors.Is(err, ades.ErrAlgorithm) || !strings.Contains(err.Error(), "id-RSASSA-PSS") {
		t.Errorf("got %v, want ErrAlgorithm with id-RSASSA-PSS", err)
	}
}

// FuzzPSSParameters checks that parameters that were read are written so that they are read as the same, and that a
// signature can be verified with them.
func FuzzPSSParameters(f *testing.F) {
	key := newRSASigner(f, ades.Algorithm{}).key.Public()
	for _, a := range []ades.Algorithm{{Hash: crypto.SHA256, Salt: 222}, {Hash: crypto.SHA384}, {Hash: crypto.SHA512, Salt: 20}} {
		der, err := marshalPSS(a)
		testenv.NoError(f, err)
		f.Add(der)
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		for _, d := range digestOIDs {
			a, err := parsePSS(d.hash, der)
			if err != nil {
				continue
			}
			own, err := marshalPSS(a)
			if err != nil {
				t.Fatalf("%v is read and not written: %v", a, err)
			}
			if again, err := parsePSS(d.hash, own); err != nil || again != a {
				t.Errorf("written and read again: got %v, %v; want %v", again, err, a)
			}
			if a.Verify(key, make([]byte, d.hash.Size()), make([]byte, 256)) == nil {
				t.Error("a value of zeros verifies")
			}
		}
	})
}
