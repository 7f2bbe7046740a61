package main

import (
	"cmp"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/server"
)

// visitor is a browser without a script: it keeps cookies, goes where it is redirected to, and loads
// pages again that ask for it.
type visitor struct {
	*testing.T
	http    http.Client
	address *url.URL // of the page that is shown
	status  int
	page    string
	next    string // the header Refresh
}

// loopbackJar keeps Secure cookies over http, as browsers do for this machine.
type loopbackJar struct{ *cookiejar.Jar }

func (j loopbackJar) Cookies(u *url.URL) []*http.Cookie { return j.Jar.Cookies(overTLS(u)) }
func (j loopbackJar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.Jar.SetCookies(overTLS(u), cookies)
}

func overTLS(u *url.URL) *url.URL {
	secure := *u
	secure.Scheme = "https"
	return &secure
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{T: t, http: http.Client{Jar: loopbackJar{jar}}}
}

// open loads an address, and what it leads to at once.
func (v *visitor) open(address string) {
	v.Helper()
	request, err := http.NewRequestWithContext(v.Context(), http.MethodGet, address, nil)
	if err != nil {
		v.Fatal(err)
	}
	v.do(request)
}

// submit sends the form of the page that goes to a path, with what is hidden in it and the values given.
func (v *visitor) submit(path string, values ...string) {
	v.Helper()
	form := v.hidden(path)
	for i := 0; i < len(values); i += 2 {
		form.Set(values[i], values[i+1])
	}
	v.post(path, form)
}

