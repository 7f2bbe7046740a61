package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

const goldenProblems = "testdata/problems-1.golden"

// failingCall is a request that the API answers with an error.
type failingCall struct {
	name   string // in the golden file
	method string
	path   string
	body   string
	header http.Header // beside an access token and the type of the body, unless it has others
	scopes []string    // of the caller; nil: all
	caller error       // that the caller's access token leads to
	err    error       // that all services answer with
	poll   signing.Answer
	limits httpapi.Limits
	breaks bool // the body breaks off
	// The request is sent twice, and the second answer counts.
	again     bool // the second request is sent after the first was answered
	meanwhile bool // the second request is sent while the document of the first comes
}

// Services that return the error of a call.
type (
	refusingAccounts struct{ failingCall }
	refusingSigning  struct {
		httpapi.Signing
		failingCall
		uploading func() // is called when a document comes
	}
	refusingPortal struct {
		httpapi.Portal
		failingCall
	}
	refusingWebhooks struct {
		httpapi.Webhooks
		failingCall
	}
	refusingNotifier      struct{ failingCall }
	refusingTestCA        struct{ httpapi.TestCA }
	refusingUsers         struct{ httpapi.SandboxUsers }
	refusingNotifications struct{}
)

func (c refusingAccounts) Issue(context.Context, string, string, []string) (account.Token, error) {
	return account.Token{}, c.err
}

func (c refusingAccounts) Revoke(context.Context, string, string, string) error { return c.err }

func (c refusingAccounts) Authenticate(context.Context, string) (account.Caller, error) {
	scopes := c.scopes
	if scopes == nil {
		scopes = account.Scopes()
	}
	return account.Caller{AccountID: "account", ClientID: "client", Scopes: scopes}, c.caller
}

func (c refusingSigning) Upload(_ context.Context, r io.Reader, _ int64) (string, error) {
	c.uploading()
	_, err := io.Copy(io.Discard, r)
	return "document", err
}

func (c refusingSigning) Discard(context.Context, string) error { return nil }

func (c refusingSigning) Start(context.Context, signing.Start) (signing.Started, error) {
	return signing.Started{}, c.err
}

func (c refusingSigning) Poll(_ context.Context, _, _ string, answer func(signing.Answer) error) error {
	return answer(c.poll)
}

func (c refusingPortal) Create(context.Context, portal.Draft) (portal.ProcessView, error) {
	return portal.ProcessView{}, c.err
}

func (c refusingPortal) SignAs(context.Context, string, string, string, string) error { return c.err }

func (c refusingWebhooks) Validate(*string, []string) error { return nil }

func (c refusingWebhooks) Activate(context.Context, string, string) (delivery.Subscription, error) {
	return delivery.Subscription{}, c.err
}

func (c refusingWebhooks) Test(context.Context, string, string) error { return c.err }

func (c refusingNotifier) Notification(*http.Request) (string, func(idp.State) bool, error) {
	return "", nil, c.err
}

func (refusingNotifications) Notified(context.Context, string, func(idp.State) bool) error {
	return nil
}

// answer returns the answer to the call.
func (c failingCall) answer() *httptest.ResponseRecorder {
	uploading := func() {}
	handler := httpapi.New(httpapi.Config{
		BaseURL: "https://sign.example", Limits: c.limits,
		Address:  func(*http.Request) netip.Addr { return netip.MustParseAddr("203.0.113.1") },
		Accounts: refusingAccounts{c}, Portal: refusingPortal{failingCall: c}, Webhooks: refusingWebhooks{failingCall: c},
		Signing:  refusingSigning{failingCall: c, uploading: func() { uploading() }},
		Notifier: refusingNotifier{c}, Notifications: refusingNotifications{}, Sandbox: refusingUsers{}, TestCA: refusingTestCA{},
		Ready: func(context.Context) error { return c.err },
	})
	send := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, c.request())
		return w
	}
	var answer *httptest.ResponseRecorder
	switch {
	case c.again:
		send()
	case c.meanwhile:
		uploading = func() {
			uploading = func() {}
			answer = send()
		}
		send()
		return answer
	}
	return send()
}

