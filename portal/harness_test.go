package portal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// service is a portal service of a sandbox, on a store of its own.
type service struct {
	*portal.Owner
	*portal.Service
	t         *testing.T
	db        *bolt.DB
	outbox    *outbox
	store     *store
	signer    *signer
	accounts  *account.Service
	sandbox   *sandbox.Sandbox
	signing   *signing.Service
	account   string       // with a payment method
	anna, jon sandbox.User // who sign at once
}

func newService(t *testing.T, change ...func(*portal.Options)) *service {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "test.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := &service{t: t, db: db, outbox: &outbox{Transactor: db}, store: &store{Store: db.Processes()}}
	s.sandbox, err = sandbox.Open(t.Context(), db.Sandbox(), s.outbox, sandbox.Options{})
	s.must(err)
	s.accounts = account.New(db.Accounts(), s.outbox, account.Options{})
	options := portal.Options{Events: s.outbox, Mail: s.outbox, SandboxUsers: sandboxUsers{db.Sandbox()}}
	for _, c := range change {
		c(&options)
	}
	s.Owner = portal.NewOwner(s.store, s.outbox, db.Documents(), db.EvidenceLog(), accountTerms{s.accounts}, options)
	busy := busysignal.New(db.BusySignals(), s.outbox, busysignal.Options{})
	s.signing = signing.New(db.Requests(), s.outbox, db.Documents(), db.Jobs(), db.EvidenceLog(), s.sandbox, busy, signing.Options{
		Expiry: sandbox.Expiry, Interval: time.Second, IgnoreInterval: true, Sources: s.sandbox.Sources, SingleProcess: true,
		Renderer: pdftest.Blank{}, Owner: s.Owner, Ledger: s.accounts,
	})
	s.signer = &signer{Signing: s.signing}
	s.Service = portal.New(s.Owner, s.signer)
	s.account = s.newAccount(true)
	s.anna, s.jon = s.sandboxUser("Anna Jónsdóttir", "0101302989"), s.sandboxUser("Jón", "020230-2129")
	return s
}

// bubble runs a test of a service in a synctest bubble.
func bubble(t *testing.T, test func(t *testing.T, s *service)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newService(t)) })
}

// accountTerms is an account service as [portal.Accounts].
type accountTerms struct{ *account.Service }

func (a accountTerms) Terms(ctx context.Context, id string) (portal.Terms, error) {
	t, err := a.Service.Terms(ctx, id)
	return portal.Terms(t), err
}

// sandboxUsers is the store of a sandbox as [portal.SandboxUsers].
type sandboxUsers struct{ sandbox.Store }

func (u sandboxUsers) SandboxUser(ctx context.Context, account, id string) (idp.Person, bool, error) {
	user, err := u.User(ctx, account, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = portal.ErrNotFound
	}
	return idp.Person{Account: account, Method: idp.App, Kennitala: user.Kennitala}, user.Delay == 0 && user.Action == sandbox.Success, err
}

// store is a store that calls the functions of a test.
type store struct {
	portal.Store
	afterRead     func(*portal.Process)      // once, after a process was read
	updateProcess func(portal.Process) error // before a process is changed
	updateKey     func() error               // before a key is changed
	deleteKeys    func() error               // before keys are deleted
}

func (s *store) Process(ctx context.Context, id string) (portal.Process, error) {
	p, err := s.Store.Process(ctx, id)
	if after := s.afterRead; after != nil {
		s.afterRead = nil
		after(&p)
	}
	return p, err
}

func (s *store) UpdateProcess(ctx context.Context, p portal.Process) error {
	if s.updateProcess != nil {
		if err := s.updateProcess(p); err != nil {
			return err
		}
	}
	return s.Store.UpdateProcess(ctx, p)
}

func (s *store) UpdateKey(ctx context.Context, k portal.Key) error {
	if s.updateKey != nil {
		if err := s.updateKey(); err != nil {
			return err
		}
	}
	return s.Store.UpdateKey(ctx, k)
}

func (s *store) DeleteKeys(ctx context.Context, until time.Time, limit int) (int, error) {
	if s.deleteKeys != nil {
		if err := s.deleteKeys(); err != nil {
			return 0, err
		}
	}
	return s.Store.DeleteKeys(ctx, until, limit)
}

