package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
)

func TestMain(m *testing.M) { postgrestest.Main(met{m}) }

// TestEveryEndpointAndWrongCallers calls every endpoint with credentials that do not suffice. Status and challenge
// must be right, and the answer must reveal nothing: a resource of another account does not exist for the caller
// (spec 1.7 and 2.3). An endpoint without a row fails the test.
func TestEveryEndpointAndWrongCallers(t *testing.T) {
	for name, store := range map[string]func(*testing.T) backend{"bolt": inFile, "postgres": inPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := wiring{store: store, renderer: pdftest.Blank{}, webhooks: trial.webhooks}
			sandbox := start(t, w)
			w.production = true
			production := start(t, w)
			tried := make(map[string]bool)
			t.Run("sandbox", func(t *testing.T) { newCallers(t, sandbox, production).tryAll(tried) })
			t.Run("production", func(t *testing.T) { newCallers(t, production, sandbox).tryAll(tried) })
			for _, row := range rows() {
				if !tried[row] {
					t.Errorf("%s has a row and does not exist", row)
				}
			}
		})
	}
}

// callers are the callers of an endpoint.
type callers struct {
	*client                            // who may do everything
	otherAccount     *client           // who may do as much, for another account
	otherEnvironment *client           // another environment
	expired          string            // a token of the client's
	withoutScope     map[string]string // tokens of the client's account that grant all scopes but one, by that
}

func newCallers(t *testing.T, here, there *server) callers {
	t.Helper()
	w := callers{client: here.sender(t), otherAccount: here.sender(t), otherEnvironment: there.sender(t), withoutScope: make(map[string]string)}
	here.createUser(t, w.account)
	for _, scope := range account.Scopes() {
		others := slices.DeleteFunc(account.Scopes(), func(s string) bool { return s == scope })
		w.withoutScope[scope] = w.colleague(others...).token
	}
	w.expired = w.expiredToken()
	return w
}

// expiredToken returns a token of the client that has just expired.
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

