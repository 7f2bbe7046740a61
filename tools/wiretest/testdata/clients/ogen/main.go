// Command ogen signs a PDF with the client that ogen makes of the API's description:
//
//	ogen --target api --clean openapi.json
//	go run . document.pdf signed.pdf
//
// INNSIGLI_URL, CLIENT_ID and CLIENT_SECRET are in the environment.
package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/ogen-go/ogen/ogenerrors"

	"example.com/clients/ogen/api"
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
	user, err := client.CreateSandboxUser(ctx, &api.SandboxUserDraft{FullName: "Sandbox Signer", Kennitala: "0101302989", Phone: "5550101"})
	if err != nil {
		return err
	}
	if _, made := user.(*api.NewSandboxUserHeaders); !made {
		return fmt.Errorf("no user: %+v", user)
	}
	begun, err := client.StartSigning(ctx, &api.SigningStart{
		File:   api.SigningFile{Type: api.SigningFileTypePdf, Name: "document.pdf", ContentB64: base64.StdEncoding.EncodeToString(content)},
		Signer: api.Signer{Kennitala: "0101302989", SigningMethod: api.SignerSigningMethodIdpApp},
		SignatureImage: api.NewOptNilSignatureImage(api.SignatureImage{
			Alignment:   api.SignatureImageAlignmentBottomRight,
			Positioning: api.NewOptNilSignatureImagePositioning(api.SignatureImagePositioningAuto),
		}),
	}, api.StartSigningParams{})
	if err != nil {
		return err
	}
	started, is := begun.(*api.SigningStartedHeaders)
	if !is {
		return fmt.Errorf("not started: %+v", begun)
	}
	interval := time.Duration(started.Response.Interval) * time.Second
	for {
		time.Sleep(interval)
		polled, err := client.PollSigning(ctx, api.PollSigningParams{PollingId: started.Response.PollingId})
		if err != nil {
			return err
		}
		switch answer := polled.(type) {
		case *api.SignedDocument:
			content, err := base64.StdEncoding.DecodeString(answer.SignedFileB64)
			if err != nil {
				return err
			}
			return os.WriteFile(signed, content, 0o600)
		case *api.PollSigningBadRequestApplicationJSONHeaders:
			switch answer.Response.ErrorCode {
			case api.NewNilSigningFailureErrorCode(api.SigningFailureErrorCodeAuthorizationPending):
			case api.NewNilSigningFailureErrorCode(api.SigningFailureErrorCodeSlowDown):
				interval += 5 * time.Second
			default:
				return fmt.Errorf("not signed: %+v", answer)
			}
		default:
			return fmt.Errorf("not signed: %+v", polled)
		}
	}
}

// credentials is the token that calls carry.
type credentials struct{ token string }

func (c credentials) AccessToken(context.Context, api.OperationName) (api.AccessToken, error) {
	return api.AccessToken{Token: c.token}, nil
}

// ClientCredentials skips this scheme: calls carry the token.
func (credentials) ClientCredentials(context.Context, api.OperationName) (api.ClientCredentials, error) {
	return api.ClientCredentials{}, ogenerrors.ErrSkipClientSecurity
}

// connect returns a client that sends a token.
func connect(ctx context.Context) (*api.Client, error) {
	base := os.Getenv("INNSIGLI_URL")
	anonymous, err := api.NewClient(base, credentials{})
	if err != nil {
		return nil, err
	}
	answer, err := anonymous.GetToken(ctx, &api.TokenRequest{
		GrantType:    api.TokenRequestGrantTypeClientCredentials,
		ClientID:     api.NewOptNilString(os.Getenv("CLIENT_ID")),
		ClientSecret: api.NewOptNilString(os.Getenv("CLIENT_SECRET")),
	})
	if err != nil {
		return nil, err
	}
	token, is := answer.(*api.TokenHeaders)
	if !is {
		return nil, fmt.Errorf("no token: %+v", answer)
	}
	return api.NewClient(base, credentials{token.Response.AccessToken})
}