// signer is a signing service that calls the functions of a test.
type signer struct {
	portal.Signing
	beforeStart func(context.Context) // once, before a request is started
	afterPlan   func() error          // after places for stamps were planned
}

func (s *signer) Start(ctx context.Context, in signing.Start) (signing.Started, error) {
	if before := s.beforeStart; before != nil {
		s.beforeStart = nil
		before(ctx)
	}
	return s.Signing.Start(ctx, in)
}

func (s *signer) Plan(ctx context.Context, account, document string, page int, c stamp.Corner, signers int) ([]*signing.Stamp, error) {
	stamps, err := s.Signing.Plan(ctx, account, document, page, c, signers)
	if s.afterPlan != nil {
		err = errors.Join(err, s.afterPlan())
	}
	return stamps, err
}

// outbox has the events and mails of the transactions that were committed.
type outbox struct {
	storage.Transactor
	mu     sync.Mutex
	events []event
	mails  []mail
	err    error // of each event and mail
	lost   int   // the transaction of this number, from 1, is committed and its outcome lost
}

type event struct {
	Account, Type string
	At            time.Time
	Body          string // JSON
}

type mail struct{ Kind, Process, To, Path string }

// unsent has the events and mails of a transaction.
type unsent struct {
	events    []event
	mails     []mail
	withdrawn []string
}

type unsentKey struct{}

func (o *outbox) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if _, within := ctx.Value(unsentKey{}).(*unsent); within {
		return o.Transactor.InTx(ctx, fn)
	}
	var u *unsent
	err := o.Transactor.InTx(ctx, func(ctx context.Context) error {
		u = new(unsent)
		return fn(context.WithValue(ctx, unsentKey{}, u))
	})
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost--; o.lost == 0 {
		err = storage.ErrUnavailable
	}
	o.mails = slices.DeleteFunc(o.mails, func(m mail) bool { return slices.Contains(u.withdrawn, m.Process) })
	o.events, o.mails = append(o.events, u.events...), append(o.mails, u.mails...)
	return err
}

// add changes what the transaction of ctx will have sent.
func (o *outbox) add(ctx context.Context, change func(*unsent)) error {
	u, ok := ctx.Value(unsentKey{}).(*unsent)
	if !ok {
		return storage.ErrNoTx
	}
	change(u)
	return o.err
}

func (o *outbox) Emit(ctx context.Context, account, eventType string, at time.Time, body any) error {
	encoded, err := json.Marshal(body)
	return errors.Join(err, o.add(ctx, func(u *unsent) { u.events = append(u.events, event{account, eventType, at, string(encoded)}) }))
}

func (o *outbox) Invite(ctx context.Context, p portal.Process, to portal.Participant) error {
	return o.send(ctx, mail{"invitation", p.ID, to.Email, p.Path(to, time.Now())})
}

func (o *outbox) Completed(ctx context.Context, p portal.Process) error {
	return o.send(ctx, mail{"completion", p.ID, "", ""})
}

func (o *outbox) Declined(ctx context.Context, p portal.Process, by portal.Participant) error {
	return o.send(ctx, mail{"decline", p.ID, by.Email, ""})
}

func (o *outbox) send(ctx context.Context, m mail) error {
	return o.add(ctx, func(u *unsent) { u.mails = append(u.mails, m) })
}

// Withdraw removes the mails of earlier transactions, and of this one up to now.
func (o *outbox) Withdraw(ctx context.Context, process string) error {
	return o.add(ctx, func(u *unsent) {
		u.withdrawn = append(u.withdrawn, process)
		u.mails = slices.DeleteFunc(u.mails, func(m mail) bool { return m.Process == process })
	})
}

// types returns the types of the events that were sent.
func (o *outbox) types() (list []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.events {
		list = append(list, e.Type)
	}
	return list
}

// sent returns the mails of a kind that were sent and not withdrawn.
func (o *outbox) sent(kind string) (list []mail) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.mails {
		if m.Kind == kind {
			list = append(list, m)
		}
	}
	return list
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

// same compares two values.
func (s *service) same(want, got any, what ...any) {
	s.t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		s.t.Error(append(what, "-want +got:\n"+d)...)
	}
}

