package page

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"html"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/promptlimit"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// Anna and Jón are asked to sign, Vala to read.
const (
	annas = "0101302989"
	jons  = "0202302129"
	valas = "0303302239"
)

var (
	anna = portal.Person{Name: "Anna Jónsdóttir", Kennitala: annas}
	jon  = portal.Person{Name: "Jón Einarsson", Kennitala: jons}
	vala = portal.Person{Name: "Vala", Kennitala: valas}
)

// fixture is the page over a real portal and store, with the sandbox users, who answer when the test
// calls complete or poll, and with a fake provider of logins.
type fixture struct {
	t        testing.TB
	page     *Page
	config   Config
	db       *bolt.DB
	portal   *portal.Service
	signing  *signing.Service
	sandbox  *sandbox.Sandbox
	login    *fakeLogin
	provider *signingProvider
	account  string
	invited  portal.ProcessView // the process of newInvitation
	faults   []error            // reported to Config.Failed and not taken by wantFaults
}

// prompts are the limits of one person, for logins and for signatures.
var prompts = promptlimit.Limits{Hourly: 20, Pending: 5}

// newFixture returns a fixture without processes. The test fails if the page reports a fault that no wantFaults
// expects.
func newFixture(t testing.TB, change ...func(*Config)) *fixture {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "test.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	f := &fixture{t: t, db: db, login: newFakeLogin()}
	f.sandbox, err = sandbox.Open(t.Context(), db.Sandbox(), db, sandbox.Options{})
	f.must(err)
	accounts := account.New(db.Accounts(), db, account.Options{})
	f.provider = &signingProvider{Provider: f.sandbox}
	owner := portal.NewOwner(db.Processes(), db, db.Documents(), db.EvidenceLog(), terms{accounts}, portal.Options{})
	f.signing = signing.New(db.Requests(), db, db.Documents(), db.Jobs(), db.EvidenceLog(), f.provider,
		busysignal.New(db.BusySignals(), db, busysignal.Options{}), signing.Options{
			Interval: time.Second, IgnoreInterval: true, Sources: f.sandbox.Sources, SingleProcess: true, Renderer: blank{}, Owner: owner,
			Prompts: promptlimit.New(db.Pages(), []byte("secret"), promptlimit.Sign, prompts),
		})
	f.portal = portal.New(owner, f.signing)
	a, err := accounts.CreateAccount(t.Context(), "Example Ltd.")
	f.must(err)
	f.must(accounts.SetPaymentMethod(t.Context(), a.ID, true))
	f.account = a.ID
	f.config = Config{
		BaseURL: "https://sign.example", Portal: f.portal, Store: db.Pages(), Tx: db, Login: f.login, Renderer: blank{},
		Prompts: promptlimit.New(db.Pages(), []byte("secret"), promptlimit.Login, prompts),
		Methods: []idp.Method{idp.App, idp.SIM},
		Sender:  func(context.Context, string) (string, error) { return "Example <b>Ltd.</b>", nil },
		Failed:  func(_ context.Context, err error) { f.faults = append(f.faults, err) },
	}
	for _, c := range change {
		c(&f.config)
	}
	f.page, err = New(f.config)
	f.must(err)
	t.Cleanup(func() {
		f.page.Close()
		f.wantFaults(0)
	})
	return f
}

// newInvitation returns a fixture with a process whose links are not open: of Anna by her kennitala, of Jón, whose
// link is for anyone, and of Vala, who reads.
func newInvitation(t testing.TB, change ...func(*Config)) *fixture {
	t.Helper()
	f := newFixture(t, change...)
	f.invited = f.invite()
	return f
}

// inTime runs a test in a bubble in which hours pass at once.
func inTime(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newInvitation(t)) })
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// wantFaults checks how many faults the page has reported since the last call, and returns them.
func (f *fixture) wantFaults(n int) []error {
	f.t.Helper()
	faults := f.faults
	if f.faults = nil; len(faults) != n {
		f.t.Errorf("%d faults, want %d: %v", len(faults), n, faults)
	}
	return faults
}

