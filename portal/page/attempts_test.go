package page

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/storage"
)

// Mail programs open links before people do, and some send all that they can: nothing in the store
// changes, no phone rings, and the link is as good as before.
func TestScannersChangeNothing(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	before := d.stored()
	for _, agent := range []string{"Mozilla/5.0", "curl/8", "", "Microsoft Office Outlook", "Barracuda Sentinel"} {
		scanner := d.tab()
		scanner.header = map[string]string{"User-Agent": agent}
		scanner.get(d.link(0)).says(t, 200, "landing.sign")
		scanner.do(http.MethodHead, d.link(0), nil).says(t, 200)
		if scanner.cookie() != "" {
			t.Error("a cookie for", agent)
		}
	}
	if d.stored() != before {
		t.Error("something was stored")
	}
	if d.phones.rings() != 0 {
		t.Error(d.phones.rung)
	}
	if a := d.tab().login(d.link(0), anna); a.location != of(d.made, 0) {
		t.Error(a.status, a.text())
	}
	if d.stored() == before {
		t.Error("nothing is ever stored")
	}
}

// stored is a digest of the whole store.
func (d *door) stored() [sha256.Size]byte {
	d.t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(d.t.TempDir()), "*", "test.db"))
	if err != nil || len(files) != 1 {
		d.t.Fatal(files, err)
	}
	content, err := os.ReadFile(files[0])
	d.must(err)
	return sha256.Sum256(content)
}

// What comes from another site is refused, whoever has logged in with the browser.
func TestFormsOfOtherSites(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.loggedIn(0, anna)
	cookie := b.cookie()
	for name, header := range map[string]map[string]string{
		"of another site":           {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
		"of another port":           {"Sec-Fetch-Site": "same-site", "Origin": "https://example.com:8443"},
		"of an old browser":         {"Origin": "https://evil.example"},
		"of a page without address": {"Origin": "null"},
	} {
		for _, path := range []string{
			d.link(1) + "/login", of(d.made, 0, "/login"), of(d.made, 0, "/sign"), of(d.made, 0, "/decline"),
			"/sign/logout", of(d.made, 0, "/logout"), d.link(1) + "/logout", "/sign/login/end",
		} {
			b.header = header
			b.post(path, "way", "continue", "method", "IdpApp", "revision", "0", "reason", "x").says(t, 403, "problem.foreign.title")
			if b.cookie() != cookie {
				t.Fatal(name, path, "ended the visit")
			}
		}
	}
	b.header = nil
	p := d.now(d.made)
	if p.Participants[0].Decline != nil || p.Turn != nil || p.Participants[1].Person != nil || !b.there(of(d.made, 0)) {
		t.Errorf("%+v", p)
	}
}

// Forms are as long as they have to be.
func TestLongForms(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	b.post(d.link(0)+"/login", "way", "app", "kennitala", strings.Repeat("0", maxFormSize)).says(t, 413, "problem.form.title")
	b.post(d.link(0)+"/login", "way", "app", "kennitala", strings.Repeat("<", 3000), "visit", newToken()).says(t, 422, "login.kennitala.fault")
	b.post(d.link(0)+"/login", "way", "app", "kennitala", annas, "visit", strings.Repeat("A", 9000)).says(t, 400, "problem.form.title")
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, d.link(0)+"/login", strings.NewReader("way=%zz"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	d.page.ServeHTTP(w, r)
	answer{w.Code, "", w.Body.String()}.says(t, 400, "problem.form.title")
	if d.phones.rings() != 0 {
		t.Error(d.phones.rung)
	}
}

// Nothing of a link or of a person is in a header or in an error, and no answer is kept, framed, or
// told to other sites.
func TestWhatAnswersTellOthers(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	token := strings.TrimPrefix(d.link(0), "/sign/")
	check := func() {
		t.Helper()
		for name, want := range securityHeaders {
			if got := b.last.Values(name); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %s: %q", b.at, name, got)
			}
		}
		for name, values := range b.last {
			if all := strings.Join(values, " "); strings.Contains(all, token) || strings.Contains(all, annas) {
				t.Errorf("%s: %s: %s", b.at, name, all)
			}
			if strings.HasPrefix(name, "Access-Control") {
				t.Error(name)
			}
		}
	}
	for _, path := range []string{d.link(0), "/sign/none", "/sign/", "/sign/login", "/sign/back?code=x", goodbyePath, of(d.made, 0), d.link(0) + "/pages/1/640"} {
		b.get(path)
		check()
	}
	b.begin(d.link(0), "way", "app", "kennitala", annas)
	check()
	d.phones.answer(annas, reply{who: anna})
	b.wait()
	b.get(loginPath)
	check()
	cookie := b.last.Get("Set-Cookie")
	for _, want := range []string{"__Host-innsigli=", "; Path=/", "; Secure", "; HttpOnly", "; SameSite=Lax"} {
		if !strings.Contains(cookie, want) {
			t.Error(cookie, "is without", want)
		}
	}
	if strings.Contains(cookie, "Domain") {
		t.Error(cookie)
	}
	b.get(of(d.made, 0))
	check()
	for _, page := range []string{b.get(of(d.made, 0)).body, b.get("/sign/none").body} {
		if strings.Contains(page, token) {
			t.Error("the link is on a page after the login")
		}
	}
	d.page.config.Store = broken{d.config.Store}
	b.get(d.link(0)).says(t, 303)
	b.get(of(d.made, 0)).says(t, 500, "problem.unexpected.title")
	for _, fault := range d.faults {
		if text := fault.Error(); strings.Contains(text, token) || strings.Contains(text, annas) || strings.Contains(text, b.cookie()) {
			t.Error(text)
		}
	}
	if len(d.faults) != 1 {
		t.Error(d.faults)
	}
}

// No address leads to another site.
func TestOpenRedirects(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.loggedIn(0, anna)
	for _, path := range []string{
		"/sign//evil.example?lang=en", "/sign/../..//evil.example?lang=en", `/sign/\evil.example?lang=en`, "/sign/%2f%2fevil.example?lang=en",
		"/sign/goodbye?lang=en&to=https://evil.example", "/sign/back?state=x&redirect_uri=https://evil.example", "/sign/login?to=https://evil.example",
		"//evil.example/sign/x?lang=en", "/sign/%2fevil.example/x?lang=en",
	} {
		a := b.get(path)
		if a.location == "" {
			continue
		}
		to, err := url.Parse(a.location)
		if err != nil || to.Host != "" || to.Scheme != "" || strings.HasPrefix(strings.ReplaceAll(a.location, `\`, "/"), "//") {
			t.Errorf("%s leads to %s", path, a.location)
		}
	}
}

// broken is a store whose errors name nobody.
type broken struct{ Store }

func (broken) Record(context.Context, []byte) (storage.Record, error) {
	return storage.Record{}, errors.New("the disk is on fire")
}
