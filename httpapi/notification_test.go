package httpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// pinging is a provider whose notifications name a conversation in the body and its secret
// in the header.
type pinging struct{}

func (pinging) Notification(r *http.Request) (key string, authentic func(idp.State) bool, err error) {
	body, err := io.ReadAll(r.Body)
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if err == nil && !ok {
		err = errors.New("no token")
	}
	return string(body), func(s idp.State) bool { return string(s.Secret) == secret }, err
}

// waiting are the conversations that somebody waits for, with their secrets.
type waiting map[string]string

func (w waiting) Notified(_ context.Context, key string, authentic func(idp.State) bool) error {
	switch secret, ok := w[key]; {
	case key == "unlucky":
		return storage.ErrUnavailable
	case !ok, !authentic(idp.State{Secret: []byte(secret)}):
		return signing.ErrFinished
	}
	return nil
}

// CIBA Core 1.0 10.2: a ping is answered 204 without a body, if it is one. Nobody learns from
// the answer which conversations there are.
func TestNotifications(t *testing.T) {
	t.Parallel()
	var failed []error
	config := httpapi.Config{
		BaseURL: "https://sign.example",
		Failed:  func(_ context.Context, err error) { failed = append(failed, err) },
	}
	with := config
	with.Notifier, with.Notifications = pinging{}, waiting{"one": "secret"}
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
		"nobody pings":   {config, http.MethodPost, "one", "Bearer secret", http.StatusNotFound, "Not found"},
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