// invite creates a process.
func (f *fixture) invite(change ...func(*portal.Draft)) portal.ProcessView {
	f.t.Helper()
	return f.inviteTo(pdftest.Build(pdftest.Options{}), change...)
}

// inviteTo creates a process of a document.
func (f *fixture) inviteTo(document []byte, change ...func(*portal.Draft)) portal.ProcessView {
	f.t.Helper()
	uploaded, err := f.signing.Upload(f.t.Context(), bytes.NewReader(document), 32<<20)
	f.must(err)
	draft := portal.Draft{
		Account: f.account, Client: "a client", FileName: "Samningur <i>.pdf", Document: uploaded, Page: 1,
		Participants: []portal.Invitee{
			{Name: "Anna <b>Jónsdóttir</b>", Email: "anna@example.is", Role: portal.Signer, Kennitala: annas, Phone: "5550101"},
			{Name: "Jón", Email: "jon@example.is", Role: portal.Signer},
			{Name: "Vala", Email: "vala@example.is", Role: portal.Viewer},
		},
	}
	for _, c := range change {
		c(&draft)
	}
	v, err := f.portal.Create(f.t.Context(), draft)
	f.must(err)
	return v
}

// opened creates a process whose links Anna, Jón and Vala have opened.
func (f *fixture) opened() portal.ProcessView {
	f.t.Helper()
	v := f.invite()
	for i, person := range []portal.Person{anna, jon, vala} {
		f.open(v, i, person)
	}
	return v
}

// open opens the link of a participant.
func (f *fixture) open(v portal.ProcessView, i int, person portal.Person) {
	f.t.Helper()
	_, _, err := f.portal.Login(f.t.Context(), strings.TrimPrefix(v.Participants[i].Path, "/sign/"), person)
	f.must(err)
}

// withDocument returns a process of a document, which Anna alone has to sign and has opened.
func withDocument(t testing.TB, document []byte, r Renderer) (*fixture, portal.ProcessView) {
	t.Helper()
	f := newFixture(t, func(c *Config) { c.Renderer = r })
	v := f.inviteTo(document, func(d *portal.Draft) {
		d.FileName, d.Participants = "Þjónustusamningur 100% \"nýr\".pdf", d.Participants[:1]
		d.Participants[0].Kennitala = ""
	})
	f.open(v, 0, anna)
	return f, v
}

// users creates Anna and Jón in the sandbox, where they sign.
func (f *fixture) users(change ...func(*sandbox.Profile)) {
	f.t.Helper()
	for _, one := range [][3]string{{anna.Name, annas, "5550101"}, {jon.Name, jons, "5550202"}} {
		profile := sandbox.Profile{FullName: &one[0], Kennitala: &one[1], Phone: &one[2]}
		for _, c := range change {
			c(&profile)
		}
		_, err := f.sandbox.Create(f.t.Context(), f.account, profile)
		f.must(err)
	}
}

// refuses has sandbox users cancel.
func refuses(p *sandbox.Profile) {
	action := sandbox.Cancel
	p.Action = &action
}

// of returns a path of a participant.
func of(v portal.ProcessView, i int, more ...string) string {
	return "/sign/" + v.ID + "/" + v.Participants[i].ID + strings.Join(more, "")
}

// link returns the path of an invitation.
func (f *fixture) link(i int) string { return f.invited.Participants[i].Path }

// stored returns the stored process.
func (f *fixture) stored(v portal.ProcessView) portal.Process {
	f.t.Helper()
	p, err := f.db.Processes().Process(f.t.Context(), v.ID)
	f.must(err)
	return p
}

// update changes the stored process.
func (f *fixture) update(v portal.ProcessView, change func(*portal.Process)) {
	f.t.Helper()
	f.must(f.db.InTx(f.t.Context(), func(ctx context.Context) error {
		p, err := f.db.Processes().Process(ctx, v.ID)
		if err != nil {
			return err
		}
		change(&p)
		return f.db.Processes().UpdateProcess(ctx, p)
	}))
}

