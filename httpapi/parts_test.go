package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// allParts is a configuration with every part that an environment has. Nothing calls them.
func allParts(isSandbox bool) httpapi.Config {
	c := httpapi.Config{
		BaseURL: "https://sign.example/innsigli", Accounts: (*account.Service)(nil), Signals: (*busysignal.Service)(nil), Signing: (*signing.Service)(nil),
		Webhooks: (*delivery.Service)(nil), Portal: (*portal.Service)(nil),
	}
	if isSandbox {
		c.Sandbox, c.TestCA = (*sandbox.Sandbox)(nil), (*sandbox.Sandbox)(nil)
	} else {
		c.Notifier, c.Notifications = (*audkenni.Provider)(nil), (*signing.Service)(nil)
	}
	return c
}

// A part of the API that is nil serves nothing: its paths are answered 404, those of the others are not, and nothing
// panics.
func TestPartsThatAreNil(t *testing.T) {
	parts := map[string]string{ // the paths that begin so are of a part
		"Signals": "/api/v1/signing/busy-signal", "Signing": "/api/v1/signing", "Webhooks": "/api/v1/portal/webhooks", "Portal": "/api/v1/portal/signing-processes",
		"Sandbox": "/api/v1/sandbox", "TestCA": "/tsa", "Notifier": httpapi.NotificationPath, "Notifications": httpapi.NotificationPath, "Accounts": "/api/v1",
	}
	fields := reflect.TypeFor[httpapi.Config]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		if fields.Field(i).Type.Kind() != reflect.Interface {
			continue
		}
		prefix := parts[name]
		if prefix == "" && name != "Reference" {
			t.Errorf("the test does not know %s", name)
			continue
		}
		whole := allParts(name != "Notifier" && name != "Notifications")
		paths := publishedPaths(t, httpapi.New(whole))
		without := whole
		reflect.ValueOf(&without).Elem().Field(i).SetZero()
		h := httpapi.New(without)
		left, gone := publishedPaths(t, h), 0
		for path := range paths {
			of := prefix != "" && strings.HasPrefix(path, prefix) && (name != "Signing" || path != parts["Signals"])
			if left[path] {
				if of {
					t.Errorf("without %s: %s exists", name, path)
				}
				continue
			}
			gone++
			if path == parts["Signals"] && name == "Signals" { // which is then one of a request to poll for
				continue
			}
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, httptest.NewRequest(method, strings.NewReplacer("{", "", "}", "").Replace(path), strings.NewReader("{}")))
				if answer.Code != http.StatusNotFound {
					t.Errorf("without %s: %s %s: %d", name, method, path, answer.Code)
				}
			}
		}
		if gone == 0 && prefix != "" {
			t.Errorf("without %s nothing is missing", name)
		}
	}
	for _, path := range []string{"/api/v1/portal/webhooks", "/.well-known/webhook-key.pub", "/.well-known/oauth-authorization-server/innsigli", "/ocsp/AA"} {
		answer := httptest.NewRecorder()
		httpapi.New(httpapi.Config{BaseURL: "https://sign.example/innsigli"}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != http.StatusNotFound {
			t.Errorf("with nothing: %s: %d", path, answer.Code)
		}
	}
}

// publishedPaths are those that the document of an API has.
func publishedPaths(t *testing.T, h http.Handler) map[string]bool {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var d struct{ Paths map[string]any }
	if err := json.Unmarshal(answer.Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]bool)
	for path := range d.Paths {
		all[path] = true
	}
	return all
}
