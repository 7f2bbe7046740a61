// Command sign signs a PDF in a sandbox:
//
//	go run ./docs/examples/go/sign document.pdf signed.pdf
//
// CLIENT_ID and CLIENT_SECRET are those of an API client, INNSIGLI_URL is the address of the server.
// It uses the standard library alone.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var base = cmp.Or(os.Getenv("INNSIGLI_URL"), "http://127.0.0.1:8080")

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: sign document.pdf signed.pdf")
	}
	document, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	c := client{http.Client{Timeout: time.Minute}, ""}
	if err := c.logIn(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET")); err != nil {
		log.Fatal(err)
	}
	signed, err := c.sign(filepath.Base(os.Args[1]), document)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], signed, 0o600); err != nil {
		log.Fatal(err)
	}
}

// client calls the API with a token.
type client struct {
	http.Client
	token string
}

func (c *client) logIn(id, secret string) error {
	form := url.Values{"grant_type": {"client_credentials"}}
	r, err := http.NewRequest(http.MethodPost, base+"/api/v1/auth/token", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(id, secret)
	answer, err := c.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var granted struct {
		AccessToken string `json:"access_token"`
		Error       string `json:"error"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&granted); err != nil {
		return err
	}
	if granted.AccessToken == "" {
		return fmt.Errorf("no token: %s, %s", answer.Status, granted.Error)
	}
	c.token = granted.AccessToken
	return nil
}

// sign has a document signed by a sandbox user, who stands in for a person in the sandbox.
func (c *client) sign(name string, document []byte) ([]byte, error) {
	user := map[string]any{"fullName": "Sandbox Signer", "kennitala": "0101302989", "phone": "5550101"}
	status, answer, err := c.call(http.MethodPost, "/api/v1/sandbox/users", user)
	if err != nil || status != http.StatusOK && status != http.StatusUnprocessableEntity { // there is one, from the last time
		return nil, fmt.Errorf("no sandbox user: %d, %s, %v", status, answer, err)
	}
	status, answer, err = c.call(http.MethodPost, "/api/v1/signing", map[string]any{
		"file":           map[string]any{"type": "Pdf", "name": name, "contentB64": document}, // bytes are Base64 in JSON
		"signer":         map[string]any{"kennitala": user["kennitala"], "signingMethod": "IdpApp"},
		"signatureImage": map[string]any{"alignment": "BottomRight", "positioning": "Auto"},
	})
	if err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("not started: %d, %s, %v", status, answer, err)
	}
	var started struct {
		PollingID string
		Interval  int // seconds
	}
	if err := json.Unmarshal(answer, &started); err != nil {
		return nil, err
	}
	return c.poll("/api/v1/signing/"+started.PollingID, time.Duration(started.Interval)*time.Second)
}

func (c *client) poll(path string, interval time.Duration) ([]byte, error) {
	for {
		time.Sleep(interval)
		status, answer, err := c.call(http.MethodGet, path, nil)
		if err != nil {
			return nil, err
		}
		var polled struct {
			SignedFileB64    []byte
			ErrorCode        string
			VerificationCode string
		}
		if err := json.Unmarshal(answer, &polled); err != nil {
			return nil, err
		}
		switch {
		case status == http.StatusOK:
			return polled.SignedFileB64, nil
		case polled.ErrorCode == "SlowDown":
			interval += 5 * time.Second
		case polled.ErrorCode == "AuthorizationPending":
			fmt.Printf("The phone shows %s.\n", cmp.Or(polled.VerificationCode, "no code yet"))
		default:
			return nil, fmt.Errorf("not signed: %d, %s", status, answer)
		}
	}
}

// call calls the API, and waits as long as an answer of 429 or 503 asks for.
func (c *client) call(method, path string, body any) (status int, answer []byte, err error) {
	var content []byte
	if body != nil {
		if content, err = json.Marshal(body); err != nil {
			return 0, nil, err
		}
	}
	for {
		r, err := http.NewRequest(method, base+path, bytes.NewReader(content))
		if err != nil {
			return 0, nil, err
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		r.Header.Set("Content-Type", "application/json")
		response, err := c.Do(r)
		if err != nil {
			return 0, nil, err
		}
		answer, err := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusServiceUnavailable {
			return response.StatusCode, answer, err
		}
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 where it is no number
		time.Sleep(time.Duration(max(seconds, 1)) * time.Second)
	}
}