// tryAll tries all endpoints in the server's OpenAPI document, and records them.
func (w callers) tryAll(tried map[string]bool) {
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
				w.tryToken(method, path, asking)
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

// in returns the callers for a subtest.
func (w callers) in(t *testing.T) callers {
	w.client, w.otherAccount, w.otherEnvironment = w.client.in(t), w.otherAccount.in(t), w.otherEnvironment.in(t)
	return w
}

// endpoints returns the endpoints in the server's OpenAPI document, each as a method and a path.
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

// tryToken tries an endpoint that takes a token. The owner calls last, which shows that no other call had an effect.
func (w callers) tryToken(method, template string, row tokenRow) {
	a := row.about(w.client)
	path := a.path(template)
	for name, test := range map[string]struct{ token, fault string }{
		"no token":                    {"", ""},
		"garbage":                     {strings.Repeat("x", 43), `, error="invalid_token"`},
		"an expired token":            {w.expired, `, error="invalid_token"`},
		"another environment's token": {w.otherEnvironment.token, `, error="invalid_token"`},
	} {
		w.Run(name, func(t *testing.T) {
			c := w.client.in(t)
			c.wantChallenge(c.as(test.token, method, path, a.body), http.StatusUnauthorized, "Unauthorized", test.fault)
		})
	}
	stranger := w.otherAccount
	if row.scope == "" {
		stranger = stranger.colleague() // who has none, which is as good
	} else {
		answer := w.as(w.withoutScope[row.scope], method, path, a.body)
		w.wantChallenge(answer, http.StatusForbidden, "Forbidden", `, error="insufficient_scope", scope="`+row.scope+`"`)
	}
	stranger.wantLikeAbsent(method, template, a)
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

// wantChallenge checks a refused call and its challenge (RFC 6750 3).
func (c *client) wantChallenge(a answer, status int, title, fault string) {
	c.Helper()
	c.wantProblem(a, status, title)
	diff(c.T, "challenge", []string{`Bearer realm="innsigli"` + fault}, a.header.Values("WWW-Authenticate"))
}

// testCall describes a call.
type testCall struct {
	ids    map[string]string // in the path, by the names that they have in it
	body   any
	inBody string // an ID in the body
	status int    // that the owner is answered
}

func (a testCall) path(template string) string {
	for name, id := range a.ids {
		template = strings.ReplaceAll(template, "{"+name+"}", id)
	}
	return template
}

// isNew reports whether the call refers to no existing resource.
func (a testCall) isNew() bool { return len(a.all()) == 0 }

// all returns the IDs of the resources that the call refers to.
func (a testCall) all() []string {
	list := slices.Collect(maps.Values(a.ids))
	if a.inBody != "" {
		list = append(list, a.inBody)
	}
	return list
}

// with returns the call with another ID in the path.
func (a testCall) with(id string) testCall {
	a.ids = maps.Clone(a.ids)
	for name := range a.ids {
		a.ids[name] = id
	}
	return a
}

// ofAbsent returns the same call for resources that do not exist.
func (a testCall) ofAbsent(t *testing.T) testCall {
	t.Helper()
	a = a.with(uuid.NewString())
	if a.inBody != "" {
		encoded, err := json.Marshal(a.body)
		if err != nil {
			t.Fatal(err)
		}
		a.body = strings.ReplaceAll(string(encoded), a.inBody, uuid.NewString())
	}
	return a
}

// tokenRow is an endpoint that takes a token, with a valid call of its owner.
type tokenRow struct {
	scope string // empty: any token
	about func(owner *client) testCall
}

// always is a call that refers to no existing resource.
func always(status int, body any) func(*client) testCall {
	return func(*client) testCall { return testCall{status: status, body: body} }
}

// ofHook is a call for a subscription.
func ofHook(status int, body any) func(*client) testCall {
	return func(c *client) testCall {
		return testCall{ids: map[string]string{"subscriptionId": c.subscribed(newEndpoint(c.T))}, status: status, body: body}
	}
}

// ofProcess is a call for a process or a participant of it.
func ofProcess(status int, body any) func(*client) testCall {
	return func(c *client) testCall {
		p := c.made(draft)
		ids := map[string]string{"signingProcessId": p["signingProcessId"].(string), "participantId": participant(p, 0)["participantId"].(string)}
		return testCall{ids: ids, status: status, body: body}
	}
}

var tokenRows = map[string]tokenRow{
	"POST /api/v1/signing/busy-signal": {account.ScopeSignatures, always(http.StatusOK, nil)},
	"POST /api/v1/signing": {account.ScopeSignatures, func(c *client) testCall {
		signal := c.signal()
		return testCall{body: startBody(idpSim).with(fields{"busySignal.id": signal}), inBody: signal, status: http.StatusOK}
	}},
	"GET /api/v1/signing/{pollingId}": {account.ScopeSignatures, func(c *client) testCall {
		return testCall{ids: map[string]string{"pollingId": c.begin(startBody(idpSim))}, status: http.StatusOK}
	}},

	"POST /api/v1/portal/signing-processes":                                       {account.ScopePortalWrite, always(http.StatusCreated, draft)},
	"GET /api/v1/portal/signing-processes":                                        {account.ScopePortalRead, always(http.StatusOK, nil)},
	"GET /api/v1/portal/signing-processes/{signingProcessId}":                     {account.ScopePortalRead, ofProcess(http.StatusOK, nil)},
	"GET /api/v1/portal/signing-processes/{signingProcessId}/document":            {account.ScopePortalRead, ofProcess(http.StatusOK, nil)},
	"DELETE /api/v1/portal/signing-processes/{signingProcessId}":                  {account.ScopePortalWrite, ofProcess(http.StatusNoContent, nil)},
	"POST " + answers + "{signingProcessId}/participants/{participantId}/decline": {account.ScopePortalWrite, ofProcess(http.StatusNoContent, fields{"reason": "No."})},
	"POST " + answers + "{signingProcessId}/participants/{participantId}/sign": {account.ScopePortalWrite, func(c *client) testCall {
		a := ofProcess(http.StatusNoContent, nil)(c)
		a.inBody = c.user(fields{"fullName": "Jón Þórsson", "kennitala": "0202025559", "phone": "5550102"})
		a.body = fields{"sandboxUserId": a.inBody}
		return a
	}},

	"GET /api/v1/portal/webhooks":                            {account.ScopePortalRead, always(http.StatusOK, nil)},
	"POST /api/v1/portal/webhooks":                           {account.ScopePortalWrite, always(http.StatusCreated, newHook("https://hooks.example/"))},
	"GET /api/v1/portal/webhooks/{subscriptionId}":           {account.ScopePortalRead, ofHook(http.StatusOK, nil)},
	"PUT /api/v1/portal/webhooks/{subscriptionId}":           {account.ScopePortalWrite, ofHook(http.StatusOK, fields{"eventTypes": []string{"participant.signed"}})},
	"DELETE /api/v1/portal/webhooks/{subscriptionId}":        {account.ScopePortalWrite, ofHook(http.StatusNoContent, nil)},
	"POST /api/v1/portal/webhooks/{subscriptionId}/activate": {account.ScopePortalWrite, ofHook(http.StatusOK, nil)},
	"POST /api/v1/portal/webhooks/{subscriptionId}/test":     {account.ScopePortalWrite, ofHook(http.StatusNoContent, nil)},

	"GET " + users:  {"", always(http.StatusOK, nil)},
	"POST " + users: {"", always(http.StatusOK, fields{"fullName": "Anna", "kennitala": "0303035559", "phone": "5550103"})},
	"PUT " + users + "/{uuid}": {"", func(c *client) testCall {
		id := c.user(fields{"fullName": "Björg", "kennitala": "0404045559", "phone": "5550104"})
		return testCall{ids: map[string]string{"uuid": id}, body: fields{"fullName": "Björg Þórsdóttir"}, status: http.StatusNoContent}
	}},
}

// clientRow is an endpoint that takes a client's secret.
type clientRow struct {
	parameters func(*client) map[string]string
	// another returns the parameters of a client of another account that uses the owner's token. nil: the endpoint
	// takes no token as a parameter.
	another func(w callers, token string) url.Values
}

var clientRows = map[string]clientRow{
	"POST " + tokens: {parameters: func(*client) map[string]string { return map[string]string{"grant_type": "client_credentials"} }},
	"POST " + revocation: {
		parameters: func(c *client) map[string]string { return map[string]string{"token": "none"} },
		another:    func(w callers, token string) url.Values { return w.otherAccount.own("token", token) },
	},
}

// openRow is an endpoint that takes no token.
type openRow struct {
	kind, body string
	varies     bool // it tells the time
}

var openRows = map[string]openRow{
	"GET /.well-known/oauth-authorization-server": {},
	"GET /.well-known/sandbox-root.pem":           {},
	"GET /.well-known/webhook-key.pub":            {},
	"GET /crl":                                    {varies: true},
	"GET /crl/root":                               {varies: true},
	"GET /issuers.p7c":                            {},
	"GET /ocsp/{request}":                         {},
	"POST /ocsp":                                  {kind: "application/ocsp-request", body: "none"},
	"POST /tsa":                                   {kind: "application/timestamp-query", body: "none"},
	"GET /healthz":                                {},
	"GET /readyz":                                 {},
	"GET /openapi.json":                           {},
	"GET /problems/{name}":                        {},
}

// rows returns the endpoints that have a row.
func rows() []string {
	return slices.Concat(slices.Collect(maps.Keys(tokenRows)), slices.Collect(maps.Keys(clientRows)), slices.Collect(maps.Keys(openRows)))
}

// tryOpen tries an endpoint that takes no token. A token that is sent has no effect.
func (w callers) tryOpen(method, template string, row openRow) {
	ask := func(token string) answer {
		var body any
		if row.body != "" {
			body = row.body
		}
		r := w.request(method, strings.NewReplacer("{name}", "not-found", "{request}", "MAA=").Replace(template), body)
		r.Header.Del("Authorization")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if row.kind != "" {
			r.Header.Set("Content-Type", row.kind)
		}
		return w.send(r)
	}
	without := ask("")
	diff(w.T, "status", http.StatusOK, without.status)
	for _, token := range []string{w.token, w.expired, w.otherEnvironment.token, "garbage"} {
		with := ask(token)
		diff(w.T, "status", without.status, with.status)
		diff(w.T, "Content-Type", without.header.Get("Content-Type"), with.header.Get("Content-Type"))
		if !row.varies {
			diff(w.T, "body", string(without.body), string(with.body))
		}
	}
}

// tryClients tries an endpoint that authenticates clients by their secrets. The answer to a wrong secret does not
// reveal whether the client exists.
func (w callers) tryClients(path string, row clientRow) {
	proving := func(id, secret string) url.Values {
		parameters := url.Values{}
		for name, value := range row.parameters(w.client) {
			parameters.Set(name, value)
		}
		if id != "" {
			parameters.Set("client_id", id)
			parameters.Set("client_secret", secret)
		}
		return parameters
	}
	ask := func(token string, parameters url.Values) answer {
		r := w.request(http.MethodPost, path, parameters.Encode())
		r.Header.Set("Content-Type", formType)
		r.Header.Del("Authorization")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return w.send(r)
	}
	known := ask("", proving(w.id, "garbage"))
	for name, a := range map[string]answer{
		"no client":                    ask("", proving("", "")),
		"a token in its place":         ask(w.token, proving("", "")),
		"garbage":                      ask("", proving("garbage", "garbage")),
		"a wrong secret":               known,
		"another client's secret":      ask("", proving(w.id, w.otherAccount.secret)),
		"another environment's client": ask("", proving(w.otherEnvironment.id, w.otherEnvironment.secret)),
	} {
		w.Run(name, func(t *testing.T) {
			w.client.in(t).wantOAuthError(a, http.StatusUnauthorized, "invalid_client")
			if name != "no client" && name != "a token in its place" {
				diff(t, "body", string(known.body), string(a.body))
				diff(t, "header", known.fixedHeader(), a.fixedHeader())
			}
		})
	}
	if row.another != nil {
		theirs, unauthenticated := ask("", row.another(w, w.token)), ask("", row.another(w, "garbage"))
		diff(w.T, "status", unauthenticated.status, theirs.status)
		diff(w.T, "body", string(unauthenticated.body), string(theirs.body))
		diff(w.T, "header", unauthenticated.fixedHeader(), theirs.fixedHeader())
		diff(w.T, "status of a call with the token", http.StatusOK, w.call(http.MethodGet, webhooks, nil).status)
	}
	diff(w.T, "status of the owner's", http.StatusOK, ask("", proving(w.id, w.secret)).status)
}

// tryNotification tries the endpoint for notifications of the identity provider, which checks a secret of each
// conversation. The answer to a wrong secret does not reveal whether the conversation exists.
func (w callers) tryNotification() {
	w.wantChallenge(w.as("", http.MethodPost, httpapi.NotificationPath, "one"), http.StatusUnauthorized, "Unauthorized", "")
	unauthenticated := w.as("garbage", http.MethodPost, httpapi.NotificationPath, "another")
	w.wantProblem(unauthenticated, http.StatusNotFound, "Not found")
	for _, token := range []string{"garbage", w.token, w.expired, w.otherEnvironment.token} {
		a := w.as(token, http.MethodPost, httpapi.NotificationPath, "one")
		diff(w.T, "status", unauthenticated.status, a.status)
		diff(w.T, "body", string(unauthenticated.body), string(a.body))
		diff(w.T, "header", unauthenticated.fixedHeader(), a.fixedHeader())
	}
}

// wantLikeAbsent calls for another account. The answer must be the same, byte for byte, as for a resource that does
// not exist. A list is empty, and a created resource belongs to the caller.
func (c *client) wantLikeAbsent(method, template string, a testCall) {
	c.Helper()
	theirs := c.call(method, a.path(template), a.body)
	if a.isNew() {
		if method == http.MethodGet {
			empty := object{"items": []any{}}
			if template == processesPath { // which is paged
				empty["next"] = nil
			}
			c.want(theirs, http.StatusOK, empty)
		} else if theirs.status != a.status {
			c.Errorf("status %d, want %d: %.300s", theirs.status, a.status, theirs.body)
		}
		return
	}
	for _, id := range []string{"1", "%00", "%ff", strings.Repeat("a", 10_000)} {
		if len(a.ids) > 0 {
			c.wantProblem(c.call(method, a.with(id).path(template), a.body), http.StatusNotFound, "Not found")
		}
	}
	b := a.ofAbsent(c.T)
	unauthenticated := c.call(method, b.path(template), b.body)
	c.wantProblem(theirs, http.StatusNotFound, "Not found")
	diff(c.T, "body", string(unauthenticated.body), string(theirs.body))
	diff(c.T, "header", unauthenticated.fixedHeader(), theirs.fixedHeader())
	for _, id := range a.all() {
		if strings.Contains(string(theirs.body), id) {
			c.Errorf("the answer names %s: %s", id, theirs.body)
		}
	}
}

// fixedHeader returns the header without the date.
func (a answer) fixedHeader() http.Header {
	h := a.header.Clone()
	h.Del("Date")
	return h
}
