package tsp

import (
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

var (
	policy      = asn1.ObjectIdentifier{2, 999, 3161}
	otherPolicy = asn1.ObjectIdentifier{2, 999, 3162}

	oidTimeStamping = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 8}
	oidOCSPSigning  = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 9}
	oidSHA1         = asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}
	oidSHA256       = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidMD5          = asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 5}
)

var compareBig = cmp.Comparer(func(a, b *big.Int) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Cmp(b) == 0)
})

// newUnit returns a time-stamping unit with a new P-256 key. Its Chain is a new root.
func newUnit(t testing.TB) Unit {
	t.Helper()
	return newUnitOf(t, certtest.New(t, "Root", nil, certtest.Authority), certtest.NewKey(t, elliptic.P256()))
}

// newUnitOf returns a time-stamping unit with a new certificate (EN 319 422 clause 6). Each change edits the template.
func newUnitOf(t testing.TB, root *certtest.Pair, key crypto.Signer, changes ...func(*x509.Certificate)) Unit {
	t.Helper()
	cert := certtest.NewForKey(t, "Tímastimplun", key, root, append([]func(*x509.Certificate){timestamping(t)}, changes...)...)
	return Unit{Certificate: cert.Cert, Chain: []*x509.Certificate{root.Cert}, Key: key, Policy: policy}
}

// timestamping makes a template that of a time-stamping unit.
func timestamping(t testing.TB) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		c.KeyUsage, c.ExtraExtensions = x509.KeyUsageDigitalSignature, []pkix.Extension{purposes(t, oidTimeStamping)}
	}
}

// purposes returns a critical extended key usage.
func purposes(t testing.TB, all ...asn1.ObjectIdentifier) pkix.Extension {
	t.Helper()
	der, err := asn1.Marshal(all)
	testenv.NoError(t, err)
	return pkix.Extension{Id: oidExtKeyUsage, Critical: true, Value: der}
}

// newUnits returns a unit for each kind of key, with one root.
func newUnits(t testing.TB) map[string]Unit {
	t.Helper()
	root := certtest.New(t, "Root", nil, certtest.Authority)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 3072)
	testenv.NoError(t, err)
	all := map[string]Unit{"RSA": newUnitOf(t, root, rsaKey)}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		all[curve.Params().Name] = newUnitOf(t, root, certtest.NewKey(t, curve))
	}
	return all
}

func sum(h crypto.Hash, b []byte) []byte {
	d := h.New()
	d.Write(b)
	return d.Sum(nil)
}

// newRequest returns a request with every field, for a timestamp over "content".
func newRequest() Request {
	return Request{Hash: crypto.SHA256, Sum: sum(crypto.SHA256, []byte("content")), Policy: policy, Nonce: big.NewInt(-5), Certificates: true}
}

// changedRequest returns newRequest after a change.
func changedRequest(change func(*Request)) Request {
	r := newRequest()
	change(&r)
	return r
}

func mustMarshal(t testing.TB, r Request) []byte {
	t.Helper()
	der, err := r.Marshal()
	testenv.NoError(t, err)
	return der
}

func mustCreate(t testing.TB, u Unit, r Request) []byte {
	t.Helper()
	token, err := u.Create(r, time.Now())
	testenv.NoError(t, err)
	return token
}

func mustParse(t testing.TB, der []byte) *Token {
	t.Helper()
	token, err := ParseToken(der)
	testenv.NoError(t, err)
	return token
}

// rawImprint is a MessageImprint for encoding/asn1.
type rawImprint struct {
	Algorithm struct{ OID asn1.ObjectIdentifier }
	Sum       []byte
}

func newRawImprint(oid asn1.ObjectIdentifier, n int) rawImprint {
	i := rawImprint{Sum: make([]byte, n)}
	i.Algorithm.OID = oid
	return i
}
