package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/doctor"
)

type doctorCommand struct {
	config.Flags
	JSON bool `help:"Print one JSON object per line for each finding."`
}

func (doctorCommand) Help() string {
	return "The command takes the flags of innsigli serve, or their environment variables, and can run while the server runs. It reads the configuration; opens the store, and decrypts the secrets in it with the master key; asks each timestamp authority for a token, the issuers of the configured certificates for their revocation status, and the identity provider as \"innsigli idp check --without-request\" does; logs in to the mail server; calls the base URL; and checks clocks, the expiry of certificates and the free disk space. No phone rings, no mail is sent, and nothing is changed. Exit status 1 means that there is a FAULT.\n\n--json prints one object per line: {\"verdict\",\"check\",\"says\",\"advice\"}, with the verdict ok, doubt or fault.\n\nExample: innsigli doctor --environment production --listen 127.0.0.1:8080 --base-url https://sign.example --store 'postgres://innsigli@db.example/innsigli?sslmode=verify-full' --master-key-file master.key --config innsigli.toml"
}

func (c doctorCommand) Run(ctx context.Context, s streams, known variables) error {
	conf, faults := config.Read(c.Flags, os.Environ(), known)
	results := doctor.Examine(ctx, conf, faults)
	if c.JSON {
		encoder := json.NewEncoder(s.stdout)
		for _, finding := range results {
			if err := encoder.Encode(finding); err != nil {
				return err
			}
		}
		return silentIf(results.Faulty())
	}
	return printResults(s, results)
}

func printResults(s streams, results doctor.Results) error {
	if _, err := results.WriteTo(s.stdout); err != nil {
		return err
	}
	return silentIf(results.Faulty())
}

// silentIf returns errSilent if something is wrong, which the output of the command has said already.
func silentIf(wrong bool) error {
	if wrong {
		return errSilent
	}
	return nil
}

type idpCommand struct {
	Check idpCheck `cmd:"" help:"Check the identity provider and the connection to it. No phone rings."`
}

func (idpCommand) Help() string { return "Example: innsigli idp check --config innsigli.toml" }

type idpCheck struct {
	Config         string `required:"" placeholder:"FILE" help:"Configuration file of innsigli serve."`
	Environment    string `enum:"sandbox,production" default:"production" placeholder:"ENVIRONMENT" help:"production, or sandbox for a file without the sections that production requires (default ${default})."`
	WithoutRequest bool   `name:"without-request" help:"Do not send an authentication request."`
}

func (idpCheck) Help() string {
	return "The command reads the configuration and the provider's metadata and keys, compares the clocks, asks for the tokens of a request that does not exist, and then sends a request for the certificate in the app of kennitala " + doctor.NoKennitala + ". No person has that kennitala, so no phone rings: a provider that answers so has accepted the signature of this client. If it refuses the request for the app, one for the SIM of phone number " + doctor.NoPhone + " follows, which no person has either: if it is accepted, the client is configured correctly, and only the settings of the app are in doubt. For [login] the command checks the same without such a request, with an authorization code that does not exist.\n\nExample: innsigli idp check --config innsigli.toml"
}

func (c idpCheck) Run(ctx context.Context, s streams) error {
	file, faults := config.ReadFile(c.Config)
	if c.Environment == "production" {
		file.CheckProduction(&faults)
	} else if file.Provider == nil && file.Logins == nil {
		faults = append(faults, "identity-provider and login: both are missing, so there is nothing to check")
	}
	results, err := doctor.CheckProvider(ctx, c.Config, file, faults, !c.WithoutRequest)
	if err != nil {
		return err
	}
	return printResults(s, results)
}
