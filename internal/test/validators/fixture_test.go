package validators

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// fixture is a file signed twice by pyHanko under an authority made for the test. What the
// validators should say about it is known from how it came about.
type fixture struct {
	path  string
	roots []*x509.Certificate
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	python := testenv.Tool(t, "pyhanko/bin/python")
	folder := t.TempDir()
	root, rootKey := issue(t, rootTemplate, nil, nil)
	leaf, leafKey := issue(t, leafTemplate, root, rootKey)
	path := func(name string) string { return filepath.Join(folder, name) }
	writePEM(t, path("root.pem"), root)
	writePEM(t, path("leaf.pem"), leaf)
	writeKey(t, path("key.pem"), leafKey)
	mustRun(t, python, filepath.Join("testdata", "sign.py"),
		path("key.pem"), path("leaf.pem"), path("root.pem"), "2", path("signed.pdf"))
	return fixture{path("signed.pdf"), []*x509.Certificate{root}}
}

var (
	rootTemplate = x509.Certificate{
		Subject:               pkix.Name{CommonName: "Root of a test"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	leafTemplate = x509.Certificate{
		Subject:  pkix.Name{CommonName: "Signer of a test", SerialNumber: "1"},
		KeyUsage: x509.KeyUsageContentCommitment,
	}
)

// issue makes a certificate that is valid around now; without a parent it signs itself.
func issue(t *testing.T, template x509.Certificate, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	if parent == nil {
		parent, parentKey = &template, key
	}
	return issueTo(t, template, key.Public(), parent, parentKey), key
}

// issueTo certifies a key.
func issueTo(t *testing.T, template x509.Certificate, key crypto.PublicKey, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, &template, parent, key, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// forged is the fixture with one byte of the signed page changed.
func (f fixture) forged(t *testing.T) string {
	t.Helper()
	file, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "forged.pdf")
	writeFile(t, path, bytes.Replace(file, []byte("842"), []byte("841"), 1))
	return path
}

var byteRange = regexp.MustCompile(`/ByteRange \[ ?0 (\d+) (\d+) (\d+) *\]`)

// firstCMS returns the first signature of the fixture and the bytes that it signs.
func (f fixture) firstCMS(t *testing.T) (signature, content []byte) {
	t.Helper()
	file, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	match := byteRange.FindSubmatch(file)
	if match == nil {
		t.Fatal("no byte range in the fixture")
	}
	var number [3]int
	for i := range number {
		if number[i], err = strconv.Atoi(string(match[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	gap, rest, length := number[0], number[1], number[2]
	signature, err = hex.DecodeString(string(file[gap+1 : rest-1]))
	if err != nil {
		t.Fatal(err)
	}
	return signature, append(file[:gap:gap], file[rest:rest+length]...)
}
