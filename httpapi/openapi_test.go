package httpapi_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/idp/audkenni"
	openapitest "github.com/innsigli/innsigli/internal/test/openapi"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// openAPI is the part of the document that the tests read.
type openAPI struct {
	OpenAPI string
	Servers []struct{ URL string }
	Paths   map[string]map[string]struct {
		ID                   string `json:"operationId"`
		Summary, Description string
		Tags                 []string
		Parameters           []struct{ Name, In string }
		RequestBody          struct {
			Content map[string]struct {
				Examples map[string]struct{ Value any }
			}
		}
		Security  []map[string][]string
		Responses map[string]struct{ Description string }
	}
	Webhooks map[string]any
}

func documentOf(t *testing.T, s *server) (d openAPI, text []byte) {
	t.Helper()
	c := &client{T: t, server: s}
	a := c.call(http.MethodGet, "/openapi.json", nil)
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("status %d, %v", a.status, a.header)
	}
	resolved, err := openapitest.Resolve(a.body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(resolved, &d); err != nil {
		t.Fatal(err)
	}
	return d, a.body
}

// TestDocument checks that the document of each environment names the server, describes each operation, and has
// examples that match its schemas.
func TestDocument(t *testing.T) {
	t.Parallel()
	for name, production := range map[string]bool{"sandbox": false, "production": true} {
		t.Run(name, func(t *testing.T) {
			s := start(t, wiring{production: production})
			d, text := documentOf(t, s)
			diff(t, "version", "3.1.1", d.OpenAPI)
			diff(t, "server", s.url, d.Servers[0].URL)
			ids := make(map[string]bool)
			for path, methods := range d.Paths {
				for method, o := range methods {
					if ids[o.ID] || o.ID == "" || o.Summary == "" || o.Description == "" || len(o.Tags) != 1 || o.Tags[0] == "" {
						t.Errorf("%s %s is not described, or has the operationId of another: %+v", method, path, o)
					}
					ids[o.ID] = true
					for status, answer := range o.Responses {
						if answer.Description == "" {
							t.Errorf("%s %s: nothing is said of %s", method, path, status)
						}
					}
					var declared []string
					for _, p := range o.Parameters {
						if p.In == "path" {
							declared = append(declared, "{"+p.Name+"}")
						}
					}
					diff(t, "parameters of "+path, regexp.MustCompile(`{\w+}`).FindAllString(path, -1), declared)
				}
			}
			if err := openapitest.Examples(text); err != nil {
				t.Error(err)
			}
			diff(t, "webhooks", 4, len(d.Webhooks))
			c := &client{T: t, server: s}
			for _, kind := range regexp.MustCompile(`"type":"`+regexp.QuoteMeta(s.url)+`(/problems/[^"]+)"`).FindAllSubmatch(text, -1) {
				if page := c.call(http.MethodGet, string(kind[1]), nil); page.status != http.StatusOK {
					t.Errorf("the page of %s: %d", kind[1], page.status)
				}
			}
		})
	}
}

