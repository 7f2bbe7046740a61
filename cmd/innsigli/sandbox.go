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

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/sandbox"
)

type sandboxCommand struct {
	storeFlag
	Listen       string          `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address to listen on; port 0 takes a free one (default ${default})."`
	ClientID     string          `placeholder:"ID" help:"Make an API client with this ID, if there is none."`
	ClientSecret string          `placeholder:"SECRET" help:"The secret of --client-id."`
	Keys         sandbox.KeyType `name:"sandbox-keys" enum:"p256,rsa3072" default:"p256" help:"Kind of key that new test users get: p256 or rsa3072 (default ${default})."`
	JSON         bool            `help:"Print one line of JSON once it listens, and nothing else."`
}

func (sandboxCommand) Help() string {
	return "Example: innsigli sandbox --listen 127.0.0.1:8080 --store bolt:innsigli-sandbox.db"
}

func (c sandboxCommand) Run(ctx context.Context, s streams) error {
	if (c.ClientID == "") != (c.ClientSecret == "") {
		return fmt.Errorf("%w: --client-id and --client-secret go together", errUsage)
	}
	path, err := storePath(c.Store)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(s.talk, nil))
	server, err := openServer(ctx, path, c.Keys, log)
	if err != nil {
		return err
	}
	return errors.Join(c.serve(ctx, s, server, path), server.db.Close())
}

func (c sandboxCommand) serve(ctx context.Context, s streams, server *server, path string) error {
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
		RootCertificate: string(server.sandbox.RootPEM()),
	}
	return server.serve(ctx, listener, ready.BaseURL, socketPath(path), func() error {
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

// credentials are those of an API client with every scope. The secret is nil when
// an earlier start made it.
type credentials struct {
	id     string
	secret *string
}

// credentials makes the account on first start, and the client that was asked for.
func (s *server) credentials(ctx context.Context, id, secret string) (credentials, error) {
	owner, err := s.owner(ctx)
	if err != nil {
		return credentials{}, err
	}
	if id != "" {
		_, err := s.accounts.EnsureClient(ctx, account.Client{ID: id, AccountID: owner, Name: id, Scopes: account.Scopes()}, secret)
		return credentials{id, &secret}, err
	}
	clients, err := s.accounts.Clients(ctx, owner)
	if err != nil {
		return credentials{}, err
	}
	if len(clients) > 0 {
		return credentials{clients[0].ID, nil}, nil
	}
	made, secret, err := s.accounts.CreateClient(ctx, owner, "sandbox", account.Scopes())
	return credentials{made.ID, &secret}, err
}

// owner is the sandbox's first account. It has a payment method, so that only an
// operator who takes it away sees the refusals (decisions.md 5.7).
func (s *server) owner(ctx context.Context) (id string, err error) {
	accounts, err := s.accounts.Accounts(ctx)
	if err != nil {
		return "", err
	}
	if len(accounts) > 0 {
		return accounts[0].ID, nil
	}
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		made, err := s.accounts.CreateAccount(ctx, "Sandbox")
		id = made.ID
		if err != nil {
			return err
		}
		return s.accounts.SetPaymentMethod(ctx, id, true)
	})
	return id, err
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
    "signer":{"kennitala":"0101302989","signingMethod":"IdpApp"}}' "$(base64 < document.pdf | tr -d '\n')" |
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
