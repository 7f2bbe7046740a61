package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"

	"github.com/innsigli/innsigli/sandbox"
)

type sandboxCommand struct {
	storeFlag
	masterKeyFlag
	storedRendererFlag
	logFlag
	privateWebhooksFlag
	Listen       string          `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address to listen on; port 0 takes a free one (default ${default})."`
	ClientID     string          `placeholder:"ID" help:"Make an API client with this ID, if there is none."`
	ClientSecret string          `placeholder:"SECRET" help:"The secret of --client-id. Where strangers reach the sandbox, let it be random, of 22 characters or more; only a digest of it is stored."`
	Keys         sandbox.KeyType `name:"sandbox-keys" enum:"p256,rsa3072" default:"p256" placeholder:"KIND" help:"Kind of key that new test users get: p256 or rsa3072 (default ${default})."`
	JSON         bool            `help:"Print one line of JSON once it listens, and nothing else."`
}

func (sandboxCommand) Help() string {
	return storeHelp + "\n\n" + masterKeyHelp + "\n\nExample: innsigli sandbox --listen 127.0.0.1:8080 --store bolt:innsigli-sandbox.db"
}

func (c sandboxCommand) Run(ctx context.Context, s streams) error {
	if (c.ClientID == "") != (c.ClientSecret == "") {
		return fmt.Errorf("%w: --client-id and --client-secret go together", errUsage)
	}
	place, err := parseStore(c.Store)
	if err != nil {
		return err
	}
	server, err := setup{
		place:     place,
		masterKey: c.file(place),
		keys:      c.Keys,
		retention: defaultRetention,
		private:   c.PrivateWebhooks,
		renderer:  c.cacheBeside(place),
		log:       c.log(s.talk),
		steps:     slog.LevelDebug,
	}.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(c.serve(ctx, s, server, place), server.close())
}

func (c sandboxCommand) serve(ctx context.Context, s streams, server *server, in place) error {
	credentials, err := server.credentials(ctx, c.ClientID, c.ClientSecret)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	ready := sandboxReady{
		BaseURL:         baseURL(listener.Addr()),
		ClientID:        credentials.id,
		ClientSecret:    credentials.secret,
		RootCertificate: string(server.signers.own.RootPEM()),
	}
	return server.serve(ctx, listener, ready.BaseURL, in.socket(), func() error {
		if c.JSON {
			return json.NewEncoder(s.out).Encode(ready)
		}
		return ready.walkThrough(s.out)
	})
}

// baseURL is an address at which the listener is reached from this machine.
func baseURL(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if ip := net.ParseIP(host); err == nil && ip.IsUnspecified() {
		return "http://" + net.JoinHostPort("localhost", port)
	}
	return "http://" + a.String()
}

// sandboxReady is what a sandbox says of itself once it listens.
type sandboxReady struct {
	BaseURL         string  `json:"baseUrl"`
	ClientID        string  `json:"clientId"`
	ClientSecret    *string `json:"clientSecret"`
	RootCertificate string  `json:"rootCertificate"` // PEM
}

// walkThrough prints what to type to get a document signed.
func (r sandboxReady) walkThrough(w io.Writer) error {
	secret, note := "YOUR_SECRET", "\n(The secret was shown when the client was made. Make another with: innsigli client create.)\n"
	if r.ClientSecret != nil {
		secret, note = *r.ClientSecret, ""
	}
	_, err := fmt.Fprintf(w, `Sandbox at %[1]s

  client id      %[5]s
  client secret  %[6]s
%[4]s
Sign a document.pdf, in four steps:

  TOKEN=$(curl -s -u '%[2]s:%[3]s' -d grant_type=client_credentials \
    %[1]s/api/v1/auth/token | sed 's/.*"access_token":"\([^"]*\)".*/\1/')

  curl -s %[1]s/api/v1/sandbox/users -H "Authorization: Bearer $TOKEN" \
    -d '{"fullName":"Sandbox Signer","kennitala":"0101302989","phone":"5550101"}' \
    -H 'Content-Type: application/json'

  POLL=$(printf '{"file":{"type":"Pdf","name":"document.pdf","contentB64":"%%s"},
    "signer":{"kennitala":"0101302989","signingMethod":"IdpApp"},
    "signatureImage":{"alignment":"BottomRight","positioning":"Auto"}}' "$(base64 < document.pdf | tr -d '\n')" |
    curl -s %[1]s/api/v1/signing -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' --data-binary @- |
    sed 's/.*"pollingId":"\([^"]*\)".*/\1/')

  curl -s %[1]s/api/v1/signing/$POLL -H "Authorization: Bearer $TOKEN"; sleep 1
  curl -s %[1]s/api/v1/signing/$POLL -H "Authorization: Bearer $TOKEN" |
    sed 's/.*"signedFileB64":"\([^"]*\)".*/\1/' | base64 -d > signed.pdf

The root of its test certificates: %[1]s/.well-known/sandbox-root.pem
`, r.BaseURL, url.QueryEscape(r.ClientID), url.QueryEscape(secret), note, r.ClientID, secret)
	return err
}