// expire moves all invitations of a process into the past.
func (f *fixture) expire(v portal.ProcessView) {
	f.update(v, func(p *portal.Process) {
		for i := range p.Participants {
			p.Participants[i].Link.InvitedAt = p.Participants[i].Link.InvitedAt.Add(-2 * portal.InvitationTime)
		}
	})
}

// sign begins a signature on the page with the app.
func (f *fixture) sign(v portal.ProcessView, i int, kennitala string) answer {
	p := f.stored(v)
	return f.browserOf(kennitala).post(of(v, i, "/sign"), "method", "IdpApp", "revision", strconv.Itoa(p.Revision()))
}

// complete has the person whose turn it is answer, and completes the signing request.
func (f *fixture) complete(v portal.ProcessView) signing.Progress {
	f.t.Helper()
	turn := f.stored(v).Turn
	if turn == nil {
		f.t.Fatal("no participant is signing")
	}
	progress, err := f.signing.Drive(f.t.Context(), turn.Request)
	f.must(err)
	return progress
}

// poll polls the phone once, as the server's job does.
func (f *fixture) poll(v portal.ProcessView) {
	f.t.Helper()
	payload, err := json.Marshal(map[string]any{"version": 1, "request": f.stored(v).Turn.Request})
	f.must(err)
	_, err = f.signing.Handlers()[signing.DriveKind](f.t.Context(), storage.Job{Kind: signing.DriveKind, Payload: payload})
	f.must(err)
}

// signs begins and completes a signature.
func (f *fixture) signs(v portal.ProcessView, i int, kennitala string) {
	f.t.Helper()
	if a := f.sign(v, i, kennitala); !strings.Contains(a.location, "attempt=") {
		f.t.Fatalf("%d %s", a.status, a.text())
	}
	if progress := f.complete(v); progress.Failure != nil {
		f.t.Fatal(progress.Failure)
	}
}

// begins begins a signature through the portal, as in another browser.
func (f *fixture) begins(v portal.ProcessView, i int) {
	f.t.Helper()
	_, err := f.portal.Sign(f.t.Context(), v.ID, v.Participants[i].ID, portal.SignRequest{Method: idp.App})
	f.must(err)
}

// declines declines through the portal.
func (f *fixture) declines(v portal.ProcessView, i int) {
	f.t.Helper()
	f.must(f.portal.Decline(f.t.Context(), v.ID, v.Participants[i].ID, "ekki rétt"))
}

// evidence counts the entries of a kind in the evidence log of a process.
func (f *fixture) evidence(v portal.ProcessView, kind string) (n int) {
	f.t.Helper()
	entries, err := f.db.EvidenceLog().Entries(f.t.Context(), v.ID)
	f.must(err)
	for _, one := range entries {
		if one.Kind == kind {
			n++
		}
	}
	return n
}

// browser is a browser with its cookies. It is safe for concurrent use.
type browser struct {
	f       *fixture
	mu      sync.Mutex
	cookies map[string]string
	header  map[string]string // of every request
}

// newBrowser returns a browser without cookies. Its requests come from the page itself.
func (f *fixture) newBrowser() *browser {
	return &browser{f: f, cookies: make(map[string]string), header: map[string]string{"Sec-Fetch-Site": "same-origin"}}
}

// withCookie returns a browser with a session cookie.
func (f *fixture) withCookie(cookie string) *browser {
	b := f.newBrowser()
	b.cookies[sessionCookie] = cookie
	return b
}

// browserOf returns a browser with a session of a person; an empty kennitala: without a session.
func (f *fixture) browserOf(kennitala string) *browser {
	f.t.Helper()
	if kennitala == "" {
		return f.newBrowser()
	}
	b := f.withCookie(newToken())
	person := personSession{Person: &portal.Person{Name: "A person", Kennitala: kennitala}, EndsBy: time.Now().Add(maxLifetime)}
	s := session{key: sessionKey(b.cookie()), record: &person}
	f.must(f.db.InTx(f.t.Context(), func(ctx context.Context) error { return f.page.saveSession(ctx, s) }))
	return b
}

