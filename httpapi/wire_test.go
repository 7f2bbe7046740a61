package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/storage"
)

// spec 1.4: 405 names the methods that the path accepts. A poll does not accept HEAD, which would end the request.
func TestMethodThatAPathDoesNotTake(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	one := uuid.NewString()
	for path, allow := range map[string]string{
		"/api/v1/auth/token":                  "POST",
		"/api/v1/signing/busy-signal":         "POST",
		"/api/v1/signing":                     "POST",
		"/api/v1/signing/" + uuid.NewString(): "GET",
		users:                                 "GET, HEAD, POST",
		users + "/" + uuid.NewString():        "PUT",
		webhooks:                              "GET, HEAD, POST",
		webhooks + "/" + uuid.NewString():     "DELETE, GET, HEAD, PUT",
		webhooks + "/x/activate":              "POST",
		webhooks + "/x/test":                  "POST",
		processes:                             "GET, HEAD, POST",
		processes + "/" + one:                 "DELETE, GET, HEAD",
		processes + "/" + one + "/document":   "GET, HEAD",
		answers + one + "/participants/" + one + "/sign":    "POST",
		answers + one + "/participants/" + one + "/decline": "POST",
		"/.well-known/webhook-key.pub":                      "GET, HEAD",
		"/problems/not-found":                               "GET, HEAD",
		"/healthz":                                          "GET, HEAD",
		"/readyz":                                           "GET, HEAD",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"} {
			if slices.Contains(strings.Split(allow, ", "), method) {
				continue
			}
			a := c.send(c.request(method, path, nil))
			diff(t, method+" "+path, []string{allow}, a.header.Values("Allow"))
			if method == "HEAD" {
				diff(t, method+" "+path, http.StatusMethodNotAllowed, a.status)
			} else {
				c.wantProblem(a, http.StatusMethodNotAllowed, "Method not allowed")
			}
		}
	}
}

func TestHEADEndsNothing(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	c.user(person)
	id := c.begin(startBody(idpSim))
	diff(t, "status", http.StatusMethodNotAllowed, c.send(c.request(http.MethodHead, "/api/v1/signing/"+id, nil)).status)
	c.signature(c.signed(c.poll(id)))
}

// TestHead checks that HEAD is answered with the status and the headers of GET, without the body (RFC 9110 9.3.2), for each
// path and for each caller.
func TestHead(t *testing.T) {
	t.Parallel()
	w := trial
	w.renderer = pdftest.Blank{}
	s := start(t, w)
	c := s.sender(t)
	c.user(person)
	hook, process := c.subscribe("https://hooks.example/"), pathOf(c.made(draft))
	stranger, short := s.client(t, account.Scopes()...), c.colleague(account.ScopeSignatures)
	paths := []string{
		users, webhooks, webhooks + "/" + hook, process, process + "/document", "/.well-known/webhook-key.pub", "/.well-known/oauth-authorization-server",
		"/.well-known/sandbox-root.pem", "/crl", "/crl/root", "/issuers.p7c", "/ocsp/AAAA", "/problems/not-found", "/problems/no-such-problem",
		"/healthz", "/readyz", "/openapi.json", "/nothing", webhooks + "/" + uuid.NewString(), processes + "/no-uuid/document",
	}
	for who, caller := range map[string]*client{"its own client": c, "a stranger": stranger, "without the scope": short} {
		for _, path := range paths {
			get, head := caller.send(caller.request(http.MethodGet, path, nil)), caller.send(caller.request(http.MethodHead, path, nil))
			length := get.header.Get("Content-Length")
			for _, h := range []http.Header{get.header, head.header} {
				h.Del("Date")
				if strings.HasPrefix(path, "/crl") { // signed anew for each request, by a signature that is not always as long
					h.Del("Content-Length")
				}
			}
			diff(t, who+": status of "+path, get.status, head.status)
			diff(t, who+": headers of "+path, get.header, head.header)
			if len(head.body) > 0 || length == "" {
				t.Errorf("%s: %s: a body of %d bytes, Content-Length of GET %q", who, path, len(head.body), length)
			}
		}
	}
	anyone := c.request(http.MethodHead, users, nil)
	anyone.Header.Del("Authorization")
	if a := c.send(anyone); a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != `Bearer realm="innsigli"` {
		t.Errorf("without a token: %d %v", a.status, a.header)
	}
}

