package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
)

// client is a client program of an account.
type client struct {
	*testing.T
	*server
	account, id, secret string
	token               string
}

// client creates an account with a client, and gets a token with the scopes.
func (s *server) client(t *testing.T, scopes ...string) *client {
	t.Helper()
	owner, err := s.accounts.CreateAccount(t.Context(), "Example Ltd.")
	if err != nil {
		t.Fatal(err)
	}
	return s.clientOf(t, owner.ID, scopes)
}

// signer returns a client with the scope of the Signing API.
func (s *server) signer(t *testing.T) *client {
	t.Helper()
	return s.client(t, account.ScopeSignatures)
}

// colleague returns another client of the same account.
func (c *client) colleague(scopes ...string) *client {
	c.Helper()
	return c.clientOf(c.T, c.account, scopes)
}

func (s *server) clientOf(t *testing.T, owner string, scopes []string) *client {
	t.Helper()
	made, secret, err := s.accounts.CreateClient(t.Context(), owner, "archive", scopes)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{T: t, server: s, account: owner, id: made.ID, secret: secret}
	c.login()
	return c
}

// login gets a token for all of the client's scopes.
func (c *client) login() {
	c.Helper()
	c.token = c.member(c.form(url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id}, "client_secret": {c.secret}}), "access_token")
}

// in returns the client for a subtest.
func (c *client) in(t *testing.T) *client {
	inner := *c
	inner.T = t
	return &inner
}

// answer is an answer of the API.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// request returns a request of the client. A string is the body itself, any other value is sent as JSON, and nil is
// no body.
func (c *client) request(method, path string, body any) *http.Request {
	c.Helper()
	var content io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			c.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(c.Context(), method, c.url+path, content)
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// call makes a request and gets the answer.
func (c *client) call(method, path string, body any) answer {
	c.Helper()
	a := c.send(c.request(method, path, body))
	if _, raw := body.(string); !raw && a.status >= 400 {
		c.leaksNothing(a, body)
	}
	return a
}

// send sends a request, and checks what all answers have in common.
func (c *client) send(r *http.Request) answer {
	c.Helper()
	a, err := c.do(r)
	if err != nil {
		c.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	if got := a.header.Values("Cache-Control"); !slices.Equal(got, []string{"no-store"}) {
		c.Errorf("%s %s: Cache-Control is %q (spec 1.6)", r.Method, r.URL.Path, got)
	}
	if a.header.Get("Content-Type") == problemType && r.Method != http.MethodHead {
		c.explained(a)
	}
	return a
}

// do sends a request and waits until its handler has returned. The server stores the end of a signing request after
// it has sent the answer (spec 3.6), so that a fast client could find the request unchanged.
func (s *server) do(r *http.Request) (answer, error) {
	through := make(chan struct{})
	id := uuid.NewString()
	s.running.Store(id, through)
	r.Header.Set(runningID, id)
	response, err := s.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	<-through
	return answer{response.StatusCode, response.Header, body}, err
}

// runningID is the header with the ID of a request for do.
const runningID = "Test-Request-Id"

// watch tells do when a handler has returned.
func (s *server) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if through, ok := s.running.LoadAndDelete(r.Header.Get(runningID)); ok {
			defer close(through.(chan struct{}))
		}
		h.ServeHTTP(w, r)
	})
}

// leaksNothing checks that an error does not repeat a value that was sent. It ignores values that are shorter than
// five characters, and values of enumerations.
func (c *client) leaksNothing(a answer, sent any) {
	c.Helper()
	encoded, err := json.Marshal(sent)
	if err != nil {
		c.Fatal(err)
	}
	var v any
	numbers := json.NewDecoder(bytes.NewReader(encoded))
	numbers.UseNumber() // also those that no float64 holds
	if err := numbers.Decode(&v); err != nil {
		c.Fatal(err)
	}
	for _, s := range texts(v) {
		if utf8.RuneCountInString(s) >= 5 && !slices.Contains(slices.Concat(roles, portal.EventTypes()), s) && bytes.Contains(a.body, []byte(s)) {
			c.Errorf("the answer repeats the value %.40q: %s", s, a.body)
		}
	}
}

