package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/sandbox"
)

type demoCommand struct {
	File  string `arg:"" optional:"" name:"file" help:"PDF to sign (default a sample)."`
	Out   string `short:"o" default:"signed.pdf" placeholder:"FILE" help:"File to write (default ${default}); sandbox-root.pem goes beside it."`
	Level string `default:"B" help:"Level of the signature; B is the only one so far (default ${default})."`
}

func (demoCommand) Help() string { return "Example: innsigli demo contract.pdf -o signed.pdf" }

// sample is the document that is signed when none is given.
//
//go:embed sample.pdf
var sample []byte

func (c demoCommand) Run(ctx context.Context, s streams) error {
	if err := onlyLevelB(c.Level); err != nil {
		return err
	}
	name, content := "sample.pdf", sample
	if c.File != "" {
		var err error
		if content, err = os.ReadFile(c.File); err != nil {
			return err
		}
		name = filepath.Base(c.File)
	}
	folder, err := os.MkdirTemp("", "innsigli-demo-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	return withDemoServer(ctx, s, filepath.Join(folder, "demo.db"), func(server *server, d *demoClient) error {
		signed, err := d.sign(ctx, name, content)
		if err != nil {
			return err
		}
		return c.finish(ctx, s, server, signed)
	})
}

// finish verifies the signed document and writes the files.
func (c demoCommand) finish(ctx context.Context, s streams, server *server, signed []byte) error {
	root := filepath.Join(filepath.Dir(c.Out), "sandbox-root.pem")
	if err := errors.Join(writeFile(c.Out, signed), writeFile(root, server.sandbox.RootPEM())); err != nil {
		return err
	}
	fmt.Fprintln(s.out)
	result := verifyFile(ctx, c.Out, pades.VerifyOptions{Roots: server.sandbox.Roots()})
	if err := result.print(s.out, false); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\nWrote %s (%d bytes) and %s.\nCheck it again with: innsigli verify %s --trust %s\n", c.Out, len(signed), root, c.Out, root)
	if !result.passed {
		return errors.New("the signature that was just made does not verify")
	}
	return nil
}

// withDemoServer calls f while a sandbox runs on a store of its own.
func withDemoServer(ctx context.Context, s streams, store string, f func(*server, *demoClient) error) error {
	server, err := openServer(ctx, store, sandbox.P256, slog.New(slog.NewTextHandler(s.talk, nil)))
	if err != nil {
		return err
	}
	credentials, err := server.credentials(ctx, "", "")
	if err != nil {
		return errors.Join(err, server.db.Close())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, server.db.Close())
	}
	base := "http://" + listener.Addr().String()
	fmt.Fprintf(s.out, "Sandbox at %s\n\n", base)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err = server.serve(ctx, listener, base, "", func() error {
		defer stop()
		return f(server, &demoClient{base: base, credentials: credentials, out: s.out})
	})
	return errors.Join(err, server.db.Close())
}

// demoClient makes the requests that a client system makes, and prints them.
type demoClient struct {
	base        string
	credentials credentials
	token       string
	out         io.Writer
}

// sign goes the whole way from credentials to the signed document.
func (d *demoClient) sign(ctx context.Context, name string, content []byte) ([]byte, error) {
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
	if err := d.call(ctx, http.MethodPost, "/api/v1/signing", startBody(name, content), &started); err != nil {
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

func startBody(name string, content []byte) map[string]any {
	return map[string]any{
		"file":   map[string]any{"type": "Pdf", "name": name, "contentB64": base64.StdEncoding.EncodeToString(content)},
		"signer": map[string]any{"kennitala": "0101302989", "signingMethod": "IdpApp", "city": "Reykjavík", "country": "Ísland"},
		"advancedSignatureSettings": map[string]any{
			"signatureLevel": "B",
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
