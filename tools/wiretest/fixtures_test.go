package wiretest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/webhook"
)

// fixtures are what the requests are about, for .ci/schemathesis/hooks.py.
func (s *Server) fixtures(t *testing.T, token string) []string {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 4, 2))
	var asPNG, asJPEG bytes.Buffer
	if err := png.Encode(&asPNG, picture); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, picture, nil); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString
	return []string{
		"INNSIGLI_URL=" + s.BaseURL, "INNSIGLI_CLIENT=" + s.ClientID, "INNSIGLI_SECRET=" + s.ClientSecret, "INNSIGLI_TOKEN=" + token,
		"INNSIGLI_ENDPOINT=" + s.endpoint(t),
		"INNSIGLI_PDF=" + text(pdftest.Build(pdftest.Options{})), "INNSIGLI_XML=" + text([]byte(`<contract><price>100</price></contract>`)),
		"INNSIGLI_PNG=" + text(asPNG.Bytes()), "INNSIGLI_JPEG=" + text(asJPEG.Bytes()),
	}
}

// endpoint is an endpoint of webhooks that answers as it should, knowing the server's public key alone.
func (s *Server) endpoint(t *testing.T) string {
	t.Helper()
	keys, err := webhook.ParseKeys(string(s.Fetch(t, "/.well-known/webhook-key.pub")))
	if err != nil {
		t.Fatal(err)
	}
	knows := webhook.Receiver{Keys: keys}
	receiver := httptest.NewServer(knows.Handler(func(context.Context, webhook.Event) error { return nil }))
	t.Cleanup(receiver.Close)
	return receiver.URL
}

// token is an access token for all that the client may do, which lasts an hour.
func (s *Server) token(t *testing.T) string {
	t.Helper()
	response, err := http.PostForm(s.BaseURL+"/api/v1/auth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {s.ClientID}, "client_secret": {s.ClientSecret}})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil || body.AccessToken == "" {
		t.Fatalf("no token: %d, %v", response.StatusCode, err)
	}
	return body.AccessToken
}

// stillTakes checks that a token was valid until the end: a client without one is refused before the test begins.
func (s *Server) stillTakes(t *testing.T, token string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/api/v1/sandbox/users", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the token was not good until the end: status %d", response.StatusCode)
	}
}
