package validation

import (
	"context"
	"crypto"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

type change = func(*x509.Certificate)

// newAuthority, newSigner and newResponder issue a certificate by a parent, or a self-signed one if it is nil.
func newAuthority(t testing.TB, name string, parent *certtest.Pair, changes ...change) *certtest.Pair {
	return certtest.New(t, name, parent, append([]change{certtest.Authority}, changes...)...)
}

func newSigner(t testing.TB, name string, parent *certtest.Pair, changes ...change) *certtest.Pair {
	return certtest.New(t, name, parent, append([]change{usage(x509.KeyUsageContentCommitment)}, changes...)...)
}

func newResponder(t testing.TB, name string, parent *certtest.Pair, changes ...change) *certtest.Pair {
	return certtest.New(t, name, parent, append([]change{certtest.Responder}, changes...)...)
}

func usage(u x509.KeyUsage) change { return func(c *x509.Certificate) { c.KeyUsage = u } }

func purposes(all ...x509.ExtKeyUsage) change {
	return func(c *x509.Certificate) { c.ExtKeyUsage = all }
}

// extended returns a change that adds an extension with the value NULL.
func extended(id asn1.ObjectIdentifier) change {
	return certtest.Extended(pkix.Extension{Id: id, Value: []byte{5, 0}})
}

// respond returns an OCSP response about a certificate: good, since now, in force for an hour. Each edit changes it.
func respond(t testing.TB, by *certtest.Pair, cert, issuer *x509.Certificate, edits ...func(*ocsp.Single)) []byte {
	t.Helper()
	now := time.Now()
	single := ocsp.Single{ID: ocsp.NewRequest(cert, issuer, crypto.SHA256, nil).IDs[0], ThisUpdate: now, NextUpdate: now.Add(time.Hour)}
	for _, edit := range edits {
		edit(&single)
	}
	r := ocsp.Response{ProducedAt: now, Singles: []ocsp.Single{single}}
	if !by.Cert.Equal(issuer) {
		r.Certificates = []*x509.Certificate{by.Cert}
	}
	der, err := ocsp.Create(r, by.Cert, by.Key)
	testenv.NoError(t, err)
	return der
}

// since sets thisUpdate of a response, and nextUpdate an hour later.
func since(at time.Time) func(*ocsp.Single) {
	return func(s *ocsp.Single) { s.ThisUpdate, s.NextUpdate = at, at.Add(time.Hour) }
}

// revoked makes a response state a revocation.
func revoked(at time.Time, reason int) func(*ocsp.Single) {
	return func(s *ocsp.Single) { s.Status, s.RevokedAt, s.Reason = ocsp.Revoked, at, reason }
}

// newList returns a revocation list of a time, in force for an hour.
func newList(t testing.TB, by *certtest.Pair, at time.Time, entries ...x509.RevocationListEntry) []byte {
	t.Helper()
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: big.NewInt(1), ThisUpdate: at, NextUpdate: at.Add(time.Hour), RevokedCertificateEntries: entries,
	}, by.Cert, by.Key)
	testenv.NoError(t, err)
	return der
}

func entry(cert *x509.Certificate, at time.Time, reason int) x509.RevocationListEntry {
	return x509.RevocationListEntry{SerialNumber: cert.SerialNumber, RevocationTime: at, ReasonCode: reason}
}

// network is an [ades.Revocation] and [ades.Issuers] of one root. It answers about certificates by their common names,
// and records the requests.
type network struct {
	t          testing.TB
	root       *certtest.Pair
	roots      *x509.CertPool
	revocation map[string]func(cert, issuer *x509.Certificate) ades.RevocationData
	issuers    map[string][]*x509.Certificate
	requests   []string // such as "status of A" and "issuer of A"
}

func newNetwork(t testing.TB) *network {
	t.Helper()
	root := newAuthority(t, "Root", nil)
	return &network{
		t: t, root: root, roots: certtest.Pool(root.Cert),
		revocation: make(map[string]func(cert, issuer *x509.Certificate) ades.RevocationData),
		issuers:    make(map[string][]*x509.Certificate),
	}
}

