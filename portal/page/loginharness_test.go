package page

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
)

// provider of logins: people have phones, and answer when the test has them do so. Answers are given
// once, as by a real one.
type phones struct {
	lock    sync.Mutex
	rung    []string         // hints, in the order in which they were asked
	answers map[string]reply // by hint
	given   map[string]bool  // by the state of the login
	away    error            // of every call
	slow    time.Duration    // that every call takes
	polled  int
}

// reply is what a person says to the phone.
type reply struct {
	who portal.Person
	err error
}

func newPhones() *phones {
	return &phones{answers: make(map[string]reply), given: make(map[string]bool)}
}

func (p *phones) Methods() []LoginMethod { return []LoginMethod{App, SIM, Browser} }

const providersPage = "https://idp.example/authorize?state="

func (p *phones) Begin(ctx context.Context, way LoginMethod, hint string) (LoginState, error) {
	p.call()
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.away != nil {
		return LoginState{}, p.away
	}
	if r := p.answers[hint]; errors.Is(r.err, ErrUnknown) {
		return LoginState{}, r.err
	}
	p.rung = append(p.rung, hint)
	s := LoginState{Method: way, Code: "4711", Interval: time.Second, Expires: time.Now().Add(2 * time.Minute), Provider: []byte(newToken() + " " + hint)}
	if way == Browser {
		s.Code, s.Redirect = "", providersPage+s.state()
	}
	return s, nil
}

// state is that of a login on the provider's pages (RFC 6749 4.1.1).
func (s LoginState) state() string {
	state, _, _ := strings.Cut(string(s.Provider), " ")
	return state
}

func (p *phones) Poll(ctx context.Context, s LoginState) (LoginState, *portal.Person, error) {
	p.call()
	p.lock.Lock()
	defer p.lock.Unlock()
	p.polled++
	_, hint, _ := strings.Cut(string(s.Provider), " ")
	r, answered := p.answers[hint]
	switch {
	case p.away != nil:
		return s, nil, p.away
	case time.Now().After(s.Expires):
		return s, nil, ErrTimeout
	case !answered:
		return s, nil, nil
	case p.given[string(s.Provider)]:
		return s, nil, ErrRefusedLogin
	}
	p.given[string(s.Provider)] = true
	if r.err != nil {
		return s, nil, r.err
	}
	return s, &r.who, nil
}

func (p *phones) Finish(ctx context.Context, s LoginState, query url.Values) (portal.Person, error) {
	p.call()
	p.lock.Lock()
	defer p.lock.Unlock()
	switch r := p.answers[query.Get("code")]; {
	case p.away != nil:
		return portal.Person{}, p.away
	case query.Get("state") != s.state(), p.given[s.state()]:
		return portal.Person{}, ErrRefusedLogin
	default:
		p.given[s.state()] = true
		return r.who, r.err
	}
}

func (p *phones) call() {
	p.lock.Lock()
	slow := p.slow
	p.lock.Unlock()
	time.Sleep(slow) // time: in bubbles alone
}

// answer has the person with a hint answer from now on.
func (p *phones) answer(hint string, r reply) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.answers[hint] = r
}

// takes has calls take their time from now on.
func (p *phones) takes(slow time.Duration) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.slow = slow
}

func (p *phones) fails(err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.away = err
}

// rings is how often phones rang.
func (p *phones) rings() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.rung)
}

var (
	anna = portal.Person{Name: "Anna Jónsdóttir", Kennitala: annas}
	jon  = portal.Person{Name: "Jón Einarsson", Kennitala: jons}
)

// door is a scene with links that nobody has opened.
type door struct {
	*scene
	phones *phones
	made   portal.ProcessView
}

// newDoor has a process of Anna, whose place it is, of somebody who may be anybody, and of a viewer.
func newDoor(t *testing.T, change ...func(*Config)) *door {
	t.Helper()
	d := &door{phones: newPhones()}
	d.scene = newScene(t, append([]func(*Config){func(c *Config) { c.Login = d.phones }}, change...)...)
	d.made = d.invite()
	return d
}

func (d *door) invite() portal.ProcessView {
	d.t.Helper()
	document, err := d.signing.Upload(d.t.Context(), bytes.NewReader(pdftest.Build(pdftest.Options{})), 1<<20)
	d.must(err)
	v, err := d.portal.Create(d.t.Context(), portal.Draft{
		Account: d.account, Client: "a client", FileName: "Samningur <i>.pdf", Document: document, Page: 1,
		Participants: []portal.Invitee{
			{Name: "Anna <b>Jónsdóttir</b>", Email: "anna@example.is", Role: portal.Signer, Kennitala: annas, Phone: "5550101"},
			{Name: "Jón", Email: "jon@example.is", Role: portal.Signer},
			{Name: "Vala", Email: "vala@example.is", Role: portal.Viewer},
		},
	})
	d.must(err)
	return v
}

// link is the path of an invitation.
func (d *door) link(i int) string { return d.made.Participants[i].Path }

// alter changes the process as only time or somebody else can.
func (d *door) alter(change func(*portal.Process)) {
	d.t.Helper()
	d.must(d.db.InTx(d.t.Context(), func(ctx context.Context) error {
		p, err := d.db.Processes().Process(ctx, d.made.ID)
		if err != nil {
			return err
		}
		change(&p)
		return d.db.Processes().UpdateProcess(ctx, p)
	}))
}
