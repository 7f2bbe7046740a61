package main

import (
	"bytes"
	"context"
	"crypto/x509"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/config"
)

type demoCommand struct {
	File  string `arg:"" optional:"" name:"file" help:"PDF to sign (default: a sample)."`
	Out   string `short:"o" default:"signed.pdf" placeholder:"FILE" help:"File to write (default ${default}); sandbox-root.pem goes beside it."`
	Level string `default:"LT" help:"Level of the signature: B, T, LT or LTA (default ${default})."`
	rendererFlag
}

func (demoCommand) Help() string { return "Example: innsigli demo contract.pdf -o signed.pdf" }

// sample is the document that is signed if the user gives none.
//
//go:embed sample.pdf
var sample []byte

func (c demoCommand) Run(ctx context.Context, s streams) error {
	level, err := parseLevel(c.Level)
	if err != nil {
		return err
	}
	name, content := "sample.pdf", sample
	if c.File != "" {
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
	return c.withServer(ctx, s, folder, func(ctx context.Context, srv *server.Server, d *demoClient) error {
		signed, err := d.sign(ctx, name, content, level)
		if err != nil {
			return err
		}
		return c.finish(ctx, s, srv, signed)
	})
}

// finish verifies the signed document and writes the files.
func (c demoCommand) finish(ctx context.Context, s streams, srv *server.Server, signed []byte) error {
	root := filepath.Join(filepath.Dir(c.Out), "sandbox-root.pem")
	if err := errors.Join(writeFile(c.Out, signed), writeFile(root, srv.RootPEM())); err != nil {
		return err
	}
	fmt.Fprintln(s.stdout)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(srv.RootPEM())
	verifier := &verifier{roots: roots}
	result, err := verifier.reported(ctx, verifier.verify(ctx, c.Out, semaphore.NewWeighted(maxVerifiedAtOnce)))
	if err != nil {
		return err
	}
	if err := result.Text(s.stdout, report.English); err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "\nWrote %s (%d bytes) and %s.\nVerify it with: innsigli verify %s --trust %s\n", c.Out, len(signed), root, c.Out, root)
	if !result.Passed {
		return errors.New("the new signature does not verify")
	}
	return nil
}

// withServer calls f while a sandbox with a store in folder runs.
func (c demoCommand) withServer(ctx context.Context, s streams, folder string, f func(context.Context, *server.Server, *demoClient) error) error {
	conf, faults := config.Read(config.Flags{
		Environment: "sandbox", Listen: "127.0.0.1:0", Store: "bolt:" + filepath.Join(folder, "demo.db"),
		RendererFlag: config.RendererFlag{RendererCache: c.folder()}, TestKeysFlag: config.TestKeysFlag{TestKeys: sandbox.P256},
	}, nil, nil)
	if err := faults.Err(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(s.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})) // the demo prints each request
	d, err := conf.Open(ctx, log, compileApart)
	if err != nil {
		return err
	}
	d.Server.OperatorSocket = ""
	d.Server.Limits.Client, d.Server.Limits.Address = server.Unlimited, server.Unlimited
	srv, err := server.New(ctx, d.Server)
	if err != nil {
		return errors.Join(err, d.Close())
	}
	credentials, err := srv.SandboxClient(ctx, "", "")
	if err == nil {
		err = d.Server.Renderer.WarmNotify(ctx, s.say)
	}
	if err == nil {
		fmt.Fprintf(s.stdout, "Sandbox at %s\n\n", srv.BaseURL())
		group, ctx := errgroup.WithContext(ctx)
		ctx, stop := context.WithCancel(ctx)
		group.Go(func() error { return srv.Run(ctx) })
		group.Go(func() error {
			defer stop()
			return f(ctx, srv, &demoClient{base: srv.BaseURL(), credentials: credentials, out: s.stdout})
		})
		err = group.Wait()
	}
	return errors.Join(err, srv.Close(), d.Close())
}

// demoClient makes the requests of a client system, and prints them.
type demoClient struct {
	base        string
	credentials server.Credentials
	token       string
	out         io.Writer
}

// sign gets a token, creates a sandbox user, starts a signing request and polls for the signed document.
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
	var noSpace *refusedError
	if errors.As(err, &noSpace) && noSpace.Title == "No free signature slot" {
		fmt.Fprintln(d.out, "     no free space for a stamp on page 1: trying again without signatureImage")
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

// apiLevels has the names of levels in the API (spec 3.4).
var apiLevels = map[ades.Level]string{ades.B: "B", ades.T: "T", ades.LT: "Lt", ades.LTA: "Lta"}

// signatureImage asks for a stamp in the first free space (spec 3.3).
const signatureImage = `{"alignment": "BottomRight", "positioning": "Auto"}`

func startBody(name string, content []byte, level ades.Level) map[string]any {
	return map[string]any{
		"file":           map[string]any{"type": "Pdf", "name": name, "contentB64": base64.StdEncoding.EncodeToString(content)},
		"signer":         map[string]any{"kennitala": "0101302989", "signingMethod": "IdpApp", "city": "Reykjavík", "country": "Ísland"},
		"signatureImage": json.RawMessage(signatureImage),
		"advancedSignatureSettings": map[string]any{
			"signatureLevel": apiLevels[level],
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
	request.SetBasicAuth(url.QueryEscape(d.credentials.ID), url.QueryEscape(*d.credentials.Secret)) // RFC 6749 2.3.1
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

// refusedError is a response with a status other than 2xx.
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

// do makes a request, and prints it with the status and duration of the response.
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
		_ = json.Unmarshal(body, refused) // a body that is not JSON leaves only the status
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
