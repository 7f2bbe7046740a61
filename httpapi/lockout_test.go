package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/storage"
)

// Who guesses a client's secret is soon told to go slowly, and the client itself notices nothing: whoever
// knows its ID could lock it out otherwise. One that shares the address of who guesses is not locked out either.
func TestNobodyLocksAClientOut(t *testing.T) {
	t.Parallel()
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
	ask := func(from, path, id, secret string) int { return proving(api, from, path, id, secret) }
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

// proving is the status that a client is answered which proves itself with a secret, at an address.
func proving(api http.Handler, from, path, id, secret string) int {
	form := url.Values{"grant_type": {"client_credentials"}, "token": {"none"}, "client_id": {id}, "client_secret": {secret}}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", formType)
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w.Code
}

// deliberate are accounts that take a second to find every secret right.
type deliberate struct{ httpapi.Accounts }

func (deliberate) Issue(context.Context, string, string, []string) (account.Token, error) {
	time.Sleep(time.Second) // time: in a bubble
	return account.Token{}, nil
}

// Programs that share a client and begin at the same moment all get their tokens: a secret counts once it was
// found to be wrong.
func TestRightSecretsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := httpapi.New(httpapi.Config{Accounts: deliberate{}, Limits: httpapi.Limits{Address: storage.Rate{PerSecond: 10, Burst: 100}}})
		statuses := make([]int, 90)
		var all sync.WaitGroup
		for i := range statuses {
			all.Go(func() { statuses[i] = proving(api, "203.0.113.1:1024", tokens, "archive", "right") })
		}
		all.Wait()
		for i, status := range statuses {
			if status != http.StatusOK {
				t.Fatalf("program %d is answered %d", i, status)
			}
		}
	})
}
