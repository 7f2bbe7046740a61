package httpapi_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// failingProvider is a provider with failures that the sandbox does not simulate.
type failingProvider struct {
	*sandbox.Sandbox
	begin, poll *idp.Failure
}

func (f *failingProvider) Begin(ctx context.Context, key string, p idp.Person, t idp.Text, known *x509.Certificate) (idp.State, idp.Event, error) {
	if f.begin != nil {
		return idp.State{}, idp.Failed{Failure: *f.begin}, nil
	}
	return f.Sandbox.Begin(ctx, key, p, t, known)
}

func (f *failingProvider) Poll(ctx context.Context, s idp.State) (idp.State, idp.Event, error) {
	if f.poll != nil {
		return s, idp.Failed{Failure: *f.poll}, nil
	}
	return f.Sandbox.Poll(ctx, s)
}

// spec 3.7: a start and a poll return the provider's code, error and description unchanged. An unknown error has a
// null code.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	var people *failingProvider
	c := start(t, wiring{provider: func(s *sandbox.Sandbox) idp.Provider {
		people = &failingProvider{Sandbox: s}
		return people
	}}).signer(t)
	c.user(person)
	type row struct{ code, oauth, description any }
	rows := []row{
		{nil, "server_error", "Villa nr. 4711 <\"&\">"},
		{nil, nil, nil},
		{"AccessDenied", nil, "audkenni_500"},
		{"AccessDenied", "access_denied", nil},
	}
	for _, code := range idp.ErrorCodes() {
		if slices.Contains([]idp.ErrorCode{idp.AuthorizationPending, idp.SlowDown, idp.ExpiredToken}, code) { // these end no request
			continue
		}
		rows = append(rows, row{string(code), "access_denied", "audkenni_500"})
	}
	text := func(v any) string { s, _ := v.(string); return s }
	for _, r := range rows {
		failed := &idp.Failure{Code: idp.ErrorCode(text(r.code)), OAuth: text(r.oauth), Description: text(r.description)}
		want := failure(r.code, r.oauth, r.description, nil)
		people.begin = failed
		a := c.start(startBody(idpApp))
		diff(t, "status of the start", 400, a.status)
		diff(t, "refused start", want, c.object(a))
		people.begin = nil
		id := c.begin(startBody(idpApp))
		c.wantFailure(c.poll(id), pending)
		people.poll = failed
		a = c.poll(id)
		diff(t, "status of the poll", 400, a.status)
		diff(t, "poll", want, c.object(a))
		people.poll = nil
		c.wantFinished(id)
	}
	c.wantDocuments(0)
}

// spec 3.6: only ExpiredToken is repeated.
func TestExpiredTokenOfTheProvider(t *testing.T) {
	t.Parallel()
	people := new(failingProvider)
	c := start(t, wiring{provider: func(s *sandbox.Sandbox) idp.Provider { people.Sandbox = s; return people }}).signer(t)
	c.user(person)
	id := c.begin(startBody(idpApp))
	people.poll = &idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "audkenni_408"}
	want := failure("ExpiredToken", "expired_token", "audkenni_408", nil)
	c.wantFailure(c.poll(id), want)
	people.poll = nil
	c.wantFailure(c.poll(id), want)
	c.wantFailure(c.poll(id), want)
}

// pingNotifier reads the conversation from the body of a notification and the secret from its header.
type pingNotifier struct{}

func (pingNotifier) Notification(r *http.Request) (key string, authentic func(idp.State) bool, err error) {
	body, err := io.ReadAll(r.Body)
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if err == nil && !ok {
		err = errors.New("no token")
	}
	return string(body), func(s idp.State) bool { return string(s.Secret) == secret }, err
}

// conversations are the conversations that wait for a notification, with their secrets.
type conversations map[string]string

func (w conversations) Notified(_ context.Context, key string, authentic func(idp.State) bool) error {
	switch secret, ok := w[key]; {
	case key == "unlucky":
		return storage.ErrUnavailable
	case !ok, !authentic(idp.State{Secret: []byte(secret)}):
		return signing.ErrFinished
	}
	return nil
}

// CIBA Core 1.0 10.2: the answer to an authentic ping is 204. Other answers do not reveal which conversations exist.
func TestNotifications(t *testing.T) {
	t.Parallel()
	var failed []error
	config := httpapi.Config{
		BaseURL: "https://sign.example",
		Failed:  func(_ context.Context, err error) { failed = append(failed, err) },
	}
	with := config
	with.Notifier, with.Notifications = pingNotifier{}, conversations{"one": "secret"}
	for name, test := range map[string]struct {
		config       httpapi.Config
		method, body string
		header       string
		status       int
		title        string
	}{
		"right":          {with, http.MethodPost, "one", "Bearer secret", http.StatusNoContent, ""},
		"another secret": {with, http.MethodPost, "one", "Bearer other", http.StatusNotFound, "Not found"},
		"unknown":        {with, http.MethodPost, "two", "Bearer secret", http.StatusNotFound, "Not found"},
		"no secret":      {with, http.MethodPost, "one", "", http.StatusUnauthorized, "Unauthorized"},
		"too long":       {with, http.MethodPost, strings.Repeat("o", 16<<10+1), "Bearer secret", http.StatusRequestEntityTooLarge, "Request too large"},
		"no POST":        {with, http.MethodGet, "", "Bearer secret", http.StatusMethodNotAllowed, "Method not allowed"},
		"no store":       {with, http.MethodPost, "unlucky", "Bearer secret", http.StatusServiceUnavailable, "Service unavailable"},
		"no pings":       {config, http.MethodPost, "one", "Bearer secret", http.StatusNotFound, "Not found"},
	} {
		t.Run(name, func(t *testing.T) {
			failed = nil
			r := httptest.NewRequest(test.method, httpapi.NotificationPath, strings.NewReader(test.body))
			if test.header != "" {
				r.Header.Set("Authorization", test.header)
			}
			w := httptest.NewRecorder()
			httpapi.New(test.config).ServeHTTP(w, r)
			if w.Code != test.status || (w.Body.Len() == 0) != (test.title == "") || !strings.Contains(w.Body.String(), `"title":"`+test.title) && test.title != "" {
				t.Errorf("status %d, want %d: %s", w.Code, test.status, w.Body)
			}
			if challenge := w.Header().Get("WWW-Authenticate"); (challenge != "") != (test.status == http.StatusUnauthorized) {
				t.Errorf("WWW-Authenticate %q", challenge)
			}
			if (len(failed) > 0) != (test.status >= http.StatusInternalServerError) {
				t.Errorf("told the operator: %v", failed)
			}
		})
	}
}