func (s *service) newAccount(paymentMethod bool) string {
	s.t.Helper()
	a, err := s.accounts.CreateAccount(s.t.Context(), "Example Ltd.")
	s.must(err)
	s.must(s.accounts.SetPaymentMethod(s.t.Context(), a.ID, paymentMethod))
	return a.ID
}

// sandboxUser creates a sandbox user.
func (s *service) sandboxUser(name, kennitala string, change ...func(*sandbox.Profile)) sandbox.User {
	s.t.Helper()
	phone := kennitala[:6]
	p := sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone}
	for _, c := range change {
		c(&p)
	}
	u, err := s.sandbox.Create(s.t.Context(), s.account, p)
	s.must(err)
	return u
}

// takesAMinute lets a sandbox user answer after a minute.
func takesAMinute(p *sandbox.Profile) {
	minute := time.Minute
	p.Delay = &minute
}

// refuses lets a sandbox user cancel.
func refuses(p *sandbox.Profile) {
	action := sandbox.Cancel
	p.Action = &action
}

// change changes a sandbox user.
func (s *service) change(u sandbox.User, change func(*sandbox.Profile)) {
	s.t.Helper()
	var p sandbox.Profile
	change(&p)
	s.must(s.sandbox.Update(s.t.Context(), s.account, u.ID, p))
}

// upload stores a document. nil is a small PDF of one page.
func (s *service) upload(content []byte) string {
	s.t.Helper()
	if content == nil {
		content = pdftest.Build(pdftest.Options{})
	}
	id, err := s.signing.Upload(s.t.Context(), bytes.NewReader(content), 1<<20)
	s.must(err)
	return id
}

// noUploads checks that no uploaded document is left that belongs to no process.
func (s *service) noUploads() {
	s.t.Helper()
	n, err := s.db.Documents().Sweep(s.t.Context(), time.Now().Add(time.Hour))
	if s.must(err); n != 0 {
		s.t.Errorf("%d uploaded documents are left", n)
	}
}

// draft returns the draft of a process with so many signers and, if there is more than one, a viewer.
func (s *service) draft(signers int, change ...func(*portal.Draft)) portal.Draft {
	s.t.Helper()
	d := portal.Draft{Account: s.account, Client: "a client", FileName: "Contract.pdf", Page: 1}
	for i := range signers {
		d.Participants = append(d.Participants, portal.Invitee{
			Name: fmt.Sprintf("Signer %d", i+1), Email: fmt.Sprintf("signer%d@example.is", i+1), Role: portal.Signer,
		})
	}
	if signers > 1 {
		d.Participants = append(d.Participants, portal.Invitee{Name: "A viewer", Email: "viewer@example.is", Role: portal.Viewer})
	}
	for _, c := range change {
		c(&d)
	}
	if d.Document == "" {
		d.Document = s.upload(nil)
	}
	return d
}

func ofWeb(d *portal.Draft) { d.Origin, d.Client = portal.Web, "" }

func (s *service) mustCreate(d portal.Draft) portal.ProcessView {
	s.t.Helper()
	v, err := s.Create(s.t.Context(), d)
	s.must(err)
	return v
}

// create creates a process from a draft of [service.draft].
func (s *service) create(signers int, change ...func(*portal.Draft)) portal.ProcessView {
	s.t.Helper()
	return s.mustCreate(s.draft(signers, change...))
}

// show returns a process of any origin as it is now.
func (s *service) show(id string) portal.ProcessView {
	s.t.Helper()
	p, err := s.db.Processes().Process(s.t.Context(), id)
	s.must(err)
	v := portal.ProcessView{Process: p, Status: p.Status(time.Now())}
	for _, one := range p.Participants {
		v.Participants = append(v.Participants, portal.ParticipantState{Participant: one, Status: one.Status(), Path: p.Path(one, time.Now())})
	}
	return v
}

// is checks the status of a process, and that no signature is being made.
func (s *service) is(id string, want portal.Status) {
	s.t.Helper()
	if v := s.show(id); v.Status != want || v.Turn != nil {
		s.t.Errorf("got %v, want %v; turn %+v", v.Status, want, v.Turn)
	}
}