// The document of production has no sandbox paths, and all others (spec 7.1).
func TestDocumentOfProduction(t *testing.T) {
	t.Parallel()
	sandbox, _ := documentOf(t, start(t, wiring{}))
	production, text := documentOf(t, start(t, wiring{production: true}))
	for path := range production.Paths {
		if _, there := sandbox.Paths[path]; !there && path != httpapi.NotificationPath { // which real providers alone use
			t.Errorf("the sandbox does not have %s", path)
		}
	}
	for _, word := range []string{"/sandbox", "SandboxUser", "sandbox user", "sandbox's", "/ocsp", "/tsa"} {
		if strings.Contains(string(text), word) {
			t.Errorf("production's document has %s", word)
		}
	}
	var missing []string
	for path := range sandbox.Paths {
		if _, there := production.Paths[path]; !there {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	diff(t, "paths of the sandbox alone", []string{
		"/.well-known/sandbox-root.pem",
		"/api/v1/sandbox/portal/signing-processes/{signingProcessId}/participants/{participantId}/decline",
		"/api/v1/sandbox/portal/signing-processes/{signingProcessId}/participants/{participantId}/sign",
		"/api/v1/sandbox/users", "/api/v1/sandbox/users/{uuid}",
		"/crl", "/crl/root", "/issuers.p7c", "/ocsp", "/ocsp/{request}", "/tsa",
	}, missing)
}

// A client that has the document gets 304 (RFC 9110 13.1.2).
func TestDocumentThatIsKnown(t *testing.T) {
	t.Parallel()
	c := &client{T: t, server: start(t, wiring{})}
	tag := c.call(http.MethodGet, "/openapi.json", nil).header.Get("ETag")
	for known, status := range map[string]int{
		tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304,
		`"other"`: 200, strings.Trim(tag, `"`): 200, "": 200,
	} {
		r := c.request(http.MethodGet, "/openapi.json", nil)
		r.Header.Set("If-None-Match", known)
		a := c.send(r)
		if a.status != status || (status == 304) != (len(a.body) == 0) || a.header.Get("ETag") != tag {
			t.Errorf("If-None-Match: %s is answered %d with %d bytes", known, a.status, len(a.body))
		}
	}
}

// The examples of requests work in the sandbox.
func TestExamplesWork(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{renderer: pdftest.Blank{}})
	c := s.client(t, "api/signatures", "portal/read", "portal/write")
	d, _ := documentOf(t, s)
	examples := func(path, method string) map[string]struct{ Value any } {
		t.Helper()
		all := d.Paths[path][method].RequestBody.Content["application/json"].Examples
		if len(all) == 0 {
			t.Errorf("%s %s has no examples", method, path)
		}
		return all
	}
	for name, example := range examples("/api/v1/sandbox/users", "post") {
		if a := c.call(http.MethodPost, "/api/v1/sandbox/users", example.Value); a.status != http.StatusOK {
			t.Errorf("the user %s: %d %s", name, a.status, a.body)
		}
	}
	for name, example := range examples("/api/v1/signing", "post") {
		id := c.member(c.call(http.MethodPost, "/api/v1/signing", example.Value), "pollingId")
		a := c.call(http.MethodGet, "/api/v1/signing/"+id, nil)
		for a.status == http.StatusBadRequest && c.object(a)["errorCode"] == "AuthorizationPending" {
			a = c.call(http.MethodGet, "/api/v1/signing/"+id, nil)
		}
		if a.status != http.StatusOK {
			t.Errorf("the signature %s: %d %s", name, a.status, a.body)
		}
	}
	for path, status := range map[string]int{
		"/api/v1/portal/signing-processes": 201, "/api/v1/portal/webhooks": 201, "/api/v1/signing/busy-signal": 200,
	} {
		for name, example := range examples(path, "post") {
			if a := c.call(http.MethodPost, path, example.Value); a.status != status {
				t.Errorf("%s with the example %s: %d %s", path, name, a.status, a.body)
			}
		}
	}
}

// Each operation that is served is described with its scope, and each that is described is served.
func TestDescribedOperations(t *testing.T) {
	t.Parallel()
	trial := allParts(false)
	trial.TestCA = (*sandbox.Sandbox)(nil)
	for name, c := range map[string]httpapi.Config{"sandbox": allParts(true), "production": allParts(false), "trial": trial} {
		answer := httptest.NewRecorder()
		httpapi.New(c).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
		var d openAPI
		if err := json.Unmarshal(answer.Body.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		described := make(map[string]string)
		for path, methods := range d.Paths {
			for method, o := range methods {
				scope := "none"
				if len(o.Security) > 0 {
					scope = cmp.Or(strings.Join(o.Security[0]["clientCredentials"], " "), "any")
				}
				described[strings.ToUpper(method)+" "+path] = scope
			}
		}
		diff(t, "operations of "+name+" as served, and as described", httpapi.Routes(c), described)
	}
}

// The document explains each problem with the text of its page.
func TestDescribedProblems(t *testing.T) {
	t.Parallel()
	d, _ := documentOf(t, start(t, wiring{}))
	explained := httpapi.Explanations()
	problem, seen := regexp.MustCompile(`\*\*(.+?)\*\* (.+)`), map[string]bool{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			for status, r := range o.Responses {
				for paragraph := range strings.SplitSeq(r.Description, "\n\n") {
					m := problem.FindStringSubmatch(strings.ReplaceAll(paragraph, "\n", " "))
					if m == nil {
						continue
					}
					seen[m[1]] = true
					if explained[m[1]] != m[2] {
						t.Errorf("%s %s %s: %q is explained as\n%s\nand its page says\n%s", method, path, status, m[1], m[2], explained[m[1]])
					}
				}
			}
		}
	}
	for title := range explained {
		if !seen[title] && title != "Method not allowed" { // which no operation answers
			t.Errorf("the document says nothing of %q", title)
		}
	}
}

// allParts returns a configuration with all services of an environment, which must not be called.
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

// The paths of a service that is nil are answered 404, other paths are not, and nothing panics.
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

// publishedPaths returns the paths in the document of an API.
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

// TestWarningCodes checks that the document has the codes of warnings that an account can refuse: those of the document, not of
// the signing page (spec 3.12).
func TestWarningCodes(t *testing.T) {
	_, text := documentOf(t, start(t, wiring{}))
	var d struct {
		Components struct {
			Schemas struct {
				DocumentWarning struct {
					Properties struct {
						Code struct{ Enum []inspect.Code }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(inspect.Codes(), func(c inspect.Code) bool { return c == inspect.PageNotShown })
	diff(t, "codes", want, d.Components.Schemas.DocumentWarning.Properties.Code.Enum)
}
