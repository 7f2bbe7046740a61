package openid_test

import (
	"crypto"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// The same with every algorithm, and with assertions in place of the secret (RFC 7523 2.2).
func TestClientsSignTheirRequests(t *testing.T) {
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256} {
		t.Run(string(algorithm), func(t *testing.T) {
			p := openidtest.Start(t, openidtest.Options{Algorithm: string(algorithm), PrivateKeyJWT: true})
			p.Person(jon(t))
			assert := func(form url.Values) url.Values {
				form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
				form.Set("client_assertion", signed(t, p, algorithm, fields{
					"iss": p.ClientID, "sub": p.ClientID, "aud": p.Issuer, "exp": time.Now().Add(time.Minute).Unix(), "jti": rand.Text(),
				}))
				return form
			}
			request := requestObject(t, p, algorithm, sign("app-sign", jon(t).Kennitala, crypto.SHA256))
			_, got := post(t, p, openidtest.Backchannel, assert(url.Values{"request": {request}}))
			id, ok := got["auth_req_id"].(string)
			if !ok {
				t.Fatal(got)
			}
			_, got = post(t, p, openidtest.Token, assert(url.Values{"grant_type": {"urn:openid:params:grant-type:ciba"}, "auth_req_id": {id}}))
			if got["access_token"] == nil {
				t.Error(got)
			}
		})
	}
}

func TestAClientIsPinged(t *testing.T) {
	pings := make(chan *http.Request, 1)
	client := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pings <- r
		w.WriteHeader(http.StatusNoContent)
	}))
	defer client.Close()
	p := openidtest.Start(t, openidtest.Options{Notify: client.URL + "/ping"})
	p.Person(jon(t))
	request := sign("app-sign", jon(t).Kennitala, crypto.SHA256)
	request["client_notification_token"] = "a-token-of-the-client"
	id := asked(t, p, request)
	ping, _ := testenv.Receive(t, "a ping", pings)
	if ping.URL.Path != "/ping" || ping.Header.Get("Authorization") != "Bearer a-token-of-the-client" {
		t.Errorf("pinged at %s with %s", ping.URL, ping.Header.Get("Authorization"))
	}
	granted(t, p, id)
}

// An issuer may be a name that is not where the provider is (facts of Auðkenni: with ":443").
func TestAnIssuerThatIsElsewhere(t *testing.T) {
	const issuer = "https://idp.example.is:443" + openidtest.Path
	p := openidtest.Start(t, openidtest.Options{Issuer: issuer, Undiscovered: true})
	_, metadata := get(t, p.Discovery, "")
	if metadata["issuer"] != issuer || metadata["token_endpoint"] != p.URL(openidtest.Token) || metadata["jwks_uri"] != p.URL(openidtest.JWKS) {
		t.Errorf("metadata: %v", metadata)
	}
	if endpoint, ok := metadata["backchannel_authentication_endpoint"]; ok {
		t.Errorf("discovered: %v", endpoint)
	}
	p.Person(jon(t))
	id := granted(t, p, asked(t, p, sign("app-sign", jon(t).Kennitala, crypto.SHA256)))["id_token"].(string)
	var claims fields
	if err := parsed(t, id).UnsafeClaimsWithoutVerification(&claims); err != nil {
		t.Fatal(err)
	}
	if claims["iss"] != issuer || claims["nationalRegisterId"] != jon(t).Kennitala || claims["signature"] == nil {
		t.Errorf("ID token: %v", claims)
	}
}

func TestAWrongSecret(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	p.Secret = "wrong"
	if status, got := poll(t, p, "nothing"); status != http.StatusUnauthorized || got["error"] != "invalid_client" {
		t.Errorf("%d, %v", status, got)
	}
	call := p.Calls()[0]
	call.At = time.Time{}
	want := openidtest.Call{
		Endpoint: openidtest.Token, Method: http.MethodPost,
		Authorization: "Basic " + encoded([]byte(p.ClientID+":wrong")), Status: http.StatusUnauthorized,
	}
	if diff := cmp.Diff(want, call); diff != "" {
		t.Error(diff)
	}
}

func parsed(t *testing.T, token string) *jwt.JSONWebToken {
	t.Helper()
	read, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func tokenKey(t *testing.T, token string) string {
	t.Helper()
	return parsed(t, token).Headers[0].KeyID
}
