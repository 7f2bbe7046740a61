package cms

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// newEd25519Signer is a signer by an algorithm that is read only.
func newEd25519Signer(t testing.TB) signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, root := issue(t, key)
	return signer{ades.Signer{Certificate: cert, Chain: []*x509.Certificate{root}, Algorithm: ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}}, key, root}
}

// writePEM writes a file for openssl and returns its path.
func writePEM(t testing.TB, name, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// RFC 8419 3.1: with Ed25519 the attributes themselves are signed, not their digest.
func TestEd25519(t *testing.T) {
	content := []byte("the bytes of a document")
	s := newEd25519Signer(t)
	der := s.sign(t, content)
	sd, err := Parse(der)
	if err != nil {
		t.Fatal(err)
	}
	if err := sd.Verify(digest(crypto.SHA512, content)); err != nil {
		t.Error(err)
	}
	if sd.Algorithm() != s.Algorithm {
		t.Errorf("algorithm %v", sd.Algorithm())
	}
	if err := sd.Verify(digest(crypto.SHA512, content[1:])); !errors.Is(err, ErrDigest) {
		t.Errorf("other content: %v", err)
	}
	sd.SignedAttributes = append(bytes.Clone(sd.SignedAttributes), 0)
	if err := sd.Verify(digest(crypto.SHA512, content)); !errors.Is(err, ades.ErrValue) {
		t.Errorf("other attributes: %v", err)
	}
}

// "openssl cms" before 3.2 cannot do Ed25519, so it is handed the value and what is signed.
func TestOpenSSLVerifiesEd25519Value(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	s := newEd25519Signer(t)
	sd, err := Parse(s.sign(t, []byte("x")))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	signed, value := filepath.Join(folder, "signed"), filepath.Join(folder, "value")
	verify := func(attributes []byte) ([]byte, error) {
		if err := errors.Join(os.WriteFile(signed, attributes, 0o600), os.WriteFile(value, sd.Value, 0o600)); err != nil {
			t.Fatal(err)
		}
		return exec.Command(openssl, "pkeyutl", "-verify", "-rawin", "-certin", "-inkey", writePEM(t, "cert.pem", "CERTIFICATE", s.Certificate.Raw),
			"-in", signed, "-sigfile", value).CombinedOutput()
	}
	if out, err := verify(sd.SignedAttributes); err != nil {
		t.Errorf("openssl: %v\n%s", err, out)
	}
	if _, err := verify(sd.SignedAttributes[1:]); err == nil {
		t.Error("openssl accepts other attributes: the test proves nothing")
	}
}

// RFC 8419 2.3: SHA-512 and no other hash goes with Ed25519.
func TestEd25519WithAnotherHashIsRefused(t *testing.T) {
	der := newEd25519Signer(t).sign(t, []byte("x"))
	sha512 := []byte{0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3}
	sha384 := []byte{0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2}
	if _, err := Parse(bytes.ReplaceAll(der, sha512, sha384)); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

// Signatures that openssl makes with salts of every length are read, and the
// parameters for the one that this package makes are openssl's to the byte.
func TestOpenSSLsPSSVerifies(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := newSigner(t, key, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS})
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	keyPath, certPath := writePEM(t, "key.pem", "PRIVATE KEY", keyDER), writePEM(t, "cert.pem", "CERTIFICATE", s.Certificate.Raw)
	content := []byte("the bytes of a document")
	for length, salt := range map[string]int{"digest": 0, "max": 222, "20": 20, "1": 1} {
		t.Run(length, func(t *testing.T) {
			command := exec.Command(openssl, "cms", "-sign", "-binary", "-md", "sha256", "-signer", certPath, "-inkey", keyPath,
				"-keyopt", "rsa_padding_mode:pss", "-keyopt", "rsa_pss_saltlen:"+length, "-outform", "DER")
			command.Stdin = bytes.NewReader(content)
			der, err := command.Output()
			if err != nil {
				t.Fatalf("openssl: %v", err)
			}
			sd, err := Parse(der)
			if err != nil {
				t.Fatal(err)
			}
			want := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS, Salt: salt}
			if sd.Algorithm() != want {
				t.Errorf("algorithm %v, want %v", sd.Algorithm(), want)
			}
			if err := sd.Verify(digest(crypto.SHA256, content)); err != nil {
				t.Error(err)
			}
			sd.algorithm.Salt = 33
			if err := sd.Verify(digest(crypto.SHA256, content)); !errors.Is(err, ades.ErrValue) {
				t.Errorf("a salt of another length than stated: %v", err)
			}
			own, err := marshalSignatureAlgorithm(want)
			if err != nil {
				t.Fatal(err)
			}
			if salt != 20 && !bytes.Contains(der, own) { // the default, which openssl leaves out
				t.Errorf("openssl writes the parameters otherwise than %x", own)
			}
		})
	}
}

var (
	oidMGF1 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 8}

	tagContext2 = cbasn1.Tag(2).ContextSpecific().Constructed()
	tagContext3 = cbasn1.Tag(3).ContextSpecific().Constructed()
)

// pss builds an AlgorithmIdentifier of RSASSA-PSS with the parameters given.
func pss(t *testing.T, parameters ...func(*cryptobyte.Builder)) cryptobyte.String {
	t.Helper()
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidPSS)
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			for _, add := range parameters {
				add(b)
			}
		})
	})
	der, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func pssIdentifier(tag cbasn1.Tag, oid asn1.ObjectIdentifier, null bool, inner ...asn1.ObjectIdentifier) func(*cryptobyte.Builder) {
	return func(b *cryptobyte.Builder) {
		b.AddASN1(tag, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(oid)
				for _, o := range inner {
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(o) })
				}
				if null {
					b.AddASN1NULL()
				}
			})
		})
	}
}