func (n *network) Revocation(_ context.Context, cert, issuer *x509.Certificate, _ time.Time) (ades.RevocationData, error) {
	name := cert.Subject.CommonName
	n.requests = append(n.requests, "status of "+name)
	if answer, ok := n.revocation[name]; ok {
		return answer(cert, issuer), nil
	}
	return ades.RevocationData{}, fmt.Errorf("%w for %s: %w", ades.ErrNoRevocation, name, ades.ErrUnavailable)
}

func (n *network) Issuers(_ context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	n.requests = append(n.requests, "issuer of "+cert.Subject.CommonName)
	if found, ok := n.issuers[cert.Subject.CommonName]; ok {
		return found, nil
	}
	return nil, ades.ErrUnavailable
}

// respondAbout has a responder answer about a certificate.
func (n *network) respondAbout(name string, by *certtest.Pair) {
	n.revocation[name] = func(cert, issuer *x509.Certificate) ades.RevocationData {
		return ades.RevocationData{OCSP: respond(n.t, by, cert, issuer)}
	}
}

// listAbout has a revocation list answer about a certificate.
func (n *network) listAbout(name string, by *certtest.Pair) {
	n.answer(name, ades.RevocationData{CRL: newList(n.t, by, time.Now())})
}

// answer sets the answer about a certificate.
func (n *network) answer(name string, data ades.RevocationData) {
	n.revocation[name] = func(_, _ *x509.Certificate) ades.RevocationData { return data }
}

func (n *network) known(certificates ...*x509.Certificate) *Known {
	return NewKnown(n.t.Context(), ades.Sources{Roots: n.roots}, certificates...)
}

// collect collects validation data from the network. Only the certificates are known before.
func (n *network) collect(certificates []*x509.Certificate, targets ...Target) (*Data, error) {
	return Collect(n.t.Context(), ades.Sources{Revocation: n, Issuers: n, Roots: n.roots}, n.known(certificates...), targets...)
}

// names returns the common names of the certificates in the data.
func names(d *Data) []string {
	var all []string
	for _, c := range d.Certificates {
		all = append(all, c.Subject.CommonName)
	}
	return all
}

// scene is a signer and a timestamp of a sandbox authority, with the validation data for both.
type scene struct {
	ca      *sandboxca.Authority
	signer  *x509.Certificate
	sum     []byte    // the digest that the timestamp covers
	stamp   Timestamp // not checked yet
	known   *Known
	targets []Target // the signer and the timestamp authority
	data    *Data    // in the order of the targets
}

func newScene(t testing.TB) scene { return newSceneAt(t, time.Now()) }

// newSceneAt returns a scene whose certificates and data are of a time.
func newSceneAt(t testing.TB, at time.Time) scene {
	t.Helper()
	sum := sha256.Sum256([]byte("data"))
	s := scene{sum: sum[:]}
	var err error
	s.ca, err = sandboxca.New(at)
	testenv.NoError(t, err)
	s.signer, err = s.ca.Issue("A signer", "0101302989", certtest.NewKey(t, elliptic.P256()).Public(), at)
	testenv.NoError(t, err)
	sources := s.ca.Sources(func() time.Time { return at })
	token, err := sources.Time.Timestamp(t.Context(), crypto.SHA256, s.sum)
	testenv.NoError(t, err)
	if s.stamp = Read(ades.SignatureTimestamp, token); s.stamp.Token == nil {
		t.Fatal(s.stamp.Report.Problems)
	}
	s.known = NewKnown(t.Context(), sources, append(s.ca.Chain(), s.stamp.Token.Certificates...)...)
	s.targets = append([]Target{{Certificate: s.signer, BestSignatureTime: s.stamp.Token.Time}}, Targets([]Timestamp{s.stamp})...)
	s.data, err = Collect(t.Context(), sources, s.known, s.targets...)
	testenv.NoError(t, err)
	return s
}

// lists returns the revocation lists of the authority and of its root as of now.
func (s scene) lists(t testing.TB) *Data {
	t.Helper()
	list, err := s.ca.CRL(time.Now())
	testenv.NoError(t, err)
	rootList, err := s.ca.RootCRL(time.Now())
	testenv.NoError(t, err)
	return &Data{CRLs: [][]byte{list, rootList}}
}

// report returns the report of a signature of the signer, not validated yet.
func (s scene) report() ades.SignatureReport {
	return ades.SignatureReport{
		Certificate: s.signer, ClaimedTime: time.Now(), Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA},
	}
}
