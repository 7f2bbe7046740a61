package validation

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// world is a root, and a source that answers about each certificate as it is told.
// It counts what it is asked.
type world struct {
	t       testing.TB
	root    pair
	answers map[string]func(cert, issuer *x509.Certificate) (ades.RevocationData, error)
	issuers map[string][]*x509.Certificate
	asked   []string // "OCSP of X" and "issuer of X"
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, answers: make(map[string]func(cert, issuer *x509.Certificate) (ades.RevocationData, error)), issuers: make(map[string][]*x509.Certificate)}
	w.root = w.authority("Root", pair{})
	return w
}

func (w *world) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(w.root.cert)
	return pool
}

func (w *world) sources() ades.Sources {
	return ades.Sources{Revocation: w, Issuers: w, Roots: w.roots()}
}

func (w *world) Revocation(_ context.Context, cert, issuer *x509.Certificate, _ time.Time) (ades.RevocationData, error) {
	name := cert.Subject.CommonName
	w.asked = append(w.asked, "status of "+name)
	answer, ok := w.answers[name]
	if !ok {
		return ades.RevocationData{}, fmt.Errorf("%w for %s: %w", ades.ErrNoRevocation, name, ades.ErrUnavailable)
	}
	return answer(cert, issuer)
}

func (w *world) Issuers(_ context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	w.asked = append(w.asked, "issuer of "+cert.Subject.CommonName)
	found, ok := w.issuers[cert.Subject.CommonName]
	if !ok {
		return nil, ades.ErrUnavailable
	}
	return found, nil
}

// issue makes a certificate under a parent, or under itself.
func (w *world) issue(name string, parent pair, template x509.Certificate) pair {
	w.t.Helper()
	key := certtest.NewKey(w.t, elliptic.P256())
	return pair{w.certify(name, key, parent, template), key}
}

func (w *world) certify(name string, key *ecdsa.PrivateKey, parent pair, template x509.Certificate) *x509.Certificate {
	w.t.Helper()
	template.Subject, template.BasicConstraintsValid = pkix.Name{CommonName: name}, true
	return certtest.Issue(w.t, template, key, parent.cert, parent.key)
}

func ofAuthority() x509.Certificate {
	return x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}
}

func (w *world) authority(name string, parent pair) pair { return w.issue(name, parent, ofAuthority()) }

func (w *world) signer(name string, parent pair) pair {
	return w.issue(name, parent, x509.Certificate{KeyUsage: x509.KeyUsageContentCommitment})
}

// responder makes a delegated one, with the extensions given.
func (w *world) responder(name string, parent pair, extensions ...pkix.Extension) pair {
	return w.issue(name, parent, x509.Certificate{
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}, ExtraExtensions: extensions,
	})
}

var noCheck = pkix.Extension{Id: oidNoCheck, Value: []byte{5, 0}}

// response makes an OCSPResponse about a certificate; a zero revokedAt: good.
func (w *world) response(by pair, cert, issuer *x509.Certificate, revokedAt time.Time) []byte {
	w.t.Helper()
	return w.responseBy(by, cert, issuer, func(s *ocsp.Single) {
		if !revokedAt.IsZero() {
			s.Status, s.RevokedAt, s.Reason = ocsp.Revoked, revokedAt, 1
		}
	})
}

func (w *world) responseBy(by pair, cert, issuer *x509.Certificate, change func(*ocsp.Single)) []byte {
	w.t.Helper()
	now := time.Now()
	single := ocsp.Single{ID: ocsp.NewRequest(cert, issuer, crypto.SHA256, nil).IDs[0], ThisUpdate: now, NextUpdate: now.Add(time.Hour)}
	change(&single)
	r := ocsp.Response{ProducedAt: now, Singles: []ocsp.Single{single}}
	if !by.cert.Equal(issuer) {
		r.Certificates = []*x509.Certificate{by.cert}
	}
	der, err := ocsp.Create(r, by.cert, by.key)
	if err != nil {
		w.t.Fatal(err)
	}
	return der
}

// list makes a CRL of now, listAt one of so many years from now.
func (w *world) list(by pair, revoked ...*x509.Certificate) []byte {
	return w.listAt(by, 0, revoked...)
}

func (w *world) listAt(by pair, years int, revoked ...*x509.Certificate) []byte {
	w.t.Helper()
	at := time.Now().AddDate(years, 0, 0)
	template := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: at, NextUpdate: at.Add(time.Hour)}
	for _, c := range revoked {
		template.RevokedCertificateEntries = append(template.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: c.SerialNumber, RevocationTime: time.Now()})
	}
	der, err := x509.CreateRevocationList(rand.Reader, template, by.cert, by.key)
	if err != nil {
		w.t.Fatal(err)
	}
	return der
}

// answersFor has a responder answer about a certificate.
func (w *world) answersFor(name string, by pair) {
	w.answers[name] = func(cert, issuer *x509.Certificate) (ades.RevocationData, error) {
		return ades.RevocationData{OCSP: w.response(by, cert, issuer, time.Time{})}, nil
	}
}

// lists has a CRL answer about a certificate.
func (w *world) lists(name string, by pair) {
	w.answers[name] = func(_, _ *x509.Certificate) (ades.RevocationData, error) {
		return ades.RevocationData{CRL: w.list(by)}, nil
	}
}

// names are those of the data's certificates.
func names(d *Data) []string {
	var out []string
	for _, c := range d.Certificates {
		out = append(out, c.Subject.CommonName)
	}
	return out
}

// collect collects with nothing known but the certificates given.
func collect(t testing.TB, sources ades.Sources, certificates []*x509.Certificate, targets ...Target) (*Data, error) {
	t.Helper()
	return Collect(t.Context(), sources, NewKnown(t.Context(), sources, certificates...), targets...)
}
