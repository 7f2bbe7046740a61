package server

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/sandbox"
)

// starter starts signatures as the client of an account.
type starter struct {
	t     *testing.T
	s     *Server
	token string
}

func newStarter(t *testing.T, s *Server) starter {
	t.Helper()
	a, err := s.accounts.CreateAccount(t.Context(), "an account")
	if err != nil {
		t.Fatal(err)
	}
	c, secret, err := s.accounts.CreateClient(t.Context(), a.ID, "a client", []string{account.ScopeSignatures})
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.accounts.Issue(t.Context(), c.ID, secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	return starter{t, s, token.Value}
}

// start asks a person to sign. key is the Idempotency-Key; empty: none.
func (c starter) start(key, signer string) *httptest.ResponseRecorder {
	c.t.Helper()
	document := base64.StdEncoding.EncodeToString(pdftest.Build(pdftest.Options{}))
	r := httptest.NewRequest(http.MethodPost, "/api/v1/signing", strings.NewReader(fmt.Sprintf(
		`{"file":{"name":"a.pdf","type":"Pdf","contentB64":%q},"signer":%s}`, document, signer)))
	r.RemoteAddr, r.Host = "127.0.0.1:9", "localhost"
	r.Header.Set("Authorization", "Bearer "+c.token)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	c.s.Handler().ServeHTTP(w, r)
	return w
}

const anna = `{"signingMethod":"IdpApp","kennitala":"010130-2989"}`

// A phone does not ring all the time for one account, in whatever way the person is named. Another account is not
// affected, nor is another person; and a repeated call is no further prompt.
func TestPendingSignaturesOfPerson(t *testing.T) {
	trial := func(c *Config) { c.Environment, c.BaseURL = Trial, "http://localhost" }
	s, _ := newServer(t, filepath.Join(t.TempDir(), "test.db"), trial)
	c := newStarter(t, s)
	const pending = 5
	for _, spellings := range [][]string{
		{anna, `{"signingMethod":"IdpApp","kennitala":"0101302989"}`},
		{`{"signingMethod":"IdpSim","kennitala":"0202302129","phone":"5550202"}`, `{"signingMethod":"IdpSim","kennitala":"0303302239","phone":"+354 555-0202"}`},
	} {
		for i := range pending {
			if w := c.start(fmt.Sprint(spellings[0], i), spellings[0]); w.Code != http.StatusOK {
				t.Fatal(i, w.Code, w.Body)
			}
		}
		for _, signer := range spellings {
			w := c.start("", signer)
			var problem struct{ Title, Type string }
			wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
			if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
				t.Fatal(err)
			}
			if w.Code != http.StatusTooManyRequests || err != nil || wait < 1 || wait > 300 || problem.Title != "Too many sign requests" ||
				problem.Type != "http://localhost/problems/too-many-sign-requests" {
				t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
			}
		}
		if w := c.start(fmt.Sprint(spellings[0], 0), spellings[0]); w.Code != http.StatusOK {
			t.Errorf("a repeated call: %d %s", w.Code, w.Body)
		}
		if w := newStarter(t, s).start("", spellings[0]); w.Code != http.StatusOK {
			t.Errorf("another account: %d %s", w.Code, w.Body)
		}
	}
	if w := c.start("", `{"signingMethod":"IdpApp","kennitala":"0404303299"}`); w.Code != http.StatusOK {
		t.Errorf("another person: %d %s", w.Code, w.Body)
	}
}

// A sandbox has no limits for its users: requests for one of them may run in parallel (spec 1.9).
func TestNoLimitsOfPersonsInSandbox(t *testing.T) {
	s, _ := newServer(t, filepath.Join(t.TempDir(), "test.db"), nil)
	c := newStarter(t, s)
	name, kennitala, phone := "Anna", "0101302989", "5550101"
	a, err := s.accounts.Authenticate(t.Context(), c.token)
	if err == nil {
		_, err = s.people.users.Create(t.Context(), a.AccountID, sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone})
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if w := c.start("", anna); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
	}
}
