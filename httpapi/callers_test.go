package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

func TestMain(m *testing.M) { postgrestest.Main(met{m}) }

// Every endpoint, asked by everybody who may not have what it gives: the status and the challenge are right,
// and nothing is learned from the answer. What belongs to another account does not exist for the caller
// (spec 1.7 and 2.3). An endpoint that no row is about fails the test.
func TestEveryEndpointAndWrongCallers(t *testing.T) {
	for name, store := range map[string]func(*testing.T) backend{"bolt": inFile, "postgres": inPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := wiring{store: store, renderer: blank{}, webhooks: trial.webhooks}
			sandbox := start(t, w)
			w.production = true
			production := start(t, w)
			tried := make(map[string]bool)
			t.Run("sandbox", func(t *testing.T) { crowdOf(t, sandbox, production).tryAll(tried) })
			t.Run("production", func(t *testing.T) { crowdOf(t, production, sandbox).tryAll(tried) })
			for _, row := range rows() {
				if !tried[row] {
					t.Errorf("%s has a row and does not exist", row)
				}
			}
		})
	}
}

// crowd is who calls.
type crowd struct {
	*client                    // who may do everything
	stranger *client           // who may do as much, for another account
	from     *client           // another environment
	expired  string            // a token of the client's
	short    map[string]string // tokens of the client's account that grant all scopes but one, by that
}

func crowdOf(t *testing.T, here, there *server) crowd {
	t.Helper()
	w := crowd{client: here.sender(t), stranger: here.sender(t), from: there.sender(t), short: make(map[string]string)}
	here.createUser(t, w.account)
	for _, scope := range account.Scopes() {
		others := slices.DeleteFunc(account.Scopes(), func(s string) bool { return s == scope })
		w.short[scope] = w.colleague(others...).token
	}
	w.expired = w.expiredToken()
	return w
}

// expiredToken is one of the client's that was good until now.
func (c *client) expiredToken() string {
	c.Helper()
	value := strings.Repeat("expired-", 6)[:43]
	hash, now := sha256.Sum256([]byte(value)), time.Now().UTC().Truncate(time.Microsecond)
	token := account.TokenRecord{
		Hash: hash[:], ClientID: c.id, Secret: account.FirstSecret, AccountID: c.account,
		Scopes: account.Scopes(), IssuedAt: now, ExpiresAt: now,
	}
	if err := c.store.InTx(c.Context(), func(ctx context.Context) error { return c.store.Accounts().AddToken(ctx, token) }); err != nil {
		c.Fatal(err)
	}
	return value
}

// tryAll tries the endpoints that the document of the server has, and notes them.
func (w crowd) tryAll(tried map[string]bool) {
	for _, e := range w.endpoints() {
		tried[e] = true
		method, path, _ := strings.Cut(e, " ")
		asking, asks := tokenRows[e]
		proving, proves := clientRows[e]
		open, isOpen := openRows[e]
		w.Run(e, func(t *testing.T) {
			w := w.in(t)
			switch {
			case asks:
				w.try(method, path, asking)
			case proves:
				w.tryClients(path, proving)
			case isOpen:
				w.tryOpen(method, path, open)
			case e == "POST "+httpapi.NotificationPath:
				w.tryNotification()
			default:
				t.Error("there is no row about this endpoint")
			}
		})
	}
}

// in are the callers in a subtest.
func (w crowd) in(t *testing.T) crowd {
	w.client, w.stranger, w.from = w.client.in(t), w.stranger.in(t), w.from.in(t)
	return w
}

// endpoints are those in the document of the server, each a method and a path.
func (c *client) endpoints() (all []string) {
	c.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(c.call(http.MethodGet, "/openapi.json", nil).body, &document); err != nil {
		c.Fatal(err)
	}
	for path, operations := range document.Paths {
		for method := range operations {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(all)
	if len(all) < 15 {
		c.Fatalf("the document has %d endpoints", len(all))
	}
	return all
}

// try tries an endpoint that takes a token. The owner of what it is about comes last, and finds it as it was.
func (w crowd) try(method, template string, row tokenRow) {
	a := row.about(w.client)
	path := a.path(template)
	for name, test := range map[string]struct{ token, fault string }{
		"no token":                    {"", ""},
		"garbage":                     {strings.Repeat("x", 43), `, error="invalid_token"`},
		"an expired token":            {w.expired, `, error="invalid_token"`},
		"another environment's token": {w.from.token, `, error="invalid_token"`},
	} {
		w.Run(name, func(t *testing.T) {
			c := w.client.in(t)
			c.refuses(c.as(test.token, method, path, a.body), http.StatusUnauthorized, "Unauthorized", test.fault)
		})
	}
	stranger := w.stranger
	if row.scope == "" {
		stranger = stranger.colleague() // who has none, which is as good
	} else {
		answer := w.as(w.short[row.scope], method, path, a.body)
		w.refuses(answer, http.StatusForbidden, "Forbidden", `, error="insufficient_scope", scope="`+row.scope+`"`)
	}
	stranger.learnsNothing(method, template, a)
	if got := w.call(method, path, a.body); got.status != a.status {
		w.Errorf("the owner is answered %d, want %d: %.300s", got.status, a.status, got.body)
	}
}

// as makes a call with a token, or without one when it is empty.
func (c *client) as(token, method, path string, body any) answer {
	c.Helper()
	r := c.request(method, path, body)
	r.Header.Del("Authorization")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return c.send(r)
}

// refuses checks a refusal with its challenge (RFC 6750 3).
func (c *client) refuses(a answer, status int, title, fault string) {
	c.Helper()
	c.wantProblem(a, status, title)
	diff(c.T, "challenge", []string{`Bearer realm="innsigli"` + fault}, a.header.Values("WWW-Authenticate"))
}
