package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/server/operator"
)

// A PDF is signed through the server, over the API, and verifies.
func TestSignedThroughOwnServer(t *testing.T) {
	folder, err := os.MkdirTemp("", "own") // with a short name, for the socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	provider, err := newSeals()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, folder, address, provider) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	c := client{t: t, base: "http://" + address}
	for !c.ready() {
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
		}
	}
	c.authenticate(operator.NewClient(filepath.Join(folder, "own.db.sock")))

	sources := provider.authority.Sources(nil)
	for _, level := range []string{"B", "Lt"} {
		signed := c.sign(sample(t), level)
		report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(signed), Size: int64(len(signed))}, ades.VerifyOptions{Roots: sources.Roots, Revocation: sources.Revocation})
		if err != nil {
			t.Fatal(err)
		}
		if s := report.Signatures; len(s) != 1 || s[0].Indication != ades.TotalPassed || s[0].Certificate.Subject.CommonName != "Seal of 0101302989" {
			t.Errorf("level %s: %+v", level, s)
		}
	}
	if files, err := os.ReadDir(filepath.Join(folder, "documents")); err != nil || len(files) == 0 {
		t.Errorf("%d documents in files, %v", len(files), err)
	}
}

// client calls the API.
type client struct {
	t           *testing.T
	base, token string
}

func (c *client) ready() bool {
	response, err := http.Get(c.base + "/readyz")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// authenticate gets a token for a new API client.
func (c *client) authenticate(o operator.Operator) {
	c.t.Helper()
	owner, err := o.CreateAccount(c.t.Context(), "Example Ltd.")
	if err != nil {
		c.t.Fatal(err)
	}
	made, secret, err := o.CreateClient(c.t.Context(), owner.ID, "example", account.Scopes())
	if err != nil {
		c.t.Fatal(err)
	}
	c.login(made.ID, secret)
}

// login gets a token for an API client.
func (c *client) login(id, secret string) {
	c.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
	response, err := http.PostForm(c.base+"/api/v1/auth/token", form)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Token == "" {
		c.t.Fatal(response.Status, err)
	}
	c.token = answer.Token
}

// sign has a document signed.
func (c *client) sign(document []byte, level string) []byte {
	c.t.Helper()
	body, err := json.Marshal(map[string]any{
		"file":                      map[string]any{"type": "Pdf", "name": "sample.pdf", "contentB64": document},
		"signer":                    map[string]any{"kennitala": "0101302989", "signingMethod": "IdpApp"},
		"advancedSignatureSettings": map[string]any{"signatureLevel": level},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	var started struct{ PollingID string }
	if status := c.call(http.MethodPost, "/api/v1/signing", string(body), &started); status != http.StatusOK {
		c.t.Fatalf("start: %d", status)
	}
	for {
		var answer struct {
			SignedFileB64 []byte
			ErrorCode     string
		}
		status := c.call(http.MethodGet, "/api/v1/signing/"+started.PollingID, "", &answer)
		switch {
		case status == http.StatusOK:
			return answer.SignedFileB64
		case answer.ErrorCode != "AuthorizationPending" && answer.ErrorCode != "SlowDown": // which is for those who poll too often
			c.t.Fatalf("poll: %d %s", status, answer.ErrorCode)
		}
	}
}

func (c *client) call(method, path, body string, answer any) (status int) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && len(content) > 0 {
		err = json.Unmarshal(content, answer)
	}
	if err != nil {
		c.t.Fatal(fmt.Errorf("%s %s: %w: %s", method, path, err, content))
	}
	return response.StatusCode
}
