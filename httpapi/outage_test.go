package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/storage"
)

// Every call says that the store cannot be reached, or that it is full, and goes on as if
// nothing had been when that is over.
func TestStoreThatFails(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{breaks: true, renderer: blank{}}) // the server may say that it failed
	c := s.sender(t)
	user := c.user(person)
	made := c.made(draft)
	hook := c.subscribe("https://hooks.example/")
	polled := c.begin(startBody(idpSim))
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id}, "client_secret": {c.secret}}
	calls := map[string]func(*client) answer{
		"token":       func(c *client) answer { return c.form(form) },
		"busy signal": func(c *client) answer { return c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil) },
		"start":       func(c *client) answer { return c.call(http.MethodPost, "/api/v1/signing", startBody(idpApp)) },
		"poll":        func(c *client) answer { return c.poll(polled) },
		"make a user": func(c *client) answer {
			return c.call(http.MethodPost, users, person.with(fields{"kennitala": "0101302990", "phone": "5550102"}))
		},
		"make a webhook": func(c *client) answer { return c.call(http.MethodPost, webhooks, newHook("https://hooks.example/")) },
		"change a webhook": func(c *client) answer {
			return c.call(http.MethodPut, webhooks+"/"+hook, fields{"isActive": false})
		},
		"make a process":            func(c *client) answer { return c.create(draft) },
		"make a process with a key": func(c *client) answer { return c.createWithKey("the contract", draft) },
		"read a process":            func(c *client) answer { return c.call(http.MethodGet, pathOf(made), nil) },
		"read its document":         func(c *client) answer { return c.call(http.MethodGet, pathOf(made)+"/document", nil) },
		"delete a process":          func(c *client) answer { return c.call(http.MethodDelete, pathOf(made), nil) },
		"sign in a process":         func(c *client) answer { return c.signAs(made, 0, user) },
		"decline in a process":      func(c *client) answer { return c.declineAs(made, 0, nil) },
		"list the webhooks":         func(c *client) answer { return c.call(http.MethodGet, webhooks, nil) },
		"read a webhook":            func(c *client) answer { return c.call(http.MethodGet, webhooks+"/"+hook, nil) },
		"list the users":            func(c *client) answer { return c.call(http.MethodGet, users, nil) },
		"/readyz":                   func(c *client) answer { return c.call(http.MethodGet, "/readyz", nil) },
		"/healthz":                  func(c *client) answer { return c.call(http.MethodGet, "/healthz", nil) },
		"the test authority":        func(c *client) answer { return c.call(http.MethodGet, "/crl", nil) },
	}
	everything := &storeFailure{storage.ErrUnavailable, true}
	noRoom := &storeFailure{storage.ErrFull, false}
	for name, test := range map[string]struct {
		how     *storeFailure
		status  int
		title   string
		spared  []string // calls that do without
		waiting []string // Retry-After
	}{
		"unavailable": {everything, http.StatusServiceUnavailable, "Service unavailable", []string{"/healthz", "the test authority"}, []string{"1"}},
		"full":        {noRoom, http.StatusInsufficientStorage, "No room left", []string{"/healthz", "the test authority", "/readyz", "list the users", "list the webhooks", "read a webhook", "read a process", "read its document"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s.store.fail(test.how)
			defer s.store.fail(nil)
			for call, send := range calls {
				t.Run(call, func(t *testing.T) {
					c := c.in(t)
					a := send(c)
					if slices.Contains(test.spared, call) {
						diff(t, "status", http.StatusOK, a.status)
						return
					}
					c.wantProblem(a, test.status, test.title)
					if d := cmp.Diff(test.waiting, a.header.Values("Retry-After")); d != "" {
						t.Errorf("Retry-After: %s", d)
					}
				})
			}
		})
		t.Run("after "+name, func(t *testing.T) {
			c := c.in(t)
			diff(t, "ready", http.StatusOK, c.call(http.MethodGet, "/readyz", nil).status)
			c.wantDocuments(2) // of the request and of the process that were there before
			diff(t, "process", made, c.shown(made))
			c.signature(c.sign(startBody(idpApp)))
		})
	}
	c.signature(c.signed(c.poll(polled)))
	c.process(http.StatusCreated, c.createWithKey("the contract", draft))
	c.signedAs(made, 0, user, "Completed")
}

// A store that says nothing does not keep a probe waiting.
func TestReadyDoesNotHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := httpapi.New(httpapi.Config{Ready: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		began, w := time.Now(), httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		diff(t, "status", http.StatusServiceUnavailable, w.Code)
		diff(t, "Retry-After", "1", w.Header().Get("Retry-After"))
		diff(t, "time", 2*time.Second, time.Since(began))
	})
}
