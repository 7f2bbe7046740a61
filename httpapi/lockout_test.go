package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/storage"
)

// Who guesses a client's secret is soon told to go slowly, and the client itself notices nothing: whoever
// knows its ID could lock it out otherwise. One that shares the address of who guesses is not locked out either.
func TestNobodyLocksAClientOut(t *testing.T) {
	db := inFile(t)
	t.Cleanup(func() { db.Close() })
	accounts := account.New(db.Accounts(), db, account.Options{})
	owner, err := accounts.CreateAccount(t.Context(), "Example Ltd.")
	if err != nil {
		t.Fatal(err)
	}
	c, secret, err := accounts.CreateClient(t.Context(), owner.ID, "archive", nil)
	if err != nil {
		t.Fatal(err)
	}
	other, otherSecret, err := accounts.CreateClient(t.Context(), owner.ID, "other", nil)
	if err != nil {
		t.Fatal(err)
	}
	api := httpapi.New(httpapi.Config{
		BaseURL: "https://sign.example", Accounts: accounts,
		Limits: httpapi.Limits{Address: storage.Rate{PerSecond: 1, Burst: 2000}},
	})
	ask := func(from, path, id, secret string) int {
		form := url.Values{"grant_type": {"client_credentials"}, "token": {"none"}, "client_id": {id}, "client_secret": {secret}}
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", formType)
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w.Code
	}
	statuses := make(map[int]int)
	for i := range 1000 {
		statuses[ask("203.0.113.1:1024", []string{tokens, revocation}[i%2], c.ID, "wrong")]++
	}
	if statuses[http.StatusUnauthorized] == 0 || statuses[http.StatusTooManyRequests] < 900 || len(statuses) != 2 {
		t.Errorf("a thousand guesses are answered %v", statuses)
	}
	for _, path := range []string{tokens, revocation} {
		diff(t, "the client, elsewhere", http.StatusOK, ask("203.0.113.2:1024", path, c.ID, secret))
		diff(t, "another client, at the address of who guesses", http.StatusOK, ask("203.0.113.1:1024", path, other.ID, otherSecret))
	}
}
