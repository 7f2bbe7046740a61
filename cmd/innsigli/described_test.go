package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/idp/audkenni"
	openapitest "github.com/innsigli/innsigli/internal/test/openapi"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// descriptions are the documents of a sandbox and of production, by which every answer to the clients of
// these tests is judged. They need no server: what is described is what is wired, whatever it does.
var descriptions = sync.OnceValue(func() []*openapitest.Document {
	both := httpapi.Config{
		Accounts: (*account.Service)(nil), Signals: (*busysignal.Service)(nil), Signing: (*signing.Service)(nil), Webhooks: (*delivery.Service)(nil),
		Portal: (*portal.Service)(nil),
	}
	inSandbox, inProduction := both, both
	inSandbox.Sandbox, inSandbox.TestCA = (*sandbox.Sandbox)(nil), (*sandbox.Sandbox)(nil)
	inProduction.Notifier, inProduction.Notifications = (*audkenni.Provider)(nil), (*signing.Service)(nil)
	var all []*openapitest.Document
	for _, c := range []httpapi.Config{inSandbox, inProduction} {
		answer := httptest.NewRecorder()
		httpapi.New(c).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
		d, err := openapitest.Parse(answer.Body.Bytes())
		if err != nil {
			panic(err)
		}
		all = append(all, d)
	}
	return all
})

// undescribed is what the documents have against answers to these tests, with what they have against
// events. Servers are asked by goroutines that outlive what they are about, so it is told when all tests have run.
var undescribed struct {
	mu  sync.Mutex
	all []error
}

func isUndescribed(err error) {
	undescribed.mu.Lock()
	defer undescribed.mu.Unlock()
	undescribed.all = append(undescribed.all, err)
}

// asDescribed judges what comes through a transport.
func asDescribed(next http.RoundTripper) http.RoundTripper {
	return openapitest.Transport(next, isUndescribed, descriptions()...)
}

// eventAsDescribed judges the body of a request to an endpoint.
func eventAsDescribed(body []byte) {
	if err := descriptions()[0].Event(body); err != nil {
		isUndescribed(fmt.Errorf("an event: %w\n%.500s", err, body))
	}
}

// described fails the tests when something was not as the documents have it.
func described(code int) int {
	undescribed.mu.Lock()
	defer undescribed.mu.Unlock()
	if err := errors.Join(undescribed.all...); err != nil {
		fmt.Fprintln(os.Stderr, "--- FAIL: not as /openapi.json describes it:", err)
		return max(code, 1)
	}
	return code
}

// What is judged here can fail.
func TestDescriptions(t *testing.T) {
	documents := descriptions()
	answer := openapitest.Answer{Method: http.MethodGet, Path: "/api/v1/sandbox/users", Status: http.StatusTeapot, Header: http.Header{}}
	if documents[0].Check(answer) == nil || documents[1].Check(answer) == nil {
		t.Error("an answer that is not described passes")
	}
	if documents[0].Event([]byte(`{"type":"webhook.ping","timestamp":"2026-03-02T10:00:00.000+00:00","data":{"more":1}}`)) == nil {
		t.Error("an event that is not described passes")
	}
}
