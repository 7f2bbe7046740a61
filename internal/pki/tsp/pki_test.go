package tsp_test

import (
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/pki/tsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

var (
	policy      = asn1.ObjectIdentifier{2, 999, 3161}
	otherPolicy = asn1.ObjectIdentifier{2, 999, 3162}

	criticalTimeStamping = pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true,
		Value: []byte{0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8}}
)

// root is a certification authority.
type root struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func newRoot(t testing.TB) root {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	return root{certtest.Issue(t, x509.Certificate{
		Subject:               pkix.Name{CommonName: "Root"},
		BasicConstraintsValid: true,
		IsCA:                  true,
		KeyUsage:              x509.KeyUsageCertSign,
	}, key, nil, nil), key}
}

// unitTemplate is the certificate of a time-stamping unit (EN 319 422 clause 6).
func unitTemplate() *x509.Certificate {
	return &x509.Certificate{
		Subject:         pkix.Name{Country: []string{"IS"}, CommonName: "Tímastimplun"},
		KeyUsage:        x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{criticalTimeStamping},
	}
}

func (r root) unit(t testing.TB, template *x509.Certificate, key crypto.Signer) tsp.Unit {
	t.Helper()
	cert := certtest.Issue(t, *template, key, r.cert, r.key)
	return tsp.Unit{Certificate: cert, Chain: []*x509.Certificate{r.cert}, Key: key, Policy: policy}
}

// units are one for each kind of key.
func units(t testing.TB, r root) map[string]tsp.Unit {
	t.Helper()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 3072)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]tsp.Unit{"RSA-3072": r.unit(t, unitTemplate(), rsaKey)}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		all[curve.Params().Name] = r.unit(t, unitTemplate(), certtest.NewKey(t, curve))
	}
	return all
}

// folder is where files for a program are put.
type folder struct {
	t    testing.TB
	path string
}

func (f folder) write(name string, b []byte) string {
	f.t.Helper()
	path := filepath.Join(f.path, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		f.t.Fatal(err)
	}
	return path
}

func (f folder) writePEM(name string, certs ...*x509.Certificate) string {
	f.t.Helper()
	return f.write(name, certtest.PEM(certs...))
}

func sum(h crypto.Hash, b []byte) []byte {
	d := h.New()
	d.Write(b)
	return d.Sum(nil)
}

// request is one with every field.
func request(content []byte) tsp.Request {
	return tsp.Request{Hash: crypto.SHA256, Sum: sum(crypto.SHA256, content), Policy: policy, Nonce: big.NewInt(-5), Certificates: true}
}

func create(t testing.TB, u tsp.Unit, r tsp.Request, now time.Time) []byte {
	t.Helper()
	token, err := u.Create(r, now)
	if err != nil {
		t.Fatal(err)
	}
	return token
}
