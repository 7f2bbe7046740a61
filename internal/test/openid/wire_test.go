package openid_test

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// jon is a person who approves at once.
func jon(t *testing.T) openidtest.Person {
	t.Helper()
	return openidtest.Person{
		Kennitala: "0101302989", Phone: "6990001", Name: "Jón Prófmaður", Document: "PNOIS-0101302989-TEST-Q",
		Certificate: certificate(t).Raw, Key: openidtest.RSAKey(),
	}
}

func certificate(t *testing.T) *x509.Certificate {
	t.Helper()
	key := openidtest.RSAKey()
	template := x509.Certificate{
		SerialNumber: big.NewInt(0x5eed),
		Subject:      pkix.Name{Country: []string{"IS"}, SerialNumber: "0101302989", CommonName: "Jón Prófmaður"},
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageContentCommitment,
	}
	return certtest.Issue(t, template, key, &template, key)
}

// fields are of a JSON object, a request's or an answer's.
type fields = map[string]any

// approved asks, polls and returns what the person's approval brought.
func approved(t *testing.T, p *openidtest.Provider, request fields) fields {
	t.Helper()
	return info(t, p, granted(t, p, asked(t, p, request)))
}

// asked sends a request that is taken, and returns its ID.
func asked(t *testing.T, p *openidtest.Provider, request fields) string {
	t.Helper()
	status, answer := ask(t, p, request)
	if status != http.StatusOK {
		t.Fatalf("asked: %d, %v", status, answer)
	}
	return answer["auth_req_id"].(string)
}

// granted polls once for tokens that are there.
func granted(t *testing.T, p *openidtest.Provider, id string) fields {
	t.Helper()
	status, answer := poll(t, p, id)
	if status != http.StatusOK {
		t.Fatalf("tokens: %d, %v", status, answer)
	}
	return answer
}

// info reads the claims that an access token opens.
func info(t *testing.T, p *openidtest.Provider, tokens fields) fields {
	t.Helper()
	status, answer := get(t, p.URL(openidtest.UserInfo), tokens["access_token"].(string))
	if status != http.StatusOK {
		t.Fatalf("userinfo: %d, %v", status, answer)
	}
	return answer
}

func ask(t *testing.T, p *openidtest.Provider, request fields) (int, fields) {
	t.Helper()
	return post(t, p, openidtest.Backchannel, url.Values{"request": {requestObject(t, p, jose.RS256, request)}})
}

func poll(t *testing.T, p *openidtest.Provider, id string) (int, fields) {
	t.Helper()
	return post(t, p, openidtest.Token, url.Values{"grant_type": {"urn:openid:params:grant-type:ciba"}, "auth_req_id": {id}})
}

// requestObject is a signed request (CIBA Core 1.0 7.1.1) about nothing but what it is told.
func requestObject(t *testing.T, p *openidtest.Provider, algorithm jose.SignatureAlgorithm, request fields) string {
	t.Helper()
	now := time.Now().Unix()
	all := fields{
		"iss": p.ClientID, "aud": p.Issuer, "iat": now, "nbf": now - 5, "exp": now + 60, "jti": rand.Text(),
		"scope": "openid profile signature RELATEDPARTY:Innsigli", "binding_message": "", "binding_content": "",
	}
	maps.Copy(all, request)
	maps.DeleteFunc(all, func(_ string, claim any) bool { return claim == nil })
	return signed(t, p, algorithm, all)
}

func signed(t *testing.T, p *openidtest.Provider, algorithm jose.SignatureAlgorithm, claims fields) string {
	t.Helper()
	key := jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: p.Key, KeyID: p.KeyID}}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// post sends a form with the secret as it is, which is Auðkenni's way, or with an assertion.
func post(t *testing.T, p *openidtest.Provider, e openidtest.Endpoint, form url.Values) (int, fields) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL(e), strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if !form.Has("client_assertion") {
		req.SetBasicAuth(p.ClientID, p.Secret)
	}
	return do(t, req)
}

func get(t *testing.T, url, token string) (int, fields) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return do(t, req)
}

func do(t *testing.T, req *http.Request) (int, fields) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer fields
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}
