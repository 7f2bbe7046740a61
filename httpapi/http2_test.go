package httpapi_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Over HTTP/2 an answer that comes before the body was read is whole at once: nobody waits for the rest.
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