// HEAD counts towards the rate of a client as GET does.
func TestHeadIsLimited(t *testing.T) {
	t.Parallel()
	bubble(t, wiring{limits: httpapi.Limits{Client: storage.Rate{PerSecond: 1, Burst: 2}}}, func(t *testing.T, s *server) {
		c := s.signer(t)
		for _, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
			a := c.send(c.request(http.MethodHead, users, nil))
			if a.status != want || (a.header.Get("Retry-After") != "") != (want == http.StatusTooManyRequests) {
				t.Errorf("%d %v, want %d", a.status, a.header, want)
			}
		}
	})
}

// unread has documents that can be opened but not read.
type unread struct{ httpapi.Portal }

func (u unread) Document(ctx context.Context, account, id string) (string, storage.Blob, error) {
	name, content, err := u.Portal.Document(ctx, account, id)
	return name, unreadBlob{content}, err
}

type unreadBlob struct{ storage.Blob }

func (unreadBlob) ReadAt([]byte, int64) (int, error) {
	return 0, errors.New("the document was read")
}

// HEAD does not read the document.
func TestHeadReadsNoDocument(t *testing.T) {
	t.Parallel()
	w := wiring{renderer: pdftest.Blank{}}
	w.portal = func(p httpapi.Portal) httpapi.Portal { return unread{p} }
	c := start(t, w).sender(t)
	path := pathOf(c.made(draft)) + "/document"
	if a := c.send(c.request(http.MethodHead, path, nil)); a.status != http.StatusOK || a.header.Get("Content-Length") == "" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

// spec 1.4 and 1.5.
func TestPathThatDoesNotExist(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	for _, path := range []string{
		"/", "/api", "/api/v1", "/api/v2/signing", "/api/v1/signing/", "/api/v1/signing//", "/api/v1//signing", "/api/v1/signing/./busy-signal",
		"/api/v1/signing/" + uuid.NewString() + "/document", "/api/v1/Signing", users + "/", webhooks + "/", webhooks + "/x/y", processes + "/", processes + "/x/y", processes + "/x/participants/x/sign", answers + "x", answers + "x/participants/x", "/problems/", "/api/v1/signing/..", "/api/v1/auth%2f%2ftoken",
	} {
		for _, method := range []string{"GET", "POST"} {
			t.Run(method+" "+path, func(t *testing.T) {
				c := c.in(t)
				c.wantProblem(c.send(c.request(method, path, nil)), http.StatusNotFound, "Not found")
			})
		}
	}
	c.wantProblem(c.send(c.request("GET", "/problems/no-such-problem", nil)), http.StatusNotFound, "Not found")
}

// The paths of probes and keys need no token.
func TestPathsWithoutAToken(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c := s.client(t)
	keys, err := s.hooks.PublicKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct{ kind, body string }{
		"/healthz":                      {"text/plain; charset=utf-8", "ok\n"},
		"/readyz":                       {"text/plain; charset=utf-8", "ready\n"},
		"/.well-known/webhook-key.pub":  {"text/plain; charset=utf-8", string(keys)},
		"/.well-known/sandbox-root.pem": {"application/x-pem-file", string(s.people.RootPEM())},
	} {
		r := c.request(http.MethodGet, path, nil)
		r.Header.Del("Authorization")
		a := c.send(r)
		diff(t, path, want.body, string(a.body))
		diff(t, path, want.kind, a.header.Get("Content-Type"))
		diff(t, path, http.StatusOK, a.status)
	}
}

// Over HTTP/2, an answer before the whole body was received is complete at once.
func TestEarlyAnswerOverHTTP2(t *testing.T) {
	t.Parallel()
	var handler http.Handler
	start(t, wiring{around: func(h http.Handler) http.Handler {
		handler = h
		return h
	}})
	s := httptest.NewUnstartedServer(handler)
	s.EnableHTTP2 = true
	s.Config.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 128 << 10} // so that not all of it is on its way
	s.StartTLS()
	defer s.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/v1/signing", bytes.NewReader(make([]byte, 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer garbage")
	r.Header.Set("Content-Type", "application/json")
	response, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.ProtoMajor != 2 || response.StatusCode != http.StatusUnauthorized || !bytes.Contains(content, []byte("Unauthorized")) {
		t.Errorf("%s %s: %s, %v", response.Proto, response.Status, content, err)
	}
}
