package page

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/storage"
)

// Paths answer for their methods only. The path of a form leads to the page of the form, and HEAD is answered
// like GET.
func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	for _, test := range []struct {
		method, path string
		status       int
		more         string // Allow, or Location
	}{
		{"GET", "/sign/", 404, ""},
		{"GET", "/sign/a/b/c", 404, ""},
		{"GET", "/sign/a/b/pages/1", 404, ""},
		{"POST", "/sign/", 404, ""},
		{"BREW", "/sign/", 404, ""},
		{"DELETE", d.link(0), 405, "GET, HEAD"},
		{"POST", d.link(0), 405, "GET, HEAD"},
		{"PUT", "/sign/goodbye", 405, "GET, HEAD"},
		{"DELETE", of(d.invited, 0, "/sign"), 405, "POST"},
		{"PUT", of(d.invited, 0, "/decline"), 405, "GET, HEAD, POST"},
		{"GET", of(d.invited, 0, "/sign"), 303, of(d.invited, 0)},
		{"HEAD", of(d.invited, 0, "/login"), 303, of(d.invited, 0)},
		{"GET", of(d.invited, 0, "/logout"), 303, of(d.invited, 0)},
		{"GET", d.link(0) + "/login", 303, d.link(0)},
		{"GET", d.link(2) + "/logout", 303, d.link(2)},
		{"GET", "/sign/login/end", 303, loginPath},
		{"HEAD", loginPath, 405, "GET"},
		{"HEAD", backPath + "?state=a&code=annas", 405, "GET"},
		{"PUT", loginPath, 405, "GET"},
		{"HEAD", d.link(0), 200, ""},
		{"HEAD", goodbyePath, 200, ""},
		{"HEAD", "/sign/none", 404, ""},
		// a path is not decoded on the way to the page above it
		{"GET", "/sign/x%3Flang=en/y/sign", 303, "/sign/x%3Flang=en/y"},
		{"GET", "/sign/x%2F..%2F..%2Fy/z/sign", 303, "/sign/x%2F..%2F..%2Fy/z"},
		{"GET", "/sign/%2f%2fevil.example/x/sign", 303, "/sign/%2f%2fevil.example/x"},
		{"GET", "/sign/x%0d%0aSet-Cookie:a=b/y/sign", 303, "/sign/x%0d%0aSet-Cookie:a=b/y"},
		{"GET", "/sign/x%23y/login", 303, "/sign/x%23y"},
	} {
		a := d.newBrowser().do(test.method, test.path, nil)
		if got := a.header.Get("Allow") + a.location; a.status != test.status || got != test.more {
			t.Errorf("%s %s: %d %s, want %d %s", test.method, test.path, a.status, got, test.status, test.more)
		}
		if a.status == http.StatusOK && (a.header.Get("Content-Type") != "text/html; charset=utf-8" || a.header.Get("Cache-Control") != "no-store") {
			t.Errorf("%s %s: %v", test.method, test.path, a.header)
		}
	}
}

// Behind a proxy the Host header may differ from the base URL. Forms from the origin of the base URL are accepted
// then, and no others, also for browsers that send only Origin.
func TestFormsBehindAProxy(t *testing.T) {
	t.Parallel()
	d := newInvitation(t) // requests of tests have the host example.com
	for origin, status := range map[string]int{
		d.config.BaseURL:            303,
		"https://evil.example":      403,
		"http://sign.example":       403,
		"https://sign.example:8443": 403,
	} {
		b := d.newBrowser()
		b.header = map[string]string{"Origin": origin}
		b.beginApp(d.link(0), annas).says(t, status)
	}
}

