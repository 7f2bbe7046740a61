package portal_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/draw"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// service is the service of processes in a sandbox, on a store of its own.
type service struct {
	*portal.Owner
	*portal.Service
	t        *testing.T
	db       *bolt.DB
	news     *news
	accounts *account.Service
	people   *sandbox.Sandbox
	signing  *signing.Service
	account  string // with a payment method
}

// wiring is what a test wants to be otherwise.
type wiring struct {
	store    func(portal.Store) portal.Store
	signing  func(portal.Signing) portal.Signing
	provider func(idp.Provider) idp.Provider
	noPeople bool
}

func newService(t *testing.T, w wiring) *service {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "test.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := &service{t: t, db: db, news: &news{Transactor: db}}
	if s.people, err = sandbox.Open(t.Context(), db.Sandbox(), s.news, sandbox.Options{}); err != nil {
		t.Fatal(err)
	}
	s.accounts = account.New(db.Accounts(), s.news, account.Options{})
	var provider idp.Provider = s.people
	if w.provider != nil {
		provider = w.provider(provider)
	}
	store := db.Processes()
	if w.store != nil {
		store = w.store(store)
	}
	options := portal.Options{Events: s.news, Mail: s.news, TestUsers: testUsers{db.Sandbox()}}
	if w.noPeople {
		options.TestUsers = nil
	}
	owner := portal.NewOwner(store, s.news, db.Documents(), db.EvidenceLog(), purse{s.accounts}, options)
	s.signing = signing.New(db.Requests(), s.news, db.Documents(), db.Jobs(), db.EvidenceLog(), provider, busysignal.New(db.BusySignals(), s.news, busysignal.Options{}), signing.Options{
		Expiry: sandbox.Expiry, Interval: time.Second, IgnoreInterval: true, Sources: s.people.Sources, SingleProcess: true,
		Renderer: blank{}, Owner: owner, Ledger: s.accounts,
	})
	var signer portal.Signing = s.signing
	if w.signing != nil {
		signer = w.signing(signer)
	}
	s.Owner, s.Service = owner, portal.New(owner, signer)
	s.account = s.newAccount(true)
	return s
}

func (s *service) newAccount(paymentMethod bool) string {
	s.t.Helper()
	a, err := s.accounts.CreateAccount(s.t.Context(), "Example Ltd.")
	s.must(err)
	s.must(s.accounts.SetPaymentMethod(s.t.Context(), a.ID, paymentMethod))
	return a.ID
}

func (s *service) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// wants checks an error.
func (s *service) wants(want, got error, what ...any) {
	s.t.Helper()
	if !errors.Is(got, want) {
		s.t.Error(append(what, got, "want", want)...)
	}
}

// upload stores a document; nil: a small PDF of one page.
func (s *service) upload(content []byte) string {
	s.t.Helper()
	if content == nil {
		content = pdftest.Build(pdftest.Options{})
	}
	id, err := s.signing.Upload(s.t.Context(), bytes.NewReader(content), 1<<20)
	s.must(err)
	return id
}

// documents counts what was uploaded and not kept.
func (s *service) unkept() int {
	s.t.Helper()
	n, err := s.db.Documents().Sweep(s.t.Context(), time.Now().Add(time.Hour))
	s.must(err)
	return n
}

// read is the document of a process.
func (s *service) read(id string) []byte {
	s.t.Helper()
	_, blob, err := s.Document(s.t.Context(), s.account, id)
	s.must(err)
	defer blob.Close()
	content, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	s.must(err)
	return content
}

// person makes a test person of an account.
func (s *service) person(name, kennitala, phone string, change ...func(*sandbox.Profile)) sandbox.User {
	s.t.Helper()
	p := sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone}
	for _, c := range change {
		c(&p)
	}
	u, err := s.people.Create(s.t.Context(), s.account, p)
	s.must(err)
	return u
}

// purse are the terms of accounts as the portal wants them.
type purse struct{ *account.Service }

func (p purse) Terms(ctx context.Context, id string) (portal.Terms, error) {
	t, err := p.Service.Terms(ctx, id)
	return portal.Terms(t), err
}

// testUsers are those of the sandbox.
type testUsers struct{ sandbox.Store }

func (p testUsers) TestUser(ctx context.Context, account, id string) (idp.Person, bool, error) {
	u, err := p.User(ctx, account, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = portal.ErrNotFound
	}
	return idp.Person{Account: account, Method: idp.App, Kennitala: u.Kennitala}, u.Delay == 0 && u.Action == sandbox.Success, err
}

// blank is a renderer to whom every page is white.
type blank struct{}

func (blank) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	page := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	return page, nil
}

// update stores a process as it is given.
func (s *service) update(p portal.Process) {
	s.t.Helper()
	s.must(s.db.InTx(s.t.Context(), func(ctx context.Context) error { return s.db.Processes().UpdateProcess(ctx, p) }))
}