// loggedIn returns a browser with which a person has opened the link of a participant.
func (f *fixture) loggedIn(i int, person portal.Person) *browser {
	f.t.Helper()
	b := f.newBrowser()
	b.logIn(f.link(i), person).leadsTo(f.t, of(f.invited, i))
	return b
}

// do sends a request, with more headers if any.
func (b *browser) do(method, path string, form url.Values, header ...string) answer {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range b.header {
		r.Header.Set(name, value)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	b.mu.Lock()
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	b.mu.Unlock()
	w := httptest.NewRecorder()
	b.f.page.ServeHTTP(w, r)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range w.Result().Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return answerOfRecorder(w, path)
}

func (b *browser) get(path string, header ...string) answer {
	return b.do(http.MethodGet, path, nil, header...)
}

func (b *browser) post(path string, pairs ...string) answer {
	form := make(url.Values)
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.do(http.MethodPost, path, form)
}

// open gets a page and follows redirects.
func (b *browser) open(path string) answer { return b.follow(b.get(path)) }

// follow follows the redirects of an answer.
func (b *browser) follow(a answer) answer {
	b.f.t.Helper()
	for range 5 {
		if a.status != http.StatusSeeOther {
			return a
		}
		a = b.get(a.location)
	}
	b.f.t.Error("too many redirects, the last to", a.location)
	return a
}

// status returns what the script of a page gets.
func (b *browser) status(path string) (s pageStatus) {
	b.f.t.Helper()
	a := b.get(path, "Accept", "application/json")
	if err := json.Unmarshal([]byte(a.body), &s); err != nil {
		b.f.t.Errorf("%d %s: %v", a.status, a.body, err)
	}
	return s
}

// wantStatus checks what the script of a page gets.
func (b *browser) wantStatus(path string, want pageStatus) {
	b.f.t.Helper()
	if got := b.status(path); got != want {
		b.f.t.Errorf("%s: status %v, want %v", path, got, want)
	}
}

// cookie returns the session cookie.
func (b *browser) cookie() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cookies[sessionCookie]
}

// session returns the session of the browser.
func (b *browser) session() session {
	b.f.t.Helper()
	s, err := b.f.page.loadSession(b.f.t.Context(), sessionKey(b.cookie()))
	b.f.must(err)
	return s
}

// begin sends the login form of a page as it is now.
func (b *browser) begin(page string, pairs ...string) answer {
	b.f.t.Helper()
	return b.post(page+"/login", append(pairs, "visit", formID(b.open(page).body))...)
}

// formID returns the ID of the login form in a page.
func formID(body string) string {
	_, rest, _ := strings.Cut(body, `name="visit" value="`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// beginApp sends the login form of a page with a kennitala.
func (b *browser) beginApp(page, kennitala string) answer {
	b.f.t.Helper()
	return b.begin(page, "way", "app", "kennitala", kennitala)
}

// logIn logs a person in by the app, who answers at once, and returns the end of the login.
func (b *browser) logIn(page string, person portal.Person) answer {
	b.f.t.Helper()
	b.f.login.answer(person.Kennitala, reply{person: person})
	b.beginApp(page, person.Kennitala)
	b.letPoll()
	return b.get(loginPath)
}

// letPoll makes the next call of the provider due.
func (b *browser) letPoll() {
	b.f.t.Helper()
	_, err := b.f.page.updateSession(b.f.t.Context(), sessionKey(b.cookie()), func(s *session) error {
		if s.asLogin() != nil && s.asLogin().Attempt.Lease == "" {
			s.asLogin().Attempt.Next = time.Time{}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errNoSession) {
		b.f.t.Fatal(err)
	}
}

// showsDocument checks whether the browser shows the page of a participant, or else the login to it.
func (b *browser) showsDocument(path string, want bool) {
	b.f.t.Helper()
	if a := b.get(path).says(b.f.t, http.StatusOK); a.has("login.see") == want {
		b.f.t.Errorf("%s: shows the document: %v, want %v", path, !want, want)
	}
}

// answer is the answer to a request.
type answer struct {
	status   int
	location string
	body     string
	header   http.Header
	path     string // of the request
}

func answerOfRecorder(w *httptest.ResponseRecorder, path string) answer {
	return answer{w.Code, w.Header().Get("Location"), w.Body.String(), w.Header(), path}
}

// leadsTo checks that an answer redirects to a path.
func (a answer) leadsTo(t testing.TB, path string) answer {
	t.Helper()
	if a.status != http.StatusSeeOther || a.location != path {
		t.Errorf("%s: status %d, leads to %q, want %q: %s", a.path, a.status, a.location, path, a.text())
	}
	return a
}

// says checks the status of a page, and the texts that it has or, after "!", does not have: keys of the catalogue.
func (a answer) says(t testing.TB, status int, keys ...string) answer {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: status %d, want %d: %s %s", a.path, a.status, status, a.location, a.text())
	}
	for _, key := range keys {
		key, not := strings.CutPrefix(key, "!")
		if words()[key] == nil {
			t.Errorf("the catalogue has no %q", key)
		}
		if a.has(key) == not {
			t.Errorf("%s: says %q: %v\n%s", a.path, key, !not, a.text())
		}
	}
	return a
}

// contains checks that the body contains texts.
func (a answer) contains(t testing.TB, texts ...string) answer {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%s: status %d, no %q in %s", a.path, a.status, text, a.body)
		}
	}
	return a
}

// lacks checks that the body contains none of some texts.
func (a answer) lacks(t testing.TB, texts ...string) answer {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			t.Errorf("%s: status %d, %q in %s", a.path, a.status, text, a.body)
		}
	}
	return a
}