// texts returns all strings in a value.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case map[string]any:
		for _, member := range v {
			all = append(all, texts(member)...)
		}
	case []any:
		for _, element := range v {
			all = append(all, texts(element)...)
		}
	}
	return all
}

// object is the body of an answer.
type object = map[string]any

// want checks the status and the whole body of an answer. A nil body is an empty one.
func (c *client) want(a answer, status int, body object) {
	c.Helper()
	if a.status != status {
		c.Fatalf("status %d, want %d: %.300s", a.status, status, a.body)
	}
	if body == nil {
		diff(c.T, "body", "", string(a.body))
		return
	}
	diff(c.T, "body", normal(c.T, body), any(c.object(a)))
}

// normal returns a value as encoding/json decodes it.
func normal(t *testing.T, v any) (out any) {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(encoded, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *client) object(a answer) object {
	c.Helper()
	var o object
	if err := json.Unmarshal(a.body, &o); err != nil {
		c.Fatalf("the answer %d is no JSON object: %v\n%.300s", a.status, err, a.body)
	}
	return o
}

// member returns a string in the body of a 200.
func (c *client) member(a answer, name string) string {
	c.Helper()
	s, ok := c.object(a)[name].(string)
	if a.status != http.StatusOK || !ok {
		c.Fatalf("status %d without %s: %.300s", a.status, name, a.body)
	}
	return s
}

const (
	problemType = "application/problem+json"
	validation  = "One or more validation errors occurred."
)

// explained checks that a problem has its status, and a type whose page explains it (spec 1.4).
func (c *client) explained(a answer) {
	c.Helper()
	p := c.object(a)
	kind, _ := p["type"].(string)
	title, _ := p["title"].(string)
	if p["status"] != float64(a.status) || title == "" || !strings.HasPrefix(kind, c.url+"/problems/") {
		c.Errorf("a problem of status %d is %s", a.status, a.body)
		return
	}
	if _, known := c.pages.LoadOrStore(kind+title, true); known {
		return
	}
	page := c.send(c.request(http.MethodGet, strings.TrimPrefix(kind, c.url), nil))
	if page.status != http.StatusOK || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") || !bytes.Contains(page.body, []byte("<h1>"+title+"</h1>")) {
		c.Errorf("%s does not explain %q: %d %.200s", kind, title, page.status, page.body)
	}
}

// wantProblem checks a problem with a title, and that it has only the members of RFC 9457.
func (c *client) wantProblem(a answer, status int, title string) {
	c.Helper()
	p := c.object(a)
	if detail, _ := p["detail"].(string); detail == "" {
		c.Errorf("no detail: %s", a.body)
	}
	if got := a.header.Get("Content-Type"); got != problemType {
		c.Errorf("Content-Type %q", got)
	}
	diff(c.T, "title", title, p["title"])
	diff(c.T, "members", []string{"detail", "status", "title", "type"}, slices.Sorted(maps.Keys(p)))
	if a.status != status {
		c.Errorf("status %d, want %d", a.status, status)
	}
}

// wantInvalid checks a validation error that names exactly these fields (spec 1.3).
func (c *client) wantInvalid(a answer, paths ...string) {
	c.Helper()
	if a.status != http.StatusBadRequest {
		c.Errorf("status %d, want 400: %.300s", a.status, a.body)
		return
	}
	p := c.object(a)
	diff(c.T, "title", validation, p["title"])
	diff(c.T, "members", []string{"errors", "status", "title", "type"}, slices.Sorted(maps.Keys(p)))
	if got := a.header.Get("Content-Type"); got != problemType {
		c.Errorf("Content-Type %q", got)
	}
	faults, _ := p["errors"].(object)
	slices.Sort(paths)
	diff(c.T, "paths of the errors", paths, slices.Sorted(maps.Keys(faults)))
	for path, messages := range faults {
		said := texts(messages)
		if len(said) == 0 || slices.Contains(said, "") {
			c.Errorf("nothing is said about %s: %v", path, messages)
		}
	}
}