// hidden are the hidden values of the form that goes to a path.
func (v *visitor) hidden(path string) url.Values {
	v.Helper()
	_, rest, found := strings.Cut(v.page, `action="`+html.EscapeString(path)+`"`)
	if !found {
		v.Fatalf("%s has no form that goes to %s:\n%s", v.address, path, v.page)
	}
	inside, _, _ := strings.Cut(rest, "</form>")
	form := make(url.Values)
	for _, field := range hiddenFields.FindAllStringSubmatch(inside, -1) {
		form.Set(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
	}
	return form
}

var hiddenFields = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

func (v *visitor) post(path string, form url.Values) {
	v.Helper()
	to, err := v.address.Parse(path)
	if err != nil {
		v.Fatal(err)
	}
	request, err := http.NewRequestWithContext(v.Context(), http.MethodPost, to.String(), strings.NewReader(form.Encode()))
	if err != nil {
		v.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	v.do(request)
}

// do makes a request, and follows pages that go on at once.
func (v *visitor) do(request *http.Request) {
	v.Helper()
	request.Header.Set("Accept-Language", "en")
	response, err := v.http.Do(request)
	if err != nil {
		v.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		v.Fatal(err)
	}
	v.address, v.status, v.page, v.next = response.Request.URL, response.StatusCode, string(body), response.Header.Get("Refresh")
	if after, to, ok := v.refresh(); ok && after == 0 {
		v.open(to)
	}
}

var (
	refreshing = regexp.MustCompile(`<meta http-equiv="refresh" content="([^"]*)"`)
	refreshed  = regexp.MustCompile(`^(\d+)(?:;\s*(?i:url)=(.*))?$`)
)

// refresh is what the page says of itself: after how long it is to be loaded again, and from where.
func (v *visitor) refresh() (after time.Duration, to string, ok bool) {
	v.Helper()
	next := v.next
	if found := refreshing.FindStringSubmatch(v.page); found != nil {
		next = html.UnescapeString(found[1])
	}
	said := refreshed.FindStringSubmatch(next)
	if said == nil {
		return 0, "", false
	}
	seconds, err := strconv.Atoi(said[1])
	if err != nil {
		v.Fatal(err)
	}
	address, err := v.address.Parse(cmp.Or(said[2], v.address.String()))
	if err != nil {
		v.Fatal(err)
	}
	return time.Duration(seconds) * time.Second, address.String(), true
}

// wait loads the page again as often as it asks for it, until it does not.
func (v *visitor) wait() {
	v.Helper()
	for {
		after, to, ok := v.refresh()
		if !ok {
			return
		}
		pause(after)
		v.open(to)
	}
}

// sees wants a status, and texts on the page.
func (v *visitor) sees(status int, texts ...string) {
	v.Helper()
	said := html.UnescapeString(v.page)
	for _, text := range texts {
		if !strings.Contains(said, text) {
			v.Errorf("%s does not say %q:\n%s", v.address, text, v.page)
		}
	}
	if v.status != status {
		v.Fatalf("%s: status %d, want %d\n%s", v.address, v.status, status, v.page)
	}
}

// at wants the page that is shown to be that of a participant.
func (v *visitor) at(process processReply, participant int) {
	v.Helper()
	if want := "/sign/" + process.ProcessID + "/" + process.Participants[participant].ID; v.address.Path != want {
		v.Fatalf("at %s, want %s: status %d\n%s", v.address, want, v.status, v.page)
	}
}

// logIn logs in on the page that is shown.
func (v *visitor) logIn(values ...string) {
	v.Helper()
	v.submit(v.address.Path+"/login", values...)
	v.wait()
}

// startPages runs a server in production whose signing page browsers reach, with an OpenID provider on
// whose pages two people log in.
func startPages(t *testing.T, sections string) *production {
	t.Helper()
	p := newProduction(t, installed(t), "", "--config", "innsigli.toml")
	p.ca = catest.New(t)
	p.relay(t)
	p.flags = append(p.flags, "--base-url", p.relayed.URL)
	p.provider = openidtest.Start(t, openidtest.Options{Redirects: []string{p.relayed.URL + server.LoginPath}})
	p.keepsToItself(t)
	p.configure(t, productionOptions{})
	p.write(t, "innsigli.toml", append(testenv.ReadFile(t, filepath.Join(p.folder, "innsigli.toml")), sections...))
	p.run(t)
	p.client = p.account(t, p.store)
	p.pays(t)
	for _, who := range people[:2] {
		p.person(t, who, openidtest.Answer{})
	}
	return p
}

// pays gives the account a payment method, for more documents than are free.
func (p *production) pays(t *testing.T) {
	t.Helper()
	list := strings.Split(output(t, done, "account", "list", "--store", p.store), "\n")
	account, _, _ := strings.Cut(list[1], " ")
	output(t, done, "account", "payment-method", account, "on", "--store", p.store)
}

// tells wants no credential of a visitor's or of an invitation in a log.
func (p *production) tells(t *testing.T, v *visitor, made processReply) {
	t.Helper()
	var secrets []string
	for _, one := range made.Participants {
		secrets = append(secrets, strings.TrimPrefix(*one.SigningURL, p.relayed.URL+"/sign/"), "/sign/"+made.ProcessID, one.ID)
	}
	for _, cookie := range v.http.Jar.Cookies(v.address) {
		secrets = append(secrets, cookie.Value)
	}
	log := p.logs()
	for _, secret := range secrets {
		if strings.Contains(log, secret) {
			t.Errorf("%s is in a log:\n%s", secret, log)
		}
	}
}

// invite makes a process of two, of whom the second's place is that of the second person alone.
func (p *production) invite(t *testing.T) processReply {
	t.Helper()
	return p.client.createProcess(t, inviteText(t, document,
		invitee{Name: "Anna", Email: "anna@example.is", Role: "Signer"},
		invitee{Name: "Jón", Email: "jon@example.is", Role: "Signer", Kennitala: people[1].kennitala},
	)).processReply
}

// link is the one that a participant was invited with.
func (p processReply) link(participant int) string { return *p.Participants[participant].SigningURL }

// signs presses "Sign" on the page that is shown, and waits for the signature.
func (v *visitor) signs(values ...string) {
	v.Helper()
	path := v.address.Path + "/sign"
	v.submit(path, values...)
	v.wait()
	if v.status != http.StatusOK || strings.Contains(v.page, `action="`+path+`"`) {
		v.Fatalf("not signed: status %d\n%s", v.status, v.page)
	}
}

// strange wants a page that shows nothing, and the links as they were.
func (v *visitor) strange(p *production, made processReply) {
	v.Helper()
	if strings.Contains(v.page, documentName) || v.status >= http.StatusInternalServerError {
		v.Errorf("%s: status %d\n%s", v.address, v.status, v.page)
	}
	for i, one := range p.client.process(v.T, made.ProcessID).Participants {
		if one.SigningURL == nil || *one.SigningURL != made.link(i) {
			v.Errorf("the link of participant %d was used up", i)
		}
	}
}

// People log in on the provider's pages, read and sign.
func TestLoginOnTheProvidersPages(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "")
	made := p.invite(t)
	for i, who := range people[:2] {
		p.provider.Login(who.kennitala)
		v := newVisitor(t)
		v.open(made.link(i))
		v.sees(http.StatusOK, "Example", documentName)
		v.logIn("way", string(page.Browser))
		v.at(made, i)
		v.sees(http.StatusOK, documentName, "/pages/1/")
		v.signs("method", "IdpApp")
		v.sees(http.StatusOK, who.kennitala[:6]+"-"+who.kennitala[6:])
		p.tells(t, v, made)
	}
	for i, one := range p.client.process(t, made.ProcessID).Participants {
		if one.Status != "Completed" {
			t.Errorf("participant %d: %s\n%s", i, one.Status, p.logs())
		}
	}
}

// Where [login.phone] says so, people log in on their phones, with the app and with the SIM.
func TestLoginOnThePhone(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "key = \"idp-key.pem\"\nkey-id = \"test-2026\"\n[login.phone]\n")
	made := p.invite(t)
	for i, form := range [][]string{
		{"way", string(page.App), "kennitala", people[0].kennitala[:6] + "-" + people[0].kennitala[6:]},
		{"way", string(page.SIM), "phone", "+354 " + people[1].phone},
	} {
		v := newVisitor(t)
		v.open(made.link(i))
		v.logIn(form...)
		v.at(made, i)
		v.sees(http.StatusOK, documentName)
	}
	refused := openidtest.Answer{Error: &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}}
	p.person(t, people[0], refused)
	again, v := p.invite(t), newVisitor(t)
	v.open(again.link(0))
	v.logIn("way", string(page.App), "kennitala", people[0].kennitala)
	v.strange(p, again)
	v.open(again.link(0))
	v.logIn("way", string(page.App), "kennitala", "0104302959") // of no person
	v.strange(p, again)
}

// Without a [login] links lead to a page that says so.
func TestSigningPageWithoutLogin(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "")
	made := p.invite(t)
	if _, err := p.stop(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.folder, "innsigli.toml")
	rest, _, found := strings.Cut(string(testenv.ReadFile(t, file)), "[login]")
	if !found {
		t.Fatal(rest)
	}
	p.write(t, "innsigli.toml", []byte(rest))
	p.run(t)
	v := newVisitor(t)
	v.open(made.link(0))
	v.sees(http.StatusOK, documentName, "the service is not connected to electronic IDs")
	if strings.Contains(v.page, "<form") || !strings.Contains(p.logs(), "no [login] is configured") {
		t.Error(v.page, p.logs())
	}
}
