package page

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
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

// scene is the page over real processes, with the test people of a sandbox, who answer when
// [scene.drive] or [scene.step] asks them.
type scene struct {
	t        testing.TB
	page     *Page
	config   Config
	db       *bolt.DB
	portal   *portal.Service
	signing  *signing.Service
	people   *sandbox.Sandbox
	provider *provider
	account  string
	faults   []error // that the page told
}

func newScene(t testing.TB, change ...func(*Config)) *scene {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "test.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := &scene{t: t, db: db}
	s.people, err = sandbox.Open(t.Context(), db.Sandbox(), db, sandbox.Options{})
	s.must(err)
	accounts := account.New(db.Accounts(), db, account.Options{})
	s.provider = &provider{Provider: s.people}
	owner := portal.NewOwner(db.Processes(), db, db.Documents(), db.EvidenceLog(), terms{accounts}, portal.Options{})
	s.signing = signing.New(db.Requests(), db, db.Documents(), db.Jobs(), db.EvidenceLog(), s.provider, busysignal.New(db.BusySignals(), db, busysignal.Options{}), signing.Options{
		Interval: time.Second, IgnoreInterval: true, Sources: s.people.Sources, SingleProcess: true, Renderer: blank{}, Owner: owner,
	})
	s.portal = portal.New(owner, s.signing)
	a, err := accounts.CreateAccount(t.Context(), "Example Ltd.")
	s.must(err)
	s.must(accounts.SetPaymentMethod(t.Context(), a.ID, true))
	s.account = a.ID
	s.config = Config{
		BaseURL: "https://sign.example", Portal: s.portal, Store: db.Pages(), Tx: db, Login: appOnly{}, Renderer: blank{},
		Methods: []idp.Method{idp.App, idp.SIM},
		Sender:  func(context.Context, string) (string, error) { return "Example <b>Ltd.</b>", nil },
		Failed:  func(_ context.Context, err error) { s.faults = append(s.faults, err) },
	}
	for _, c := range change {
		c(&s.config)
	}
	s.page, err = New(s.config)
	s.must(err)
	t.Cleanup(s.page.Close)
	return s
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// Anna and Jón are asked to sign, Vala to read.
const (
	annas = "0101302989"
	jons  = "0202302129"
	valas = "0303302239"
)

// process makes a process and has its people log in: Anna, Jón and Vala.
func (s *scene) process() portal.ProcessView {
	s.t.Helper()
	document, err := s.signing.Upload(s.t.Context(), bytes.NewReader(pdftest.Build(pdftest.Options{})), 1<<20)
	s.must(err)
	v, err := s.portal.Create(s.t.Context(), portal.Draft{
		Account: s.account, Client: "a client", FileName: "Samningur <i>.pdf", Document: document, Page: 1,
		Participants: []portal.Invitee{
			{Name: "Anna Jónsdóttir", Email: "anna@example.is", Role: portal.Signer, Kennitala: annas, Phone: "5550101"},
			{Name: "Jón", Email: "jon@example.is", Role: portal.Signer},
			{Name: "Vala", Email: "vala@example.is", Role: portal.Viewer},
		},
	})
	s.must(err)
	for i, who := range []portal.Person{
		{Name: "Anna Jónsdóttir", Kennitala: annas}, {Name: "Jón Einarsson", Kennitala: jons}, {Name: "Vala", Kennitala: valas},
	} {
		_, _, err := s.portal.Login(s.t.Context(), strings.TrimPrefix(v.Participants[i].Path, "/sign/"), who)
		s.must(err)
	}
	return v
}

// users has the sandbox know Anna and Jón.
func (s *scene) users(change ...func(*sandbox.Profile)) {
	s.t.Helper()
	for _, one := range [][3]string{{"Anna Jónsdóttir", annas, "5550101"}, {"Jón Einarsson", jons, "5550202"}} {
		profile := sandbox.Profile{FullName: &one[0], Kennitala: &one[1], Phone: &one[2]}
		for _, c := range change {
			c(&profile)
		}
		_, err := s.people.Create(s.t.Context(), s.account, profile)
		s.must(err)
	}
}

func refuses(p *sandbox.Profile) {
	action := sandbox.Cancel
	p.Action = &action
}

// of is a path of a participant.
func of(v portal.ProcessView, i int, more ...string) string {
	return "/sign/" + v.ID + "/" + v.Participants[i].ID + strings.Join(more, "")
}

// now is the process as it is.
func (s *scene) now(v portal.ProcessView) portal.Process {
	s.t.Helper()
	p, err := s.db.Processes().Process(s.t.Context(), v.ID)
	s.must(err)
	return p
}

// drive has the person whose turn it is answer.
func (s *scene) drive(v portal.ProcessView) signing.Progress {
	s.t.Helper()
	turn := s.now(v).Turn
	if turn == nil {
		s.t.Fatal("it is nobody's turn")
	}
	progress, err := s.signing.Drive(s.t.Context(), turn.Request)
	s.must(err)
	return progress
}

// step asks the phone once, as the server's job does.
func (s *scene) step(v portal.ProcessView) {
	s.t.Helper()
	payload, err := json.Marshal(map[string]any{"version": 1, "request": s.now(v).Turn.Request})
	s.must(err)
	_, err = s.signing.Handlers()[signing.DriveKind](s.t.Context(), storage.Job{Kind: signing.DriveKind, Payload: payload})
	s.must(err)
}

// sign has somebody begin to sign on the page, with the app.
func (s *scene) sign(v portal.ProcessView, i int, kennitala string) answer {
	return s.browser(kennitala).post(of(v, i, "/sign"), "method", "IdpApp", "revision", revision(s.now(v)))
}

// change changes what is stored of a process.
func (s *scene) change(v portal.ProcessView, f func(*portal.Process)) {
	s.t.Helper()
	s.must(s.db.InTx(s.t.Context(), func(ctx context.Context) error {
		p, err := s.db.Processes().Process(ctx, v.ID)
		if err != nil {
			return err
		}
		f(&p)
		return s.db.Processes().UpdateProcess(ctx, p)
	}))
}
