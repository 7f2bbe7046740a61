package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	openapitest "github.com/innsigli/innsigli/internal/test/openapi"
)

// descriptions are the documents of the environments, by which every answer to a test is judged. They
// are read once: but for the address they are the same on all servers.
var descriptions struct {
	mu sync.Mutex
	of map[bool]*openapitest.Document // by whether it is production's
}

// described is the document of a server.
func described(t *testing.T, api http.Handler, w wiring) *openapitest.Document {
	t.Helper()
	descriptions.mu.Lock()
	defer descriptions.mu.Unlock()
	if d := descriptions.of[w.production]; d != nil {
		return d
	}
	answer := httptest.NewRecorder()
	api.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	d, err := openapitest.Parse(answer.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if descriptions.of == nil {
		descriptions.of = make(map[bool]*openapitest.Document)
	}
	descriptions.of[w.production] = d
	return d
}
