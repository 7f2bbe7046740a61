package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"

	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/config"
)

type sandboxCommand struct {
	storeFlag
	config.MasterKeyFlag
	config.RendererFlag
	config.LogFlags
	config.WebhooksFlag
	Listen       string `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address to listen on; port 0 is any free port (default ${default})."`
	ClientID     string `placeholder:"ID" help:"Create an API client with this ID, if it does not exist."`
	ClientSecret string `placeholder:"SECRET" help:"The secret of --client-id. If others can reach the sandbox, choose a random secret of at least 22 characters; only its hash is stored."`
	config.TestKeysFlag
	JSON bool `help:"Print one line of JSON when the sandbox listens, and nothing else."`
}

func (sandboxCommand) Help() string {
	return config.StoreHelp + "\n\n" + config.MasterKeyHelp + "\n\nExample: innsigli sandbox --listen 127.0.0.1:8080 --store bolt:innsigli-sandbox.db"
}

func (c sandboxCommand) Run(ctx context.Context, s streams, known variables) error {
	if (c.ClientID == "") != (c.ClientSecret == "") {
		return fmt.Errorf("%w: --client-id and --client-secret must be given together", errUsage)
	}
	if _, err := config.ParseStore(c.Store, c.DatabaseFlag); err != nil {
		return err
	}
	conf, faults := config.Read(config.Flags{
		Environment: "sandbox", Listen: c.Listen, Store: c.Store, DatabaseFlag: c.DatabaseFlag, MasterKeyFlag: c.MasterKeyFlag, RendererFlag: c.RendererFlag,
		WebhooksFlag: c.WebhooksFlag, TestKeysFlag: c.TestKeysFlag,
	}, os.Environ(), known)
	if err := faults.Err(); err != nil {
		return err
	}
	log := c.Log(s.stderr)
	d, err := conf.Open(ctx, log, compileApart)
	if err != nil {
		return err
	}
	limitMemory(d.Server.Renderer.Memory(), log)
	d.Server.Limits.Client, d.Server.Limits.Address = server.Unlimited, server.Unlimited
	d.Server.RequestLevel = slog.LevelDebug
	return errors.Join(c.serve(ctx, s, d.Server), d.Close())
}

func (c sandboxCommand) serve(ctx context.Context, s streams, conf server.Config) error {
	srv, err := server.New(ctx, conf)
	if err != nil {
		return err
	}
	credentials, err := srv.SandboxClient(ctx, c.ClientID, c.ClientSecret)
	if errors.Is(err, server.ErrClientTaken) {
		err = fmt.Errorf("--client-id: client ID %q is taken by a client with another secret or of another account: correct --client-secret, or choose another ID", c.ClientID)
	}
	if err == nil {
		err = c.print(s, sandboxReady{srv.BaseURL(), credentials.ID, credentials.Secret, string(srv.RootPEM())})
	}
	if err == nil {
		err = srv.Run(ctx)
	}
	return errors.Join(err, srv.Close())
}

func (c sandboxCommand) print(s streams, ready sandboxReady) error {
	if c.JSON {
		return json.NewEncoder(s.stdout).Encode(ready)
	}
	return ready.walkThrough(s.stdout)
}

// sandboxReady is what a sandbox prints when it listens.
type sandboxReady struct {
	BaseURL         string  `json:"baseUrl"`
	ClientID        string  `json:"clientId"`
	ClientSecret    *string `json:"clientSecret"`
	RootCertificate string  `json:"rootCertificate"` // PEM
}

// walkThrough prints the commands that sign a document.
func (r sandboxReady) walkThrough(w io.Writer) error {
	secret, note := "YOUR_SECRET", "\n(The secret was shown when the client was created. Create another client with: innsigli client create)\n"
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
