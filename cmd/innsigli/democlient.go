package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// demoClient makes the requests that a client system makes, and prints them.
type demoClient struct {
	base        string
	credentials credentials
	token       string
	out         io.Writer
}

// sign goes the whole way from credentials to the signed document.
func (d *demoClient) sign(ctx context.Context, name string, content []byte, level ades.Level) ([]byte, error) {
	if err := d.authenticate(ctx); err != nil {
		return nil, err
	}
	person := map[string]any{"fullName": "Sandbox Signer", "kennitala": "0101302989", "phone": "5550101"}
	if err := d.call(ctx, http.MethodPost, "/api/v1/sandbox/users", person, nil); err != nil {
		return nil, err
	}
	var started struct {
		PollingID string `json:"pollingId"`
		Interval  int    `json:"interval"`
	}
	body := startBody(name, content, level)
	fmt.Fprintf(d.out, "     \"signatureImage\": %s\n", signatureImage)
	err := d.call(ctx, http.MethodPost, "/api/v1/signing", body, &started)
	var full *refusedError
	if errors.As(err, &full) && full.Title == "No free signature slot" {
		fmt.Fprintln(d.out, "     no free spot for a stamp on page 1: once more, without signatureImage")
		delete(body, "signatureImage")
		err = d.call(ctx, http.MethodPost, "/api/v1/signing", body, &started)
	}
	if err != nil {
		return nil, err
	}
	for {
		var answer struct {
			SignedFile []byte `json:"signedFileB64"`
		}
		err := d.call(ctx, http.MethodGet, "/api/v1/signing/"+started.PollingID, nil, &answer)
		if err == nil {
			return answer.SignedFile, nil
		}
		var refused *refusedError
		if !errors.As(err, &refused) || refused.ErrorCode != "AuthorizationPending" {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(started.Interval) * time.Second):
		}
	}
}

// wireLevels are the levels as the API writes them (service.md 2.1).
var wireLevels = map[ades.Level]string{ades.B: "B", ades.T: "T", ades.LT: "Lt", ades.LTA: "Lta"}

// signatureImage is a stamp in the first free spot (service.md 2.1).
const signatureImage = `{"alignment": "BottomRight", "positioning": "Auto"}`

func startBody(name string, content []byte, level ades.Level) map[string]any {
	return map[string]any{
		"file":           map[string]any{"type": "Pdf", "name": name, "contentB64": base64.StdEncoding.EncodeToString(content)},
		"signer":         map[string]any{"kennitala": "0101302989", "signingMethod": "IdpApp", "city": "Reykjavík", "country": "Ísland"},
		"signatureImage": json.RawMessage(signatureImage),
		"advancedSignatureSettings": map[string]any{
			"signatureLevel": wireLevels[level],
		},
	}
}

func (d *demoClient) authenticate(ctx context.Context) error {
	form := url.Values{"grant_type": {"client_credentials"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.base+"/api/v1/auth/token", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(url.QueryEscape(d.credentials.id), url.QueryEscape(*d.credentials.secret)) // RFC 6749 2.3.1
	var token struct {
		AccessToken string `json:"access_token"`
	}
	err = d.do(request, &token)
	d.token = token.AccessToken
	return err
}

func (d *demoClient) call(ctx context.Context, method, path string, body, result any) error {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, d.base+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+d.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return d.do(request, result)
}

// refusedError is an answer other than 2xx.
type refusedError struct {
	Status    int
	ErrorCode string          `json:"errorCode"`
	Code      string          `json:"verificationCode"`
	Title     string          `json:"title"`
	Errors    json.RawMessage `json:"errors"`
}

func (e *refusedError) Error() string {
	if e.ErrorCode != "" {
		return "the signing request failed: " + e.ErrorCode
	}
	return fmt.Sprintf("the server answered %d: %s %s", e.Status, e.Title, e.Errors)
}

// do makes a request and prints it with its answer and time.
func (d *demoClient) do(request *http.Request, result any) error {
	began := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%-4s %-58s %d", request.Method, request.URL.Path, response.StatusCode)
	took := time.Since(began).Round(time.Millisecond)
	if response.StatusCode >= 300 {
		refused := &refusedError{Status: response.StatusCode}
		_ = json.Unmarshal(body, refused) // what is no JSON has a status all the same
		fmt.Fprintf(d.out, "%s %s %6s\n", line, refused.summary(), took)
		return refused
	}
	fmt.Fprintf(d.out, "%s %6s\n", line, took)
	if result == nil {
		return nil
	}
	return json.Unmarshal(body, result)
}

func (e *refusedError) summary() string {
	if e.Code != "" {
		return e.ErrorCode + ", the phone shows " + e.Code
	}
	return e.ErrorCode + e.Title
}
