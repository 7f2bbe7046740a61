// Command oapicodegen signs a PDF with the client that oapi-codegen makes of the API's description:
//
//	oapi-codegen -package api -o api/api.gen.go openapi.json
//	go run . document.pdf signed.pdf
//
// INNSIGLI_URL, CLIENT_ID and CLIENT_SECRET are in the environment.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"example.com/clients/oapicodegen/api"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, document, signed string) error {
	content, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	client, err := connect(ctx)
	if err != nil {
		return err
	}
	user := api.CreateSandboxUserJSONRequestBody{FullName: "Sandbox Signer", Kennitala: "0101302989", Phone: "5550101"}
	made, err := client.CreateSandboxUserWithResponse(ctx, user)
	if err != nil {
		return err
	}
	if made.JSON200 == nil {
		return fmt.Errorf("no user: %s", made.Body)
	}
	auto := api.SignatureImagePositioningAuto
	started, err := client.StartSigningWithResponse(ctx, nil, api.StartSigningJSONRequestBody{
		File:           api.SigningFile{Type: api.Pdf, Name: "document.pdf", ContentB64: content},
		Signer:         api.Signer{Kennitala: "0101302989", SigningMethod: api.IdpApp},
		SignatureImage: &api.SignatureImage{Alignment: api.SignatureImageAlignmentBottomRight, Positioning: &auto},
	})
	if err != nil {
		return err
	}
	if started.JSON200 == nil {
		return fmt.Errorf("not started: %s", started.Body)
	}
	interval := time.Duration(started.JSON200.Interval) * time.Second
	for {
		time.Sleep(interval)
		polled, err := client.PollSigningWithResponse(ctx, started.JSON200.PollingId)
		if err != nil {
			return err
		}
		if polled.JSON200 != nil {
			return os.WriteFile(signed, polled.JSON200.SignedFileB64, 0o600)
		}
		if polled.JSON400 == nil || polled.JSON400.ErrorCode == nil {
			return fmt.Errorf("not signed: %s", polled.Body)
		}
		switch *polled.JSON400.ErrorCode {
		case api.SigningFailureErrorCodeAuthorizationPending:
		case api.SigningFailureErrorCodeSlowDown:
			interval += 5 * time.Second
		default:
			return fmt.Errorf("not signed: %s", polled.Body)
		}
	}
}

// connect returns a client that sends a token.
func connect(ctx context.Context) (*api.ClientWithResponses, error) {
	base, id, secret := os.Getenv("INNSIGLI_URL"), os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET")
	anonymous, err := api.NewClientWithResponses(base)
	if err != nil {
		return nil, err
	}
	token, err := anonymous.GetTokenWithResponse(ctx, api.GetTokenJSONRequestBody{GrantType: api.TokenRequestGrantTypeClientCredentials, ClientId: &id, ClientSecret: &secret})
	if err != nil {
		return nil, err
	}
	if token.JSON200 == nil {
		return nil, fmt.Errorf("no token: %s", token.Body)
	}
	return api.NewClientWithResponses(base, api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token.JSON200.AccessToken)
		return nil
	}))
}
