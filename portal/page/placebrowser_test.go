package page

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// browser is one with which somebody has logged in; empty: nobody has.
func (s *scene) browser(kennitala string) *client {
	s.t.Helper()
	c := &client{s: s}
	if kennitala == "" {
		return c
	}
	c.cookie = newToken()
	until := time.Now().Add(maxLifetime)
	v := session{Person: &portal.Person{Name: "Whoever", Kennitala: kennitala}, EndsBy: until, key: sessionKey(c.cookie)}
	s.must(s.db.InTx(s.t.Context(), func(ctx context.Context) error { return s.page.saveSession(ctx, v) }))
	return c
}

type client struct {
	s      *scene
	cookie string
	lang   string // empty: Icelandic
	json   bool
}

// answer is what came of a request.
type answer struct {
	status   int
	location string
	body     string
}

func (c *client) get(path string) answer { return c.do(http.MethodGet, path, nil) }

func (c *client) post(path string, pairs ...string) answer {
	form := make(url.Values)
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return c.do(http.MethodPost, path, strings.NewReader(form.Encode()))
}

func (c *client) do(method, path string, body io.Reader) answer {
	r := httptest.NewRequest(method, path, body)
	if body != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept-Language", c.lang)
	if c.json {
		r.Header.Set("Accept", "application/json")
	}
	if c.cookie != "" {
		r.AddCookie(&http.Cookie{Name: sessionCookie, Value: c.cookie})
	}
	w := httptest.NewRecorder()
	c.s.page.ServeHTTP(w, r)
	return answer{w.Code, w.Header().Get("Location"), w.Body.String()}
}

// follow gets the page that an answer leads to, however often it leads on.
func (c *client) follow(a answer) answer {
	c.s.t.Helper()
	for range 4 {
		if a.status != http.StatusSeeOther {
			return a
		}
		a = c.get(a.location)
	}
	c.s.t.Error("it leads on and on to", a.location)
	return a
}

// says checks a page by the words that it is to have, and those that it is not to have, which begin with
// "!": keys of the catalogue.
func (a answer) says(t testing.TB, status int, keys ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("status %d, want %d: %s %s", a.status, status, a.location, a.text())
	}
	for _, key := range keys {
		key, not := strings.CutPrefix(key, "!")
		if words[key] == nil {
			t.Errorf("there are no words %q", key)
		}
		if a.has(key) == not {
			t.Errorf("says %q: %v\n%s", key, !not, a.text())
		}
	}
}

var hole = regexp.MustCompile(`\{\w+\}`)

// has says whether a page has the words of a key, up to where something is put in, and between that. A
// single word has to stand alone.
func (a answer) has(key string) bool {
	said := words.text("is", key)
	if !strings.Contains(said, " ") {
		return regexp.MustCompile(">\\s*" + regexp.QuoteMeta(said) + "\\s*<").MatchString(a.body)
	}
	rest := a.text()
	for _, part := range hole.Split(said, -1) {
		_, after, found := strings.Cut(rest, strings.TrimSpace(part))
		if !found {
			return false
		}
		rest = after
	}
	return true
}

var (
	tag   = regexp.MustCompile(`<[^>]*>`)
	space = regexp.MustCompile(`\s+`)
)

// text is what people read on a page.
func (a answer) text() string {
	_, body, _ := strings.Cut(a.body, "<main")
	body, _, _ = strings.Cut(body, "</main>")
	return space.ReplaceAllString(strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "&#34;", `"`, "&#39;", "'").Replace(tag.ReplaceAllString(body, " ")), " ")
}

// news is what a script was told.
func (a answer) news(t *testing.T) (s pageStatus) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &s); err != nil {
		t.Errorf("%d %s: %v", a.status, a.body, err)
	}
	return s
}
