package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// client calls the API of a sandbox as a client system does. Its methods return errors:
// some tests kill the server while it answers.
type client struct {
	base   string
	secret string // of a client that an operator made
	token  string
	http   http.Client
}

// clientOf has a connection of its own for each request, so that none is left over
// from a server that died.
func clientOf(base string) *client {
	return &client{base: base, http: http.Client{Transport: asDescribed(&http.Transport{DisableKeepAlives: true})}}
}

// signIn returns a client of the sandbox that has a token.
func (p *sandboxProcess) signIn(t testing.TB) *client {
	t.Helper()
	c := clientOf(p.BaseURL)
	status, token, err := c.issue(clientID, clientSecret)
	if err != nil || status != http.StatusOK {
		t.Fatalf("token: status %d, %v", status, err)
	}
	c.token = token.AccessToken
	return c
}

// issued is the answer of the token endpoint.
type issued struct {
	AccessToken string `json:"access_token"`
	Scope       string `json:"scope"`
	Error       string `json:"error"`
}

func (c *client) issue(id, secret string) (status int, token issued, err error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
	response, err := c.http.PostForm(c.base+"/api/v1/auth/token", form)
	if err != nil {
		return 0, token, err
	}
	defer response.Body.Close()
	return response.StatusCode, token, json.NewDecoder(response.Body).Decode(&token)
}

// reply is what the tests read of the API's answers, successes and failures alike.
type reply struct {
	Status     int    `json:"-"`
	RetryAfter string `json:"-"`
	ID         string `json:"id"`
	PollingID  string `json:"pollingId"`
	ExpiresIn  int    `json:"expiresIn"`
	SignedFile []byte `json:"signedFileB64"`
	ErrorCode  string `json:"errorCode"`
	Title      string `json:"title"`
	Secret     string `json:"secret"`
	Active     bool   `json:"isActive"`
	Failed     string `json:"failedCheck"`
	Code       string `json:"verificationCode"`
	UUID       string `json:"uuid"` // of a sandbox user
	processReply
	Body       []byte `json:"-"` // of a failure
	BusySignal struct {
		UserID string `json:"userId"`
	} `json:"busySignal"`
}

func (a reply) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", a.Status, a.ErrorCode, a.Title))
}

// call makes a request. An answer that breaks off is an error.
func (c *client) call(ctx context.Context, method, path string, body io.Reader, header ...string) (reply, error) {
	var a reply
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return a, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := c.http.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	a.Status, a.RetryAfter = response.StatusCode, response.Header.Get("Retry-After")
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return a, err
	}
	if a.Status >= http.StatusBadRequest {
		a.Body = text
	}
	if a.Status == http.StatusNoContent {
		return a, nil
	}
	return a, json.Unmarshal(text, &a)
}

// download counts the bytes of an answer that has to be whole.
func (c *client) download(ctx context.Context, path string) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("GET %s: status %d", path, response.StatusCode)
	}
	return io.Copy(io.Discard, response.Body)
}

// must is call for requests that have to succeed, once the page renderer is ready.
func (c *client) must(t testing.TB, method, path, body string, header ...string) reply {
	t.Helper()
	var a reply
	testenv.Wait(t, "the page renderer", func() bool {
		var err error
		a, err = c.call(t.Context(), method, path, strings.NewReader(body), header...)
		if err != nil || a.Status != http.StatusOK && !a.unready() {
			t.Fatalf("%s %s: %v, %v", method, path, a, err)
		}
		return a.Status == http.StatusOK
	})
	return a
}

// person is a sandbox user.
type person struct{ name, kennitala, phone string }

// profile is the body of the call that makes the person.
func (p person) profile() string {
	return fmt.Sprintf(`{"fullName":%q,"kennitala":%q,"phone":%q}`, p.name, p.kennitala, p.phone)
}

var people = []person{
	{"First Signer", "0101302989", "5550101"},
	{"Second Signer", "0101302990", "5550102"},
	{"Third Signer", "0101302991", "5550103"},
}

func (c *client) addPeople(t testing.TB, list ...person) {
	t.Helper()
	for _, p := range list {
		c.must(t, http.MethodPost, "/api/v1/sandbox/users", p.profile())
	}
}

// startText is the body of a start call. Without a level it does not speak of it, as in
// the minimal body of spec 3.2.
func startText(content []byte, p person, method, level, signal string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"signer":{"kennitala":%q,"phone":%q,"signingMethod":%q},`, p.kennitala, p.phone, method)
	if level != "" {
		fmt.Fprintf(&b, `"advancedSignatureSettings":{"signatureLevel":%q},`, level)
	}
	if signal != "" {
		fmt.Fprintf(&b, `"busySignal":{"id":%q,"userId":%q},`, signal, p.name)
	}
	b.WriteString(`"file":{"type":"Pdf","name":"contract.pdf","contentB64":"`)
	encoder := base64.NewEncoder(base64.StdEncoding, &b)
	encoder.Write(content)
	encoder.Close()
	b.WriteString(`"}}`)
	return b.String()
}

// pollOn polls until the request has ended. The last answer is returned.
func (c *client) pollOn(ctx context.Context, id string) (reply, error) {
	for ; ; pause(50 * time.Millisecond) {
		a, err := c.call(ctx, http.MethodGet, "/api/v1/signing/"+id, nil)
		if err != nil || a.ErrorCode != "AuthorizationPending" {
			return a, err
		}
	}
}

// pause is what a client lets go by before it calls again.
func pause(d time.Duration) {
	time.Sleep(d) // time: the pace of a client, by which nothing is judged
}

// sign goes from a document to the signed one.
func (c *client) sign(t *testing.T, content []byte, p person, method, level, signal string) []byte {
	t.Helper()
	started := c.must(t, http.MethodPost, "/api/v1/signing", startText(content, p, method, level, signal))
	a, err := c.pollOn(t.Context(), started.PollingID)
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("the poll's end: %v, %v", a, err)
	}
	return a.SignedFile
}