// request is the request of the call.
func (c failingCall) request() *http.Request {
	var body io.Reader = strings.NewReader(c.body)
	if c.breaks {
		body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	r := httptest.NewRequest(c.method, c.path, body)
	r.Header = http.Header{"Authorization": {"Bearer token"}, "Content-Type": {"application/json"}}
	maps.Copy(r.Header, c.header)
	return r
}

// text returns the answer as the golden file has it, without the Content-Length.
func (c failingCall) text() string {
	w := c.answer()
	var text strings.Builder
	fmt.Fprintf(&text, "### %s\nHTTP %d\n", c.name, w.Code)
	for _, name := range slices.Sorted(maps.Keys(w.Header())) {
		if name != "Content-Length" {
			fmt.Fprintf(&text, "%s: %s\n", name, strings.Join(w.Header()[name], ", "))
		}
	}
	return text.String() + "\n" + w.Body.String() + "\n\n"
}

// TestGoldenProblems checks the status, the headers and the body of every error.
func TestGoldenProblems(t *testing.T) {
	var texts []string
	synctest.Test(t, func(t *testing.T) {
		for _, c := range slices.Concat(mappedErrors(), callerErrors, bodyErrors(), serviceErrors, tokenErrors(), failureErrors()) {
			texts = append(texts, c.text())
		}
	})
	slices.Sort(texts)
	content := string(testenv.SameAsGolden(t, goldenProblems, []byte(strings.Join(texts, ""))))
	for _, sentence := range sentences(t) {
		encoded, err := json.Marshal(sentence)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(content, strings.Trim(string(encoded), `"`)) {
			t.Errorf("no answer in %s says %q", goldenProblems, sentence)
		}
	}
}

// makers are the functions and types of the package that make problems and OAuth errors.
var makers = []string{"titledError", "badRequest", "notFoundError", "unreadable", "problem", "oauthError", "invalidRequest"}

// sentences returns the strings in the source of the package that make a problem or an OAuth error.
func sentences(t *testing.T) (all []string) {
	t.Helper()
	found := make(map[string]bool) // of the makers
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if maker := makerOf(n); slices.Contains(makers, maker) {
				found[maker] = true
				all = append(all, literals(t, n)...)
			}
			return true
		})
	}
	if len(found) != len(makers) {
		t.Errorf("of %v the source has only %v", makers, found)
	}
	return all
}

// makerOf returns the name of the function or type that a node calls or makes a value of; "" when there
// is none.
func makerOf(n ast.Node) string {
	var name *ast.Ident
	switch n := n.(type) {
	case *ast.CallExpr:
		name, _ = n.Fun.(*ast.Ident)
	case *ast.CompositeLit:
		name, _ = n.Type.(*ast.Ident)
	}
	if name == nil {
		return ""
	}
	return name.Name
}

// literals returns the strings in a node.
func literals(t *testing.T, node ast.Node) (all []string) {
	t.Helper()
	ast.Inspect(node, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Error(err)
			}
			all = append(all, text)
		}
		return true
	})
	return all
}

// keyRecorder records the idempotency key of a start.
type keyRecorder struct {
	refusingSigning
	key *signing.IdempotencyKey
}

func (k *keyRecorder) Start(_ context.Context, in signing.Start) (signing.Started, error) {
	k.key = in.Key
	return signing.Started{ID: "1"}, nil
}

