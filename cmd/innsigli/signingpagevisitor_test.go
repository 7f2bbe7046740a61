package main

import (
	"cmp"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
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
