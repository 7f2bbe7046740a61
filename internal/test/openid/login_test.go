package openid_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"testing"

	"golang.org/x/oauth2"

	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// A browser goes to the provider and comes back with a code, or with what went wrong.
func TestPeopleLogIn(t *testing.T) {
	back := make(chan url.Values, 1)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { back <- r.URL.Query() }))
	defer site.Close()
	p := openidtest.Start(t, openidtest.Options{Redirects: []string{site.URL + "/back"}})
	person := jon(t)
	p.Person(person)
	p.Login(person.Kennitala)

	verifier := oauth2.GenerateVerifier()
	login := func(more ...string) url.Values {
		t.Helper()
		query := url.Values{
			"client_id": {p.ClientID}, "response_type": {"code"}, "redirect_uri": {site.URL + "/back"}, "scope": {"openid profile"},
			"state": {"a-state"}, "nonce": {"a-nonce"}, "code_challenge_method": {"S256"}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)},
		}
		for i := 0; i < len(more); i += 2 {
			query.Set(more[i], more[i+1])
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		browser := http.Client{Jar: jar}
		resp, err := browser.Get(p.URL(openidtest.Authorization) + "?" + query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		select {
		case got := <-back:
			return got
		default:
			t.Fatalf("the browser did not come back: %s", resp.Status)
			return nil
		}
	}

	got := login()
	if got.Get("state") != "a-state" || got.Get("iss") != p.Issuer {
		t.Fatalf("back with %v", got)
	}
	status, tokens := post(t, p, openidtest.Token, url.Values{
		"grant_type": {"authorization_code"}, "code": {got.Get("code")}, "redirect_uri": {site.URL + "/back"}, "code_verifier": {verifier},
	})
	if status != http.StatusOK {
		t.Fatalf("%d, %v", status, tokens)
	}
	if claims := info(t, p, tokens); claims["nationalRegisterId"] != person.Kennitala || claims["name"] != person.Name {
		t.Errorf("claims: %v", claims)
	}
	if got := login("login_hint", "0102302979"); got.Get("error") != "access_denied" || got.Get("error_description") != "audkenni_404" {
		t.Errorf("unknown person: %v", got)
	}
	person.Answers = map[string]openidtest.Answer{"sim-auth": {Error: refusal("access_denied", "mssp_401")}}
	p.Person(person)
	if got := login("acr_values", "sim-auth"); got.Get("error_description") != "mssp_401" {
		t.Errorf("refused: %v", got)
	}
}
