package ciba_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp/ciba"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// The provider tells that there is news, and only then is it asked.
func TestPing(t *testing.T) {
	type ping struct{ token, id string }
	pings := make(chan ping, 1)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, id, err := ciba.ReadNotification(r)
		if err != nil {
			t.Error(err)
		}
		pings <- ping{token, id}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer receiver.Close()
	authority := filepath.Join(t.TempDir(), "receiver.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NODE_EXTRA_CA_CERTS", authority) // the provider's
	_, c := connect(t, openidtest.Options{Notify: receiver.URL}, nil)
	request := appAuth()
	request.Ping = "8d67dc78-7faa-4d41-aabd-67707b374255"
	asked := ask(t, c, request)
	if got, _ := testenv.Receive(t, "a ping", pings); got != (ping{request.Ping, asked.ID}) {
		t.Errorf("the ping is %v, the request %q", got, asked.ID)
	}
	tokens, err := c.Tokens(t.Context(), asked.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Claims(t.Context(), tokens); err != nil {
		t.Error(err)
	}
}

func TestReadNotification(t *testing.T) {
	const body = `{"auth_req_id":"1c266114-a1be-4252-8ad1-04986c5b9ac1"}`
	for name, test := range map[string]struct {
		method, authorization, body string
		ok                          bool
	}{
		"as in CIBA Core 10.2":      {"POST", "Bearer 8d67dc78", body, true},
		"another scheme's case":     {"POST", "bearer 8d67dc78", body, true},
		"GET":                       {"GET", "Bearer 8d67dc78", body, false},
		"no token":                  {"POST", "", body, false},
		"an empty token":            {"POST", "Bearer ", body, false},
		"a token with a space":      {"POST", "Bearer 8d67 dc78", body, false},
		"Basic":                     {"POST", "Basic OGQ2N2RjNzg=", body, false},
		"no body":                   {"POST", "Bearer 8d67dc78", "", false},
		"no JSON":                   {"POST", "Bearer 8d67dc78", "auth_req_id=1", false},
		"no auth_req_id":            {"POST", "Bearer 8d67dc78", `{}`, false},
		"an auth_req_id of a line":  {"POST", "Bearer 8d67dc78", `{"auth_req_id":"a\nb"}`, false},
		"an auth_req_id too long":   {"POST", "Bearer 8d67dc78", `{"auth_req_id":"` + strings.Repeat("a", 20<<10) + `"}`, false},
		"an auth_req_id, no string": {"POST", "Bearer 8d67dc78", `{"auth_req_id":1}`, false},
		"a large body":              {"POST", "Bearer 8d67dc78", body + strings.Repeat(" ", 64<<10), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, "/", strings.NewReader(test.body))
			r.Header.Set("Authorization", test.authorization)
			token, id, err := ciba.ReadNotification(r)
			switch {
			case test.ok && (err != nil || token != "8d67dc78" || id != "1c266114-a1be-4252-8ad1-04986c5b9ac1"):
				t.Errorf("%q, %q, %v", token, id, err)
			case !test.ok && !errors.Is(err, ciba.ErrNotification):
				t.Errorf("%q, %q, %v", token, id, err)
			}
		})
	}
}
