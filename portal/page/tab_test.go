package page

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// tab is a browser with its cookies.
type tab struct {
	d       *door
	cookies map[string]string
	header  map[string]string // of every request
	last    http.Header       // of the last answer
	at      string            // path of the last page
}

func (d *door) tab() *tab {
	return &tab{d: d, cookies: make(map[string]string), header: map[string]string{"Sec-Fetch-Site": "same-origin"}}
}

func (b *tab) do(method, path string, form url.Values) answer {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range b.header {
		r.Header.Set(name, value)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.d.page.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	b.last, b.at = w.Header(), path
	return answer{w.Code, w.Header().Get("Location"), w.Body.String()}
}

func (b *tab) get(path string) answer { return b.do(http.MethodGet, path, nil) }

// open gets a page, and those that it leads on to.
func (b *tab) open(path string) answer { return b.follow(b.get(path)) }

func (b *tab) follow(a answer) answer {
	b.d.t.Helper()
	for range 5 {
		if a.status != http.StatusSeeOther {
			return a
		}
		a = b.get(a.location)
	}
	b.d.t.Error("it leads on and on to", a.location)
	return a
}

func (b *tab) post(path string, pairs ...string) answer {
	form := make(url.Values)
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return b.do(http.MethodPost, path, form)
}

// cookie is that of the visit.
func (b *tab) cookie() string { return b.cookies[sessionCookie] }

// begin sends the form to log in of a page as it is now.
func (b *tab) begin(page string, pairs ...string) answer {
	b.d.t.Helper()
	return b.post(page+"/login", append(pairs, "visit", visitIn(b.open(page).body))...)
}

// visitIn is what the form of a page names the visit.
func visitIn(body string) string {
	_, rest, _ := strings.Cut(body, `name="visit" value="`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// login logs a person in by the app, who answers at once, and says where that leads.
func (b *tab) login(page string, who portal.Person) answer {
	b.d.t.Helper()
	b.d.phones.answer(who.Kennitala, reply{who: who})
	b.begin(page, "way", "app", "kennitala", who.Kennitala)
	b.wait()
	return b.get(loginPath)
}

// wait lets the time pass after which the provider may be asked again.
func (b *tab) wait() {
	b.d.t.Helper()
	key := sessionKey(b.cookie())
	_, err := b.d.page.updateSession(b.d.t.Context(), key, func(v *session) error {
		if v.Login != nil && v.Login.Lease == "" {
			v.Login.Next = time.Time{}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errNoSession) {
		b.d.t.Fatal(err)
	}
}

// visitOf is the visit of a browser.
func visitOf(b *tab) session {
	b.d.t.Helper()
	v, err := b.d.page.loadSession(b.d.t.Context(), sessionKey(b.cookie()))
	b.d.must(err)
	return v
}
