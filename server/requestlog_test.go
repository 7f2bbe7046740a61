package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// logBuffer is a log that several goroutines write.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// caller sends requests to a Trial behind a proxy, and has its log at the level that says most.
type caller struct {
	t       *testing.T
	s       *Server
	log     logBuffer
	token   string
	secret  string
	client  account.Client
	cookies map[string]string
	sent    int // requests
}

const callersAddress = "203.0.113.7"

func newCaller(t *testing.T) *caller {
	t.Helper()
	c := &caller{t: t, cookies: make(map[string]string)}
	c.s, _ = newServer(t, filepath.Join(t.TempDir(), "test.db"), func(config *Config) {
		config.Environment, config.BaseURL = Trial, "http://localhost"
		config.Log = slog.New(slog.NewJSONHandler(&c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		config.Limits = Limits{Client: Unlimited, Address: Unlimited}
		config.Proxies.Trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	a, err := c.s.accounts.CreateAccount(t.Context(), "an account")
	c.must(err)
	c.must(c.s.accounts.SetPaymentMethod(t.Context(), a.ID, true))
	c.client, c.secret, err = c.s.accounts.CreateClient(t.Context(), a.ID, "a client", account.Scopes())
	c.must(err)
	return c
}

func (c *caller) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// send sends a request through the proxy, with the cookies of earlier answers.
func (c *caller) send(method, target, contentType, body string, header ...string) *httptest.ResponseRecorder {
	c.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr, r.Host = "127.0.0.1:9", "localhost"
	r.Header.Set("X-Forwarded-For", callersAddress)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for name, value := range c.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	c.s.Handler().ServeHTTP(w, r)
	for _, cookie := range w.Result().Cookies() {
		c.cookies[cookie.Name] = cookie.Value
	}
	c.sent++
	return w
}

func (c *caller) form(target string, pairs ...string) *httptest.ResponseRecorder {
	c.t.Helper()
	values := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return c.send(http.MethodPost, target, "application/x-www-form-urlencoded", values.Encode())
}

func (c *caller) call(method, target, body string) *httptest.ResponseRecorder {
	c.t.Helper()
	return c.send(method, target, "application/json", body, "Authorization", "Bearer "+c.token)
}

// logged is what a line of a request says of its client.
type logged struct {
	Route, Address, Client, NamedClient, AuthFailure, RequestID string
	Status                                                      int
}

// lines returns the lines of the requests that were sent, and empties the log.
func (c *caller) lines() (all []logged) {
	c.t.Helper()
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	for text := range strings.Lines(c.log.text.String()) {
		var l struct {
			Msg string
			logged
		}
		c.must(json.Unmarshal([]byte(text), &l))
		if l.Msg == "request" {
			all = append(all, l.logged)
		}
	}
	if len(all) != c.sent {
		c.t.Errorf("%d lines of %d requests", len(all), c.sent)
	}
	c.log.text.Reset()
	c.sent = 0
	return all
}

// A request has one line with the address of its client, and its client's ID: that of the token, or that which it named
// when its authentication failed. Failed authentications are counted by kind.
func TestLinesOfRequests(t *testing.T) {
	c := newCaller(t)
	const tokens, calls, json = "/api/v1/auth/token", "/api/v1/portal/webhooks", "application/json"
	c.send("POST", tokens, json, fmt.Sprintf(`{"grant_type":"client_credentials","client_id":%q,"client_secret":%q}`, c.client.ID, c.secret))
	c.send("POST", tokens, json, fmt.Sprintf(`{"grant_type":"client_credentials","client_id":%q,"client_secret":"wrong"}`, c.client.ID))
	c.send("POST", tokens, json, `{"grant_type":"client_credentials","client_id":"archive\n\"level\":\"INFO\"","client_secret":"wrong"}`)
	c.send("POST", tokens, json, `{"grant_type":"client_credentials","client_id":"archive"}`)
	c.send("POST", tokens, json, fmt.Sprintf(`{"grant_type":"client_credentials","client_id":%q,"client_secret":%q}`, c.secret, c.client.ID))
	c.form("/api/v1/auth/revoke", "client_id", strings.Repeat("a", 5000), "client_secret", "wrong", "token", "one")
	c.send("POST", tokens, json, `{"grant_type":"client_credentials"}`, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("archive:wrong")))
	c.send("GET", calls, "", "")
	c.send("GET", calls, "", "", "Authorization", "Bearer unknown")
	for range 3 {
		c.send("GET", "/sign/one", "", "")
	}
	got := c.lines()
	for i := range got {
		if got[i].RequestID == "" || got[i].Address != callersAddress {
			t.Errorf("%+v", got[i])
		}
		got[i].RequestID, got[i].Address = "", ""
	}
	revoke := "/api/v1/auth/revoke"
	page := logged{Route: "/sign/{token}", Status: 404}
	if diff := cmp.Diff([]logged{
		{Route: tokens, Status: 200, Client: c.client.ID},
		{Route: tokens, Status: 401, NamedClient: c.client.ID, AuthFailure: "invalid_client"},
		{Route: tokens, Status: 400},
		{Route: tokens, Status: 401, NamedClient: "archive", AuthFailure: "invalid_client"},
		{Route: tokens, Status: 401, NamedClient: "other", AuthFailure: "invalid_client"},
		{Route: revoke, Status: 401, NamedClient: "other", AuthFailure: "invalid_client"},
		{Route: tokens, Status: 401, NamedClient: "archive", AuthFailure: "invalid_client"},
		{Route: calls, Status: 401, AuthFailure: "missing_token"},
		{Route: calls, Status: 401, AuthFailure: "invalid_token"},
		page, page, page,
	}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	w := httptest.NewRecorder()
	c.s.observer.Metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`innsigli_authentication_failures_total{kind="invalid_client"} 5`,
		`innsigli_authentication_failures_total{kind="missing_token"} 1`,
		`innsigli_authentication_failures_total{kind="invalid_token"} 1`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

// The marks of TestNothingPersonalIsLogged: what is personal or secret in its requests.
const (
	markName, markMail, markKennitala, markPhone = "Leynir Huldarson", "leynir@huld.example", "1212121239", "5557391"
	markFile, markReason, markCity, markUser     = "trunadarmal.pdf", "Undirritað í trúnaði", "Huldustaðir", "mal-4711-leynt"
	markSecret, markQuery                        = "leyndarmalid0123456789leyndarmalid01234567", "fyrirspurnin"
)

// Nothing personal, no secret, no link and no query is in the log, at any level, whatever is sent to whichever path: to all
// paths with wrong values in all places, and to those of a whole process with right ones.
func TestNothingPersonalIsLogged(t *testing.T) {
	c := newCaller(t)
	marks := []string{markName, markMail, markKennitala, "121212-1239", markPhone, markFile, markReason, markCity, markUser, markSecret, markQuery, c.secret, "?", "&"}
	token, err := c.s.accounts.Issue(t.Context(), c.client.ID, c.secret, nil)
	c.must(err)
	c.token = token.Value
	marks = append(marks, c.token)

	body := fmt.Sprintf(`{"file":{"name":%q,"type":"Pdf","contentB64":"x","contentBase64":"x"},"signer":{"kennitala":%q,"phone":%q,"signingMethod":"IdpSim","reason":%q,"city":%q},
		"participants":[{"name":%q,"email":%q,"role":"Signer","kennitala":%q,"phoneNumber":%q}],"busySignal":{"id":"x","userId":%q},"url":"http://%s/%s","eventTypes":["x"],
		"client_id":%q,"client_secret":%q,"grant_type":%q,"token":%q,"reason":%q,"fullName":%q}`,
		markFile, markKennitala, markPhone, markReason, markCity, markName, markMail, markKennitala, markPhone, markUser, markMail, markSecret, markSecret, markSecret, markSecret, markSecret, markReason, markName)
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	query := "?kennitala=" + markKennitala + "&" + markQuery + "=" + markSecret + "&code=" + markSecret + "&state=" + markSecret + "&access_token="
	for _, pattern := range append(documentedPaths(t, c), "/sign/{a}", "/sign/{a}/{b}", "/sign/{a}/login", "/sign/{a}/{b}/login", "/sign/{a}/{b}/sign",
		"/sign/{a}/{b}/decline", "/sign/{a}/{b}/document", "/sign/{a}/{b}/pages/1/800", "/sign/{a}/{b}/goodbye", "/sign/{a}/{b}/{c}/{d}", "/sign/login",
		"/sign/login/end", "/sign/back", "/sign/logout", "/sign/goodbye/{a}", "/{a}", "//{a}", "/api/v1/{a}", trialLoginPath) {
		for _, mark := range []string{markSecret, markKennitala} {
			target := parameter.ReplaceAllString(pattern, mark) + query
			for _, method := range []string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", markQuery} {
				for _, authorization := range []string{"Bearer " + c.token, "Basic " + base64.StdEncoding.EncodeToString([]byte(markSecret+":"+markSecret))} {
					c.send(method, target, "application/json", body, "Authorization", authorization, "User-Agent", markSecret, "Referer", "https://"+markSecret,
						"X-Request-Id", "a "+markSecret, "Idempotency-Key", markSecret, "Cookie", "__Host-innsigli="+markSecret)
				}
				c.send(method, target, "application/x-www-form-urlencoded", url.Values{"kennitala": {markKennitala}, "way": {"app"}, "phone": {markPhone}, "reason": {markReason}}.Encode())
			}
		}
	}
	marks = append(marks, c.runProcess()...)

	text := c.log.String()
	for _, mark := range marks {
		if i := strings.Index(text, mark); i >= 0 {
			t.Errorf("%q is in the log: %.300q", mark, text[max(0, i-200):])
		}
	}
	for _, l := range c.lines() {
		if l.RequestID == "" || l.Address != callersAddress {
			t.Fatalf("%+v", l)
		}
	}
}

// documentedPaths returns the paths of the API document.
func documentedPaths(t *testing.T, c *caller) (all []string) {
	t.Helper()
	var document struct{ Paths map[string]any }
	c.must(json.Unmarshal(c.send("GET", "/openapi.json", "", "").Body.Bytes(), &document))
	for path := range document.Paths {
		all = append(all, path)
	}
	if slices.Sort(all); len(all) < 15 {
		t.Fatal(all)
	}
	return all
}

// runProcess has people invited, who log in, read, sign and decline, and returns the secrets that were made meanwhile.
func (c *caller) runProcess() (secrets []string) {
	t := c.t
	t.Helper()
	document := base64.StdEncoding.EncodeToString(pdftest.Build(pdftest.Options{}))
	w := c.call("POST", "/api/v1/portal/webhooks", `{"url":"https://hooks.example/`+markSecret+`?`+markQuery+`=1","eventTypes":["process.completed"]}`)
	var hook struct{ Secret string }
	c.must(json.Unmarshal(w.Body.Bytes(), &hook))
	draft := fmt.Sprintf(`{"file":{"name":%q,"contentBase64":%q},"signatureLocation":"TopLeft","participants":[
		{"name":%q,"email":%q,"role":"Signer"},{"name":"Vala","email":"vala@huld.example","role":"Signer","kennitala":%q}]}`, markFile, document, markName, markMail, markKennitala)
	testenv.Wait(t, "the page renderer", func() bool {
		w = c.call("POST", "/api/v1/portal/signing-processes", draft)
		return w.Code != http.StatusServiceUnavailable
	})
	var process struct {
		SigningProcessID string
		Participants     []struct{ SigningURL string }
	}
	if c.must(json.Unmarshal(w.Body.Bytes(), &process)); len(process.Participants) != 2 || hook.Secret == "" {
		t.Fatal(w.Code, w.Body)
	}
	secrets = append(secrets, hook.Secret)
	for _, participant := range process.Participants {
		link := strings.TrimPrefix(participant.SigningURL, "http://localhost")
		secrets = append(secrets, strings.TrimPrefix(link, "/sign/"))
		form := c.send("GET", link, "", "").Body.String()
		_, visit, _ := strings.Cut(form, `name="visit" value="`)
		visit, _, _ = strings.Cut(visit, `"`)
		w = c.form(link+"/login", "way", "app", "kennitala", markKennitala, "visit", visit)
		secrets = append(secrets, visit, c.cookies["__Host-innsigli"])
		if w.Header().Get("Location") != "/sign/login" {
			t.Fatal(w.Code, w.Body)
		}
		var page string
		testenv.Wait(t, "the simulated person", func() bool {
			page = c.send("GET", "/sign/login", "", "").Header().Get("Location")
			return page != ""
		})
		secrets = append(secrets, c.cookies["__Host-innsigli"])
		c.send("GET", page, "", "")
		c.send("GET", page+"/document", "", "")
		c.form(page+"/sign", "method", "IdpSim", "phone", markPhone, "revision", "0")
		c.send("GET", page, "", "")
		c.form(page+"/decline", "reason", markReason)
		c.send("GET", "/sign/back?code="+markSecret+"&state="+markSecret, "", "")
		c.form("/sign/logout")
	}
	c.call("POST", "/api/v1/signing", fmt.Sprintf(`{"file":{"name":%q,"type":"Pdf","contentB64":%q},"signer":{"kennitala":%q,"signingMethod":"IdpApp","reason":%q,"city":%q}}`,
		markFile, document, markKennitala, markReason, markCity))
	c.call("DELETE", "/api/v1/portal/signing-processes/"+process.SigningProcessID, "")
	return secrets
}