func pssInteger(tag cbasn1.Tag, n int64) func(*cryptobyte.Builder) {
	return func(b *cryptobyte.Builder) { b.AddASN1(tag, func(b *cryptobyte.Builder) { b.AddASN1Int64(n) }) }
}

// RFC 4055 section 3.1: the parameters of RSASSA-PSS and their defaults.
func TestPSSParameters(t *testing.T) {
	sha256, sha512 := digestOIDs[0].oid, digestOIDs[2].oid
	md5 := asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 5}
	hash := pssIdentifier(tagContext0, sha256, true)
	mask := pssIdentifier(tagContext1, oidMGF1, false, sha256)
	salt := pssInteger(tagContext2, 32)
	whole := pss(t, hash, mask, salt)
	var bare cryptobyte.Builder
	bare.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidPSS) })
	for name, row := range map[string]struct {
		identifier cryptobyte.String
		digest     crypto.Hash
		want       ades.Algorithm
		err        error
	}{
		"all":                        {identifier: whole, want: ades.Algorithm{Scheme: ades.PSS}},
		"hash without NULL":          {identifier: pss(t, pssIdentifier(tagContext0, sha256, false), mask, salt), want: ades.Algorithm{Scheme: ades.PSS}},
		"trailer as by default":      {identifier: pss(t, hash, mask, salt, pssInteger(tagContext3, 1)), want: ades.Algorithm{Scheme: ades.PSS}},
		"salt by default":            {identifier: pss(t, hash, mask), want: ades.Algorithm{Scheme: ades.PSS, Salt: 20}},
		"everything by default":      {identifier: pss(t), digest: crypto.SHA1, want: ades.Algorithm{Scheme: ades.PSS}},
		"no parameters":              {identifier: bare.BytesOrPanic(), err: ErrFormat},
		"another hash than digest's": {identifier: whole, digest: crypto.SHA384, err: ErrFormat},
		"hash by default":            {identifier: pss(t, mask, salt), err: ErrFormat},
		"mask by another hash":       {identifier: pss(t, hash, pssIdentifier(tagContext1, oidMGF1, false, sha512), salt), err: ades.ErrAlgorithm},
		"mask by default":            {identifier: pss(t, hash, salt), err: ades.ErrAlgorithm},
		"mask by something else":     {identifier: pss(t, hash, pssIdentifier(tagContext1, sha256, false, sha256), salt), err: ades.ErrAlgorithm},
		"mask without a hash":        {identifier: pss(t, hash, pssIdentifier(tagContext1, oidMGF1, false), salt), err: ErrFormat},
		"an unknown hash":            {identifier: pss(t, pssIdentifier(tagContext0, md5, true), mask, salt), err: ades.ErrAlgorithm},
		"no salt":                    {identifier: pss(t, hash, mask, pssInteger(tagContext2, 0)), err: ades.ErrAlgorithm},
		"a negative salt":            {identifier: pss(t, hash, mask, pssInteger(tagContext2, -1)), err: ades.ErrAlgorithm},
		"another trailer":            {identifier: pss(t, hash, mask, salt, pssInteger(tagContext3, 2)), err: ErrFormat},
		"in another order":           {identifier: pss(t, mask, hash, salt), err: ErrFormat},
		"more than is known":         {identifier: pss(t, hash, mask, salt, pssInteger(tagContext4, 1)), err: ErrFormat},
	} {
		t.Run(name, func(t *testing.T) {
			if row.digest == 0 {
				row.digest = crypto.SHA256
			}
			if row.err == nil {
				row.want.Hash = row.digest
			}
			got, err := parsePSS(row.digest, row.identifier)
			if !errors.Is(err, row.err) || got != row.want {
				t.Errorf("%v, %v; want %v, %v", got, err, row.want, row.err)
			}
		})
	}
}

// What openssl makes with a key that is restricted to RSASSA-PSS is refused by name,
// not as a bad signature.
func TestKeyRestrictedToPSS(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	folder := t.TempDir()
	keyPath, certPath := filepath.Join(folder, "key.pem"), filepath.Join(folder, "cert.pem")
	if out, err := exec.Command(openssl, "req", "-x509", "-newkey", "rsa-pss", "-pkeyopt", "rsa_keygen_bits:2048", "-noenc",
		"-subj", "/CN=PSS", "-keyout", keyPath, "-out", certPath).CombinedOutput(); err != nil {
		t.Fatalf("openssl: %v\n%s", err, out)
	}
	command := exec.Command(openssl, "cms", "-sign", "-binary", "-md", "sha256", "-signer", certPath, "-inkey", keyPath, "-outform", "DER")
	command.Stdin = strings.NewReader("x")
	der, err := command.Output()
	if err != nil {
		t.Fatalf("openssl: %v", err)
	}
	sd, err := Parse(der)
	if err != nil {
		t.Fatal(err)
	}
	if err := sd.Verify(digest(sd.Algorithm().Hash, []byte("x"))); !errors.Is(err, ades.ErrAlgorithm) || !strings.Contains(err.Error(), "id-RSASSA-PSS") {
		t.Error(err)
	}
}

// What is read as RSASSA-PSS is written so that it is read as the same, and can be used.
func FuzzPSSParameters(f *testing.F) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	for _, a := range []ades.Algorithm{{Hash: crypto.SHA256, Salt: 222}, {Hash: crypto.SHA384}, {Hash: crypto.SHA512, Salt: 20}} {
		der, err := marshalPSS(a)
		if err != nil {
			f.Fatal(err)
		}
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
				t.Errorf("%v is written as %v, %v", a, again, err)
			}
			if a.Verify(key.Public(), make([]byte, d.hash.Size()), make([]byte, key.Size())) == nil {
				t.Error("a value of zeros verifies")
			}
		}
	})
}
