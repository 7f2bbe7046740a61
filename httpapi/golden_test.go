package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
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

// The services that answer with the errors of a call.
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

// text is the answer as the golden file has it. The length of the body is left out.
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

// Every error that the API answers with has the status, the headers and the body of version 1.
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

// sentences are the texts in the source of the package that make a problem or an OAuth error.
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

// literals are the strings in a node.
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

// keptKey is a service that keeps the idempotency key of a start.
type keptKey struct {
	refusingSigning
	key *signing.IdempotencyKey
}

func (k *keptKey) Start(_ context.Context, in signing.Start) (signing.Started, error) {
	k.key = in.Key
	return signing.Started{ID: "1"}, nil
}

// The fingerprint of a body is what version 1 stored with an idempotency key. So a request that is
// repeated after an update is known.
func TestGoldenFingerprint(t *testing.T) {
	service := &keptKey{refusingSigning: refusingSigning{uploading: func() {}}}
	call := failingCall{method: "POST", path: signingPath, body: aStart, header: http.Header{"Idempotency-Key": {"key"}}}
	w := httptest.NewRecorder()
	httpapi.New(httpapi.Config{Accounts: refusingAccounts{}, Signing: service}).ServeHTTP(w, call.request())
	if w.Code != http.StatusOK || service.key == nil {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	testenv.SameAsGolden(t, "testdata/fingerprint-1.golden", []byte(service.key.Fingerprint+"\n"))
}