// isSafe checks that a page has one heading, no kennitala of other persons, no HTML from names, and no mail
// address or phone number of others.
func (a answer) isSafe(t testing.TB, kennitala string) {
	t.Helper()
	if n := strings.Count(a.body, "<h1"); n != 1 {
		t.Errorf("%d headings", n)
	}
	for _, other := range []string{annas, jons, valas} {
		if other != kennitala {
			a.lacks(t, other, localKennitala(other))
		}
	}
	a.lacks(t, "Samningur <i>", "Example <b>", "Anna <b>", "@example.is", "5550202", "<nil>", "%!")
}

var hole = regexp.MustCompile(`\{\w+\}`)

// has reports whether a page has the text of a key, with anything in place of {name}. A single word has to be the
// whole text of an element.
func (a answer) has(key string) bool {
	want := words().text("is", key)
	if !strings.Contains(want, " ") {
		return regexp.MustCompile(">\\s*" + regexp.QuoteMeta(want) + "\\s*<").MatchString(a.body)
	}
	rest := a.text()
	for _, part := range hole.Split(want, -1) {
		_, after, found := strings.Cut(rest, strings.TrimSpace(part))
		if !found {
			return false
		}
		rest = after
	}
	return true
}

var tag = regexp.MustCompile(`<[^>]*>`)

// text returns the visible text of a page.
func (a answer) text() string {
	_, body, _ := strings.Cut(a.body, "<main")
	body, _, _ = strings.Cut(body, "</main>")
	return strings.Join(strings.FieldsFunc(html.UnescapeString(tag.ReplaceAllString(body, " ")), func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) }), " ")
}

// fakeLogin is a provider of logins. Persons answer when the test has them answer. Like a real provider, it gives
// each answer once.
type fakeLogin struct {
	mu      sync.Mutex
	asked   []string         // hints, in the order of the calls
	answers map[string]reply // by hint
	given   map[string]bool  // by the provider's state of the login
	err     error            // of every call
	slow    time.Duration    // of every call
}

// reply is the answer of a person.
type reply struct {
	person portal.Person
	err    error
}

func newFakeLogin() *fakeLogin {
	return &fakeLogin{answers: make(map[string]reply), given: make(map[string]bool)}
}

func (p *fakeLogin) Methods() []LoginMethod { return []LoginMethod{App, SIM, Browser} }

const providersPage = "https://idp.example/authorize?state="

