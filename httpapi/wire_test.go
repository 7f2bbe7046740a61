package httpapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
)

// spec 1.4: 405 names what the path takes. A HEAD is no GET: as a poll it
// would end the request.
func TestMethodThatAPathDoesNotTake(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	one := uuid.NewString()
	for path, allow := range map[string]string{
		"/api/v1/auth/token":                  "POST",
		"/api/v1/signing/busy-signal":         "POST",
		"/api/v1/signing":                     "POST",
		"/api/v1/signing/" + uuid.NewString(): "GET",
		users:                                 "GET, POST",
		users + "/" + uuid.NewString():        "PUT",
		webhooks:                              "GET, POST",
		webhooks + "/" + uuid.NewString():     "DELETE, GET, PUT",
		webhooks + "/x/activate":              "POST",
		webhooks + "/x/test":                  "POST",
		processes:                             "GET, POST",
		processes + "/" + one:                 "DELETE, GET",
		processes + "/" + one + "/document":   "GET",
		answers + one + "/participants/" + one + "/sign":    "POST",
		answers + one + "/participants/" + one + "/decline": "POST",
		"/.well-known/webhook-key.pub":                      "GET",
		"/problems/not-found":                               "GET",
		"/healthz":                                          "GET",
		"/readyz":                                           "GET",
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

// spec 1.1: a body without Content-Type is read as JSON, another type is 415.
func TestContentType(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.Scopes()...)
	id, hook := c.user(person), c.subscribe("https://hooks.example/")
	calls := []struct {
		method, path string
		body         any
		status       int
	}{
		{http.MethodPost, "/api/v1/signing", startBody(idpApp), http.StatusOK},
		{http.MethodPost, "/api/v1/signing/busy-signal", fields{}, http.StatusOK},
		{http.MethodPost, users, person, http.StatusUnprocessableEntity},
		{http.MethodPut, users + "/" + id, person, http.StatusNoContent},
		{http.MethodPut, webhooks + "/" + hook, fields{}, http.StatusOK},
		{http.MethodPost, webhooks, fields{}, http.StatusBadRequest},
		{http.MethodPost, webhooks + "/x/activate", fields{}, http.StatusNotFound},
		{http.MethodPost, webhooks + "/x/test", fields{}, http.StatusNotFound},
		{http.MethodPost, processes, fields{}, http.StatusBadRequest},
		{http.MethodPost, answers + "x/participants/x/sign", fields{}, http.StatusBadRequest},
		{http.MethodPost, answers + "x/participants/x/decline", fields{}, http.StatusNotFound},
	}
	for kind, taken := range map[string]bool{
		"": true, "application/json": true, "Application/JSON": true, "application/json; charset=utf-8": true, `application/json;charset="UTF-8"`: true, "application/json; charset=Utf-8": true,
		"text/plain": false, "text/json": false, "application/xml": false, "application/x-www-form-urlencoded": false, "multipart/form-data; boundary=x": false,
		"application/json; charset=iso-8859-1": false, "application/problem+json": false, "json": false, "application/json;;": false,
	} {
		t.Run(kind, func(t *testing.T) {
			c := c.in(t)
			for _, call := range calls {
				r := c.request(call.method, call.path, call.body)
				r.Header.Del("Content-Type")
				if kind != "" {
					r.Header.Set("Content-Type", kind)
				}
				a := c.send(r)
				if taken {
					diff(t, call.path, call.status, a.status)
					continue
				}
				c.wantProblem(a, http.StatusUnsupportedMediaType, "Unsupported media type")
			}
		})
	}
}

// spec 1.1: a POST that needs no body accepts none, whatever a client says of none.
func TestTypeOfNoBody(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.Scopes()...)
	for path, status := range map[string]int{
		"/api/v1/signing/busy-signal":        http.StatusOK,
		webhooks + "/x/activate":             http.StatusNotFound,
		webhooks + "/x/test":                 http.StatusNotFound,
		answers + "x/participants/x/decline": http.StatusNotFound,
		processes:                            http.StatusBadRequest, // which needs one
	} {
		r := c.request(http.MethodPost, path, nil)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded") // as curl does with -d ''
		diff(t, path, status, c.send(r).status)
	}
}

// What answers for itself: the operator's probes and the sandbox's root.
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