// TestGoldenFingerprint checks that the fingerprint of a body is the one that version 1 stored with an idempotency
// key, so that a request that is repeated after an upgrade is recognized.
func TestGoldenFingerprint(t *testing.T) {
	service := &keyRecorder{refusingSigning: refusingSigning{uploading: func() {}}}
	call := failingCall{method: "POST", path: signingPath, body: aStart, header: http.Header{"Idempotency-Key": {"key"}}}
	w := httptest.NewRecorder()
	httpapi.New(httpapi.Config{Accounts: refusingAccounts{}, Signing: service}).ServeHTTP(w, call.request())
	if w.Code != http.StatusOK || service.key == nil {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	testenv.SameAsGolden(t, "testdata/fingerprint-1.golden", []byte(service.key.Fingerprint+"\n"))
}

const (
	signingPath   = "/api/v1/signing"
	processesPath = "/api/v1/portal/signing-processes"
	aStart        = `{"file":{"name":"a.pdf","type":"Pdf","contentB64":"UERG"},"signer":{"signingMethod":"IdpApp","kennitala":"0101302989"}}`
	aStamp        = `{"file":{"name":"a.pdf","type":"Pdf","contentB64":"UERG"},"signer":{"signingMethod":"IdpApp","kennitala":"0101302989"},"signatureImage":{"alignment":"TopLeft","originX":1,"originY":1}}`
	aProcess      = `{"file":{"name":"a.pdf","contentBase64":"UERG"},"signatureLocation":"TopLeft","participants":[{"name":"Jóna Prófdóttir","email":"jona@example.com","role":"Signer"}]}`
)

// subjects are the subjects of the errors of a package, by the prefix of their texts. The golden file has the
// subjects, so that a package can be renamed.
var subjects = map[string]string{
	"ades": "document", "busysignal": "busy signal", "http": "body", "httpapi": "body", "jsonbody": "JSON", "pades": "PDF", "portal": "process", "process": "process", "sandbox": "sandbox user",
	"signing": "request", "stamp": "stamp", "storage": "store", "test": "test", "webhook": "webhook",
}

// mappedErrors returns a call for each error in the table, and for each type of error that carries details.
func mappedErrors() (all []failingCall) {
	user := "case <4711>"
	for _, err := range append(httpapi.MappedErrors(), errors.New("test: an error that is not known"),
		&http.MaxBytesError{Limit: 1}, &jsonbody.SyntaxError{Path: "signer.phone", Message: "Is there twice."},
		&delivery.InvalidError{Faults: []delivery.Fault{{Field: "url", Message: "Is no URL."}, {Field: "url", Message: "Is too long."}}},
		&portal.InvalidError{Faults: []portal.Fault{{Field: "participants[1].email", Message: "Is no address."}}},
		&busysignal.HeldError{}, &busysignal.HeldError{UserID: &user}) {
		of, says, _ := strings.Cut(err.Error(), ": ")
		all = append(all, failingCall{name: "error of " + subjects[of] + ": " + says, method: "GET", path: signingPath + "/1", caller: err})
	}
	return all
}

// callerErrors depend on the caller and the path.
var callerErrors = []failingCall{
	{name: "caller: no token", method: "GET", path: webhooks, header: http.Header{"Authorization": {""}}},
	{name: "caller: bad token", method: "GET", path: webhooks, caller: account.ErrInvalidToken},
	{name: "caller: two tokens", method: "GET", path: webhooks + "?access_token=1"},
	{name: "caller: no scope to sign", method: "POST", path: signingPath, scopes: []string{}},
	{name: "caller: no scope to read", method: "GET", path: webhooks, scopes: []string{}},
	{name: "caller: no scope to write", method: "POST", path: webhooks, scopes: []string{}},
	{name: "caller: too often", method: "GET", path: webhooks, scopes: []string{}, limits: httpapi.Limits{Client: storage.Rate{PerSecond: 1, Burst: 1}}, again: true},
	{name: "address: too often", method: "POST", path: tokens, limits: httpapi.Limits{Address: storage.Rate{PerSecond: 1, Burst: 1}}, again: true},
	{name: "address: too often with bad tokens", method: "GET", path: webhooks, caller: account.ErrInvalidToken, limits: httpapi.Limits{Address: storage.Rate{PerSecond: 1, Burst: 1}}, again: true},
	{name: "path: none", method: "GET", path: "/api/v2"},
	{name: "path: other methods", method: "PATCH", path: webhooks + "/1"},
	{name: "path: no problem", method: "GET", path: "/problems/none"},
}

// bodyErrors depend on the body.
func bodyErrors() []failingCall {
	text := http.Header{"Content-Type": {"text/plain"}}
	return []failingCall{
		{name: "body: no JSON", method: "POST", path: webhooks, body: "{}", header: text},
		{name: "body: no OCSP request", method: "POST", path: "/ocsp", body: "{}", header: text},
		{name: "body: no query for a timestamp", method: "POST", path: "/tsa", body: "{}", header: text},
		{name: "body: no parameters", method: "POST", path: tokens, body: "{}", header: text},
		{name: "body: too large", method: "POST", path: webhooks, body: strings.Repeat(" ", 1<<20+1)},
		{name: "body: cut off", method: "POST", path: webhooks, body: "{"},
		{name: "body: a member twice", method: "POST", path: webhooks, body: `{"url":"","url":""}`},
		{name: "body: wrong types", method: "PUT", path: webhooks + "/1", body: `{"url":1,"eventTypes":{},"isActive":"yes"}`},
		{name: "body: empty start", method: "POST", path: signingPath, body: "{}"},
		{name: "body: empty process", method: "POST", path: processesPath, body: "{}"},
		{name: "body: empty webhook", method: "POST", path: webhooks, body: "{}"},
		{name: "body: empty user", method: "POST", path: users, body: "{}"},
		{name: "body: bad idempotency key", method: "POST", path: signingPath, body: "{}", header: http.Header{"Idempotency-Key": {`"`}}},
	}
}

// serviceErrors are errors of services that are not in the tables.
var serviceErrors = []failingCall{
	{name: "start: a stamp outside", method: "POST", path: signingPath, body: aStamp, err: pades.ErrRect},
	{name: "start: no room in time", method: "POST", path: signingPath, body: aStart, limits: httpapi.Limits{Documents: 2}, meanwhile: true, err: signing.ErrFinished},
	{name: "start: too often", method: "POST", path: signingPath, body: aStart, err: fmt.Errorf("signing: %w", &idp.TooManyRequestsError{RetryAfter: 90*time.Second + 1, Err: errors.New("test: a limit")})},
	{name: "process: encrypted", method: "POST", path: processesPath, body: aProcess, err: pades.ErrEncrypted},
	{name: "process: refused", method: "POST", path: processesPath, body: aProcess, err: &inspect.RefusedError{Codes: []inspect.Code{inspect.JavaScript, inspect.XFA}}},
	{name: "participant: none", method: "POST", path: "/api/v1/sandbox/portal/signing-processes/1/participants/1/sign", body: `{"sandboxUserId":"0f8fad5b-d9cb-469f-a165-70867728950e"}`, err: portal.ErrNotFound},
	{name: "activation: signed ping", method: "POST", path: webhooks + "/1/activate", err: &delivery.EndpointError{Failed: delivery.SignedPing, Detail: "What the endpoint did."}},
	{name: "activation: unverifiable ping", method: "POST", path: webhooks + "/1/activate", err: &delivery.EndpointError{Failed: delivery.UnverifiablePing, Detail: "What the endpoint did."}},
	{name: "activation: unreachable", method: "POST", path: webhooks + "/1/activate", err: &delivery.EndpointError{Failed: delivery.Unreachable, Detail: "What the endpoint did."}},
	{name: "test of a webhook", method: "POST", path: webhooks + "/1/test", err: &delivery.EndpointError{Detail: "What the endpoint did."}},
	{name: "notification: not authentic", method: "POST", path: httpapi.NotificationPath, err: errors.New("test: not authentic")},
	{name: "notification: too large", method: "POST", path: httpapi.NotificationPath, err: &http.MaxBytesError{Limit: 1}},
	{name: "server: not ready", method: "GET", path: "/readyz", err: storage.ErrUnavailable},
}

// failureErrors have each code that a start or a poll fails with (spec 3.7).
func failureErrors() (all []failingCall) {
	for _, code := range idp.ErrorCodes() {
		failure := idp.Failure{Code: code, OAuth: "access_denied", Description: "audkenni_500 <\"&\">"}
		all = append(all, failingCall{name: "poll: " + string(code), method: "GET", path: signingPath + "/1", poll: signing.Answer{Failure: failure, Code: "0042"}})
	}
	return append(all,
		failingCall{name: "poll: no code", method: "GET", path: signingPath + "/1"},
		failingCall{name: "start: refused", method: "POST", path: signingPath, body: aStart, err: &signing.Refusal{Failure: idp.Failure{Code: idp.UserNotFound, OAuth: "access_denied", Description: "audkenni_404"}}})
}

// tokenErrors are about tokens (RFC 6749 5.2).
func tokenErrors() []failingCall {
	const client, grant = "client_id=client&client_secret=secret", "&grant_type=client_credentials"
	form := func(name, path, body, authorization string, err error) failingCall {
		return failingCall{name: "token: " + name, method: "POST", path: path, body: body, err: err, header: http.Header{"Content-Type": {formType}, "Authorization": {authorization}}}
	}
	return []failingCall{
		{name: "token: JSON with another type", method: "POST", path: tokens, body: `{"grant_type":1}`},
		{name: "token: no JSON", method: "POST", path: tokens, body: "{"},
		{name: "token: broken off", method: "POST", path: tokens, body: "{", breaks: true},
		form("in the address", tokens+"?client_id=client", client+grant, "", nil),
		form("not form-encoded", tokens, "%", "", nil),
		form("a parameter twice", tokens, client+"&scope=a&scope=b", "", nil),
		form("control characters", tokens, client+"&scope=%00", "", nil),
		form("no client", tokens, "grant_type=client_credentials", "", nil),
		form("two clients", tokens, client+grant, "Basic Y2xpZW50OnNlY3JldA==", nil),
		form("not Basic", tokens, "grant_type=client_credentials", "Digest 1", nil),
		form("client not form-encoded", tokens, "grant_type=client_credentials", "Basic JTo=", nil),
		form("no grant", tokens, client, "", nil),
		form("another grant", tokens, client+"&grant_type=password", "", nil),
		form("wrong client", tokens, client+grant, "", account.ErrInvalidClient),
		form("wrong scope", tokens, client+grant, "", account.ErrInvalidScope),
		form("revocation without a token", revocation, client, "", nil),
		form("revocation by a wrong client", revocation, client+"&token=1", "", account.ErrInvalidClient),
		form("revocation by another client", revocation, client+"&token=1", "", account.ErrOtherClient),
		form("store", tokens, client+grant, "", storage.ErrUnavailable),
	}
}

// TestEachTitleHasAPage checks that the type of each problem leads to a page with the title as its heading (spec 1.4), and
// that no two titles share a page. TestGoldenProblems shows that the golden file has every title in the source.
func TestEachTitleHasAPage(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile(goldenProblems)
	if err != nil {
		t.Fatal(err)
	}
	api, pages := httpapi.New(httpapi.Config{BaseURL: "https://sign.example"}), map[string]string{}
	for _, found := range regexp.MustCompile(`{"type":"https://sign.example(/problems/[^"]+)","title":"([^"]+)"`).FindAllSubmatch(golden, -1) {
		path, title := string(found[1]), string(found[2])
		if other, taken := pages[path]; taken && other != title {
			t.Errorf("%q and %q share the page %s", other, title, path)
		}
		pages[path] = title
	}
	for path, title := range pages {
		a := httptest.NewRecorder()
		api.ServeHTTP(a, httptest.NewRequest(http.MethodGet, path, nil))
		if page := a.Body.String(); a.Code != http.StatusOK || !strings.Contains(page, "<h1>"+title+"</h1>") || strings.Contains(page, "<p></p>") {
			t.Errorf("the page of %q answers %d, or has another heading, or no text", title, a.Code)
		}
	}
	diff(t, "number of titles with an explanation", len(httpapi.Explanations()), len(pages))
}
