package signing_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/xades"
)

const (
	account   = "an account"
	kennitala = "0101302989"
)

// phone is a provider whose answers a test chooses call by call. It signs with a
// real key. Calls must not overlap for one request; it fails the test if they do.
type phone struct {
	t     *testing.T
	ca    *sandboxca.Authority
	key   crypto.Signer
	cert  *x509.Certificate
	calls int
	busy  chan struct{}

	traits idp.Traits
	known  *x509.Certificate // of the last Begin

	begin func() (idp.Event, error)
	sign  func(idp.State) (idp.State, idp.Event, error)
	poll  func(idp.State) (idp.State, idp.Event, error)

	digests []ades.Digest // of the last Sign
}

func newPhone(t *testing.T) *phone {
	t.Helper()
	ca, err := sandboxca.NewP256(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p := &phone{t: t, ca: ca, busy: make(chan struct{}, 1)}
	p.key, p.cert = p.issue(kennitala)
	p.begin = func() (idp.Event, error) { return p.needDigest(), nil }
	p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{}, nil }
	p.poll = func(s idp.State) (idp.State, idp.Event, error) { return s, p.signed(), nil }
	return p
}

func (p *phone) issue(kennitala string) (crypto.Signer, *x509.Certificate) {
	p.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	cert, err := p.ca.Issue("A signer", kennitala, key.Public(), time.Now())
	if err != nil {
		p.t.Fatal(err)
	}
	return key, cert
}

// issueFor issues a certificate for something else than signing documents; ExtKeyUsageAny: one for logging in.
func (p *phone) issueFor(usage x509.ExtKeyUsage) (crypto.Signer, *x509.Certificate) {
	p.t.Helper()
	key, cert := p.issue(kennitala)
	template := *cert
	template.KeyUsage = x509.KeyUsageDigitalSignature
	if usage != x509.ExtKeyUsageAny {
		template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	}
	cert, err := p.ca.IssueProfile(&template, key.Public())
	if err != nil {
		p.t.Fatal(err)
	}
	return key, cert
}

func (p *phone) needDigest() idp.Event {
	return idp.NeedDigest{Certificate: p.cert, Chain: p.ca.Chain()}
}

func (p *phone) signed() idp.Event {
	value, err := p.key.Sign(rand.Reader, p.digests[0].Sum, p.digests[0].Algorithm.Hash)
	if err != nil {
		p.t.Error(err)
	}
	return idp.Signed{Values: [][]byte{value}}
}

func (p *phone) alone() func() {
	select {
	case p.busy <- struct{}{}:
	default:
		p.t.Error("two calls to the provider at once")
	}
	p.calls++
	return func() { <-p.busy }
}

func (p *phone) Traits(idp.Method) idp.Traits { return p.traits }

func (p *phone) Begin(_ context.Context, key string, _ idp.Person, _ idp.Text, known *x509.Certificate) (idp.State, idp.Event, error) {
	defer p.alone()()
	p.known = known
	event, err := p.begin()
	return idp.State{Provider: "phone", Version: 1, Key: key, Expires: time.Now().Add(time.Hour)}, event, err
}

func (p *phone) Sign(_ context.Context, s idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	defer p.alone()()
	p.digests = digests
	return p.sign(s)
}

func (p *phone) Poll(_ context.Context, s idp.State) (idp.State, idp.Event, error) {
	defer p.alone()()
	return p.poll(s)
}

// backend is what a service is on.
type backend interface {
	storage.Transactor
	Requests() signing.Store
	BusySignals() busysignal.Store
	Documents() storage.Documents
	Jobs() storage.Jobs
	EvidenceLog() storage.EvidenceLog
}

// service is a signing service on a store of its own.
type service struct {
	*signing.Service
	t       *testing.T
	db      backend
	signals *busysignal.Service
	phone   *phone
	format  signing.Format // of what start signs
}

// newService returns a service that has a new store alone.
func newService(t *testing.T, p *phone, o signing.Options) service {
	t.Helper()
	o.SingleProcess = true
	return onStore(t, newStore(t), p, o)
}

func newStore(t *testing.T) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "test.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func onStore(t *testing.T, db backend, p *phone, o signing.Options) service {
	return wired(t, db, db.Requests(), db, p, o)
}

// wired is a service on a store whose requests or transactions are a test's.
func wired(t *testing.T, db backend, requests signing.Store, tx storage.Transactor, p *phone, o signing.Options) service {
	if o.Sources == nil {
		o.Sources = func() ades.Sources { return p.ca.Sources(nil) }
	}
	signals := busysignal.New(db.BusySignals(), tx, busysignal.Options{})
	s := signing.New(requests, tx, db.Documents(), db.Jobs(), db.EvidenceLog(), p, signals, o)
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return service{s, t, db, signals, p, signing.PDF}
}

// start starts a request for a small document.
func (s service) start(change ...func(*signing.Start)) (signing.Started, error) {
	s.t.Helper()
	if s.format == signing.XML {
		return s.startWith([]byte(invoice), change...)
	}
	return s.startWith(pdftest.Build(pdftest.Options{}), change...)
}

func (s service) startWith(content []byte, change ...func(*signing.Start)) (signing.Started, error) {
	s.t.Helper()
	document, err := s.Upload(s.t.Context(), bytes.NewReader(content), 1<<20)
	if err != nil {
		s.t.Fatal(err)
	}
	in := signing.Start{
		Account: account, Document: document, Name: "contract.pdf",
		Person: idp.Person{Method: idp.App, Kennitala: kennitala}, Format: s.format,
	}
	for _, c := range change {
		c(&in)
	}
	return s.Start(s.t.Context(), in)
}

func (s service) mustStart(change ...func(*signing.Start)) string {
	s.t.Helper()
	started, err := s.start(change...)
	if err != nil {
		s.t.Fatal(err)
	}
	return started.ID
}

// result is what a poll answered.
type result struct {
	Code     idp.ErrorCode
	Verify   string // verification code
	Document []byte
	Finished bool
}

func (s service) poll(id string) result {
	s.t.Helper()
	var r result
	err := s.Poll(s.t.Context(), account, id, func(a signing.Answer) error {
		r.Code, r.Verify = a.Failure.Code, a.Code
		if a.Document == nil {
			return nil
		}
		var err error
		r.Document, err = io.ReadAll(io.NewSectionReader(a.Document, 0, a.Document.Size()))
		return err
	})
	switch {
	case errors.Is(err, signing.ErrFinished):
		r.Finished = true
	case err != nil:
		s.t.Error(err)
	}
	return r
}

// checkSigned checks that a document carries exactly one signature, by the phone's
// certificate.
func (s service) checkSigned(b []byte) {
	s.t.Helper()
	report := verified(s.t, b, s.phone.ca.Roots())
	if len(report.Signatures) != 1 || !report.Passed() || !report.Signatures[0].Certificate.Equal(s.phone.cert) {
		s.t.Errorf("%+v", report.Signatures)
	}
}

// verified is the report on a signed document of either format.
func verified(t *testing.T, b []byte, roots *x509.CertPool) *ades.Report {
	t.Helper()
	var report *ades.Report
	var err error
	if bytes.HasPrefix(b, []byte("%PDF-")) {
		report, err = pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, ades.VerifyOptions{Roots: roots})
	} else {
		report, err = xades.Verify(t.Context(), xades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, ades.VerifyOptions{Roots: roots})
	}
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// documents counts what is left in the store, kept or not.
func (s service) documents() int {
	s.t.Helper()
	n, err := s.db.Documents().Sweep(s.t.Context(), time.Now().Add(time.Hour))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}