// A form from another site is refused, also with a session.
func TestFormsOfOtherSites(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.loggedIn(0, anna)
	cookie := b.cookie()
	for name, header := range map[string]map[string]string{
		"of another site":           {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
		"of another port":           {"Sec-Fetch-Site": "same-site", "Origin": "https://example.com:8443"},
		"of an old browser":         {"Origin": "https://evil.example"},
		"of a page without address": {"Origin": "null"},
	} {
		for _, path := range []string{
			d.link(1) + "/login", of(d.invited, 0, "/login"), of(d.invited, 0, "/sign"), of(d.invited, 0, "/decline"),
			"/sign/logout", of(d.invited, 0, "/logout"), d.link(1) + "/logout", "/sign/login/end",
		} {
			b.header = header
			b.post(path, "way", "continue", "method", "IdpApp", "revision", "0", "reason", "x").says(t, 403, "problem.foreign.title")
			if b.cookie() != cookie {
				t.Fatal(name, path, "ended the session")
			}
		}
	}
	b.header = nil
	if p := d.stored(d.invited); p.Participants[0].Decline != nil || p.Turn != nil || p.Participants[1].Person != nil {
		t.Errorf("%+v", p)
	}
	b.showsDocument(of(d.invited, 0), true)
}

// With an https base URL, browsers are told to use TLS only.
func TestStrictTransportSecurity(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"https://sign.example": "max-age=31536000", "http://localhost:8080": "", "": "", "://": ""} {
		d := newInvitation(t, func(c *Config) { c.BaseURL = base })
		for _, path := range []string{d.link(0), "/sign/none", "/sign/goodbye?lang=en", "/sign/assets/icon.svg"} {
			if got := d.newBrowser().get(path).header.Get("Strict-Transport-Security"); got != want {
				t.Errorf("%s of %q: %q, want %q", path, base, got, want)
			}
		}
	}
}

// Long and malformed forms are refused.
func TestInvalidForms(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b, path := d.newBrowser(), d.link(0)+"/login"
	b.post(path, "way", "app", "kennitala", strings.Repeat("0", maxFormSize)).says(t, 413, "problem.form.title")
	b.post(path, "way", "app", "kennitala", strings.Repeat("<", 3000), "visit", newToken()).says(t, 422, "login.kennitala.fault")
	b.post(path, "way", "app", "kennitala", annas, "visit", strings.Repeat("A", 9000)).says(t, 400, "problem.form.title")
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, strings.NewReader("way=%zz"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	d.page.ServeHTTP(w, r)
	answerOfRecorder(w, path).says(t, 400, "problem.form.title")
	d.wantAsked(0)
}

// No header and no error has the token of a link, a kennitala or a cookie, and every answer has the security
// headers.
func TestHeadersAndErrorsKeepSecrets(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.newBrowser()
	token := strings.TrimPrefix(d.link(0), "/sign/")
	check := func(a answer) answer {
		t.Helper()
		for name, want := range securityHeaders {
			if got := a.header.Values(name); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %s: %q", a.path, name, got)
			}
		}
		for name, values := range a.header {
			if all := strings.Join(values, " "); strings.Contains(all, token) || strings.Contains(all, annas) {
				t.Errorf("%s: %s: %s", a.path, name, all)
			}
			if strings.HasPrefix(name, "Access-Control") {
				t.Error(name)
			}
		}
		return a
	}
	for _, path := range []string{d.link(0), "/sign/none", "/sign/", "/sign/login", "/sign/back?code=x", goodbyePath, of(d.invited, 0), d.link(0) + "/pages/1/640"} {
		check(b.get(path))
	}
	check(b.beginApp(d.link(0), annas))
	d.login.answer(annas, reply{person: anna})
	b.letPoll()
	cookie := check(b.get(loginPath)).header.Get("Set-Cookie")
	for _, want := range []string{"__Host-innsigli=", "; Path=/", "; Secure", "; HttpOnly", "; SameSite=Lax"} {
		if !strings.Contains(cookie, want) {
			t.Error(cookie, "is without", want)
		}
	}
	if strings.Contains(cookie, "Domain") {
		t.Error(cookie)
	}
	check(b.get(of(d.invited, 0))).lacks(t, token)
	b.get("/sign/none").lacks(t, token)
	d.page.config.Store = failing{d.config.Store, errors.New("the disk is on fire")}
	b.get(d.link(0)).says(t, 303)
	b.get(of(d.invited, 0)).says(t, 500, "problem.unexpected.title")
	for _, fault := range d.wantFaults(1) {
		if text := fault.Error(); strings.Contains(text, token) || strings.Contains(text, annas) || strings.Contains(text, b.cookie()) {
			t.Error(text)
		}
	}
}

// failing is a store whose reads fail.
type failing struct {
	Store
	err error
}

func (f failing) Record(context.Context, []byte) (storage.Record, error) {
	return storage.Record{}, f.err
}

// No address redirects to another site.
func TestOpenRedirects(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
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
