package validation_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

const day = 24 * time.Hour

// world is an authority of signers and one of timestamps, each with a root and a responder of its own, and when
// something was signed there.
type world struct {
	signing, stamping *sandboxca.Authority
	signed            time.Time
	key               crypto.Signer
	signer            ades.Signer
	unit              tsp.Unit
}

// newWorld is one whose signer and timestamp authority are in force for so long since the signature.
func newWorld(t *testing.T, signer, stamper time.Duration) *world {
	t.Helper()
	return newWorldOf(t, time.Now().Add(-40*day), newKey(t), signer, stamper)
}

// newWorldOf is one in which a key signed at a time.
func newWorldOf(t *testing.T, signed time.Time, key crypto.Signer, signer, stamper time.Duration) *world {
	t.Helper()
	w := &world{signed: signed.Truncate(time.Second), key: key}
	var err error
	for _, a := range []**sandboxca.Authority{&w.signing, &w.stamping} {
		if *a, err = sandboxca.New(w.signed.Add(-2 * day)); err != nil {
			t.Fatal(err)
		}
	}
	w.signer = ades.Signer{Chain: w.signing.Chain(), Certificate: issue(t, w.signing, w.key, x509.Certificate{
		Subject: pkix.Name{CommonName: "A signer"}, NotBefore: w.signed.Add(-day), NotAfter: w.signed.Add(signer),
		KeyUsage: x509.KeyUsageContentCommitment,
	})}
	purpose, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})
	if err != nil {
		t.Fatal(err)
	}
	unit := newKey(t)
	w.unit = tsp.Unit{Chain: w.stamping.Chain(), Key: unit, Policy: asn1.ObjectIdentifier{2, 999, 1}, Certificate: issue(t, w.stamping, unit, x509.Certificate{
		Subject: pkix.Name{CommonName: "A timestamp authority"}, NotBefore: w.signed.Add(-day), NotAfter: w.signed.Add(stamper),
		KeyUsage:        x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: purpose}},
	})}
	return w
}

func newKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func issue(t *testing.T, by *sandboxca.Authority, key crypto.Signer, template x509.Certificate) *x509.Certificate {
	t.Helper()
	template.BasicConstraintsValid = true
	cert, err := by.IssueProfile(&template, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (w *world) roots() []*x509.Certificate {
	return []*x509.Certificate{w.signing.Root(), w.stamping.Root()}
}

func (w *world) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	for _, root := range w.roots() {
		pool.AddCert(root)
	}
	return pool
}

// sources are both authorities as they are so long after the signature.
func (w *world) sources(after time.Duration) ades.Sources {
	at := asked{w, w.signed.Add(after)}
	return ades.Sources{Time: at, Revocation: at, Issuers: at, Roots: w.pool()}
}

// asked is the authorities at a time.
type asked struct {
	*world
	at time.Time
}

func (a asked) of(cert *x509.Certificate) ades.Sources {
	clock := func() time.Time { return a.at }
	for _, issuer := range append(a.signing.Chain(), a.signing.Root()) {
		if cert.CheckSignatureFrom(issuer) == nil {
			return a.signing.Sources(clock)
		}
	}
	return a.stamping.Sources(clock)
}

func (a asked) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	return a.unit.Create(tsp.Request{Hash: h, Sum: sum, Certificates: true}, a.at)
}

func (a asked) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	return a.of(cert).Revocation.Revocation(ctx, cert, issuer, notBefore)
}

func (a asked) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	return a.of(cert).Issuers.Issuers(ctx, cert)
}