func (p *fakeLogin) Begin(_ context.Context, method LoginMethod, hint string) (LoginState, error) {
	defer p.call()()
	if p.err != nil {
		return LoginState{}, p.err
	}
	if r := p.answers[hint]; errors.Is(r.err, ErrUnknown) {
		return LoginState{}, r.err
	}
	p.asked = append(p.asked, hint)
	s := LoginState{
		Method: method, Code: "4711", Interval: time.Second, Expires: time.Now().Add(2 * time.Minute),
		Provider: []byte(newToken() + " " + hint),
	}
	if method == Browser {
		s.Code, s.Redirect = "", providersPage+s.state()
	}
	return s, nil
}

// state returns the state of a login on the provider's pages (RFC 6749 4.1.1).
func (s LoginState) state() string {
	state, _, _ := strings.Cut(string(s.Provider), " ")
	return state
}

func (p *fakeLogin) Poll(_ context.Context, s LoginState) (LoginState, *portal.Person, error) {
	defer p.call()()
	_, hint, _ := strings.Cut(string(s.Provider), " ")
	r, answered := p.answers[hint]
	switch {
	case p.err != nil:
		return s, nil, p.err
	case time.Now().After(s.Expires):
		return s, nil, ErrTimeout
	case !answered:
		return s, nil, nil
	case p.given[string(s.Provider)]:
		return s, nil, ErrRefusedLogin
	}
	if p.given[string(s.Provider)] = true; r.err != nil {
		return s, nil, r.err
	}
	return s, &r.person, nil
}

func (p *fakeLogin) Finish(_ context.Context, s LoginState, query url.Values) (portal.Person, error) {
	defer p.call()()
	switch r := p.answers[query.Get("code")]; {
	case p.err != nil:
		return portal.Person{}, p.err
	case query.Get("state") != s.state(), p.given[s.state()]:
		return portal.Person{}, ErrRefusedLogin
	default:
		p.given[s.state()] = true
		return r.person, r.err
	}
}

// call takes the time of a call, and locks the provider for the rest of it.
func (p *fakeLogin) call() (unlock func()) {
	p.mu.Lock()
	slow := p.slow
	p.mu.Unlock()
	time.Sleep(slow) // time: in bubbles alone
	p.mu.Lock()
	return p.mu.Unlock
}

// answer has the person with a hint answer from now on.
func (p *fakeLogin) answer(hint string, r reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[hint] = r
}

// takes sets the duration of calls.
func (p *fakeLogin) takes(slow time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = slow
}

// fails sets the error of calls; nil: they succeed.
func (p *fakeLogin) fails(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

// wantAsked checks how many persons the provider has asked, or redirected, in all.
func (f *fixture) wantAsked(n int) {
	f.t.Helper()
	f.login.mu.Lock()
	defer f.login.mu.Unlock()
	if len(f.login.asked) != n {
		f.t.Errorf("the provider has asked %d times, want %d: %v", len(f.login.asked), n, f.login.asked)
	}
}

// signingProvider is the sandbox's provider of signatures, which can fail and counts the calls.
type signingProvider struct {
	idp.Provider
	err   error
	mu    sync.Mutex
	asked int
}

func (p *signingProvider) Begin(ctx context.Context, key string, person idp.Person, text idp.Text, known *x509.Certificate) (idp.State, idp.Event, error) {
	p.mu.Lock()
	p.asked++
	p.mu.Unlock()
	if p.err != nil {
		return idp.State{}, nil, p.err
	}
	return p.Provider.Begin(ctx, key, person, text, known)
}

// terms adapts the terms of accounts to the portal.
type terms struct{ *account.Service }

func (t terms) Terms(ctx context.Context, id string) (portal.Terms, error) {
	found, err := t.Service.Terms(ctx, id)
	return portal.Terms(found), err
}

// blank renders white pages without text. Pictures for browsers have a hundredth of their pixels, since encoding
// whole ones takes half the time of these tests.
type blank struct{}

func (blank) Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	if slices.Contains(pictureWidths, width) {
		width, height = width/10, height/10
	}
	return pdftest.Blank{}.Render(ctx, r, size, page, width, height)
}

func (blank) Lines(context.Context, io.ReaderAt, int64, int) ([]stamp.Line, error) { return nil, nil }
