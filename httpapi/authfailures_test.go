package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// notifications do not know the conversation of a notification, which is one if it has a body.
type notifications struct{}

func (notifications) Notification(r *http.Request) (string, func(idp.State) bool, error) {
	if r.ContentLength == 0 {
		return "", nil, errors.New("test: not a notification")
	}
	return "key", nil, nil
}

func (notifications) Notified(context.Context, string, func(idp.State) bool) error {
	return signing.ErrFinished
}

// Each failed authentication is reported with its kind and the client that the request named, and nothing else is.
func TestAuthFailures(t *testing.T) {
	type failure struct {
		kind   httpapi.AuthFailure
		client string
	}
	for name, test := range map[string]struct {
		err           error // of the accounts
		path, body    string
		authorization string
		times         int
		status        int
		want          failure
		none          bool
	}{
		"no token":               {path: webhooks, status: 401, want: failure{httpapi.MissingToken, ""}},
		"wrong token":            {err: account.ErrInvalidToken, path: webhooks, authorization: "Bearer one", status: 401, want: failure{httpapi.InvalidToken, ""}},
		"two tokens":             {path: webhooks + "?access_token=1", authorization: "Bearer one", status: 400, want: failure{httpapi.InvalidToken, ""}},
		"outage":                 {err: storage.ErrUnavailable, path: webhooks, authorization: "Bearer one", status: 503, none: true},
		"wrong secret":           {err: account.ErrInvalidClient, path: tokens, body: "grant_type=client_credentials&client_id=archive&client_secret=a", status: 401, want: failure{httpapi.InvalidClient, "archive"}},
		"wrong secret to revoke": {err: account.ErrInvalidClient, path: revocation, body: "token=a&client_id=archive&client_secret=a", status: 401, want: failure{httpapi.InvalidClient, "archive"}},
		"no secret":              {path: tokens, body: "client_id=archive", status: 401, want: failure{httpapi.InvalidClient, "archive"}},
		"malformed Basic":        {path: tokens, authorization: "Basic ?", status: 401, want: failure{httpapi.InvalidClient, ""}},
		"wrong grant":            {path: tokens, body: "grant_type=password&client_id=archive&client_secret=a", status: 400, none: true},
		"outage at a token":      {err: storage.ErrUnavailable, path: tokens, body: "grant_type=client_credentials&client_id=archive&client_secret=a", status: 503, none: true},
		"too many secrets":       {err: account.ErrInvalidClient, path: tokens, body: "grant_type=client_credentials&client_id=archive&client_secret=a", times: 20, status: 429, want: failure{httpapi.TooManySecrets, "archive"}},
		"no notification":        {path: httpapi.NotificationPath, status: 401, want: failure{httpapi.InvalidNotification, ""}},
		"forged notification":    {path: httpapi.NotificationPath, body: "{}", status: 404, want: failure{httpapi.InvalidNotification, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []failure
				api := httpapi.New(httpapi.Config{
					Accounts: refusingAccounts{failingCall{err: test.err, caller: test.err}}, Webhooks: refusingWebhooks{}, Notifier: notifications{}, Notifications: notifications{},
					Address: func(*http.Request) netip.Addr { return netip.MustParseAddr("203.0.113.1") },
					Limits:  httpapi.Limits{Address: storage.Rate{PerSecond: 100, Burst: 100}},
					AuthFailed: func(_ context.Context, kind httpapi.AuthFailure, client string) {
						got = append(got, failure{kind, client})
					},
				})
				var w *httptest.ResponseRecorder
				for range test.times + 1 {
					got, w = nil, httptest.NewRecorder()
					method := http.MethodPost
					if test.path == webhooks || strings.Contains(test.path, "?") {
						method = http.MethodGet
					}
					r := httptest.NewRequest(method, test.path, strings.NewReader(test.body))
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					if test.authorization != "" {
						r.Header.Set("Authorization", test.authorization)
					}
					api.ServeHTTP(w, r)
				}
				want := []failure{test.want}
				if test.none {
					want = nil
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(failure{})); diff != "" || w.Code != test.status {
					t.Errorf("status %d: %s\n%s", w.Code, w.Body, diff)
				}
			})
		})
	}
}