// update stores a process.
func (s *service) update(p portal.Process) {
	s.t.Helper()
	s.must(s.db.InTx(s.t.Context(), func(ctx context.Context) error { return s.db.Processes().UpdateProcess(ctx, p) }))
}

// read returns the document of a process.
func (s *service) read(id string) []byte {
	s.t.Helper()
	name, blob, err := s.Document(s.t.Context(), s.account, id)
	s.must(err)
	defer blob.Close()
	s.same("Contract.pdf", name)
	content, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	s.must(err)
	return content
}

// signed checks that a document has so many signatures, which are valid.
func (s *service) signed(content []byte, want int) {
	s.t.Helper()
	doc := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	report, err := pades.Verify(s.t.Context(), doc, ades.VerifyOptions{Roots: s.sandbox.Roots()})
	s.must(err)
	if len(report.Signatures) != want || want > 0 && !report.Passed() {
		s.t.Fatalf("want %d signatures: %+v", want, report.Signatures)
	}
	for _, signature := range report.Signatures {
		if signature.Format != "PAdES-BASELINE-LT" {
			s.t.Error(signature.Format)
		}
	}
}

// stores checks the stored bytes and the used free signatures of the account.
func (s *service) stores(bytes, signatures int) {
	s.t.Helper()
	a, err := s.accounts.Account(s.t.Context(), s.account)
	s.must(err)
	if a.Stored != int64(bytes) || a.FreeUsed != int64(signatures) {
		s.t.Errorf("%d bytes and %d free signatures used, want %d and %d", a.Stored, a.FreeUsed, bytes, signatures)
	}
}

// token returns the token of a participant's link.
func token(v portal.ProcessView, i int) string {
	return strings.TrimPrefix(v.Participants[i].Path, "/sign/")
}

// login logs a sandbox user in as a participant.
func (s *service) login(v portal.ProcessView, i int, u sandbox.User) {
	s.t.Helper()
	process, participant, err := s.Login(s.t.Context(), token(v, i), portal.Person{Name: u.FullName, Kennitala: u.Kennitala})
	s.must(err)
	if process != v.ID || participant != v.Participants[i].ID {
		s.t.Errorf("%s of %s", participant, process)
	}
}

// sign lets a participant begin to sign the current revision.
func (s *service) sign(v portal.ProcessView, i int) (signing.Started, error) {
	now, _ := s.db.Processes().Process(s.t.Context(), v.ID) // the zero Process if it was deleted
	return s.Sign(s.t.Context(), v.ID, v.Participants[i].ID, portal.SignRequest{Method: idp.App, Revision: now.Revision()})
}

// mustSign is sign, and returns the ID of the request.
func (s *service) mustSign(v portal.ProcessView, i int) string {
	s.t.Helper()
	started, err := s.sign(v, i)
	s.must(err)
	return started.ID
}

// drive waits until a request has ended, and checks its failure.
func (s *service) drive(request string, want idp.ErrorCode) {
	s.t.Helper()
	p, err := s.signing.Drive(s.t.Context(), request)
	s.must(err)
	var code idp.ErrorCode
	if p.Failure != nil {
		code = p.Failure.Code
	}
	if !p.Done || code != want {
		s.t.Errorf("%+v, want %q", p, want)
	}
}

func (s *service) signAs(v portal.ProcessView, i int, u sandbox.User) error {
	return s.SignAs(s.t.Context(), s.account, v.ID, v.Participants[i].ID, u.ID)
}

func (s *service) declineAs(v portal.ProcessView, i int) error {
	return s.DeclineAs(s.t.Context(), s.account, v.ID, v.Participants[i].ID, "no")
}

// recorded checks the kinds of the entries in the evidence log about a process, and returns the facts of the last one.
func (s *service) recorded(id string, want ...string) (facts map[string]any) {
	s.t.Helper()
	entries, err := s.db.EvidenceLog().Entries(s.t.Context(), id)
	s.must(err)
	var got []string
	for _, e := range entries {
		got, facts = append(got, e.Kind), nil
		s.must(json.Unmarshal(e.Facts, &facts))
		if e.Account != s.account {
			s.t.Errorf("%s of account %s", e.Kind, e.Account)
		}
	}
	s.same(want, got)
	return facts
}
