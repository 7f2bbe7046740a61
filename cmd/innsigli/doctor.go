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
	JSON bool `help:"Print a line of JSON for each finding."`
}

func (doctorCommand) Help() string {
	return "It takes the flags of innsigli serve, or their environment variables, and may be run beside the server. It reads the configuration; opens the store, and with the master key what is sealed in it; asks each timestamp authority for a token, those who issued the configured certificates whether they still stand, and the identity provider as \"innsigli idp check --without-request\" does; logs in to the mail server; calls the base URL; and looks at clocks, at certificates that are about to expire and at the room on the disk. No phone rings, no mail is sent, and nothing is changed. Exit status 1 says that there is a FAULT.\n\n--json prints an object a line: {\"verdict\",\"check\",\"says\",\"advice\"}, with the verdict ok, doubt or fault.\n\nExample: innsigli doctor --environment production --listen 127.0.0.1:8080 --base-url https://sign.example --store postgres://innsigli@db.example/innsigli --master-key-file master.key --config innsigli.toml"
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

// silentIf ends a command whose output says already that something is wrong.
func silentIf(wrong bool) error {
	if wrong {
		return errSilent
	}
	return nil
}

type idpCommand struct {
	Check idpCheck `cmd:"" help:"Say what is wrong with the identity provider, or the way to it, without ringing a phone."`
}

func (idpCommand) Help() string { return "Example: innsigli idp check --config innsigli.toml" }

type idpCheck struct {
	Config         string `required:"" placeholder:"FILE" help:"The configuration of innsigli serve."`
	Environment    string `enum:"sandbox,production" default:"production" placeholder:"ENVIRONMENT" help:"production, or sandbox for a file that lacks what production cannot be without (default ${default})."`
	WithoutRequest bool   `name:"without-request" help:"Leave the request out."`
}

func (idpCheck) Help() string {
	return "It reads the configuration, the provider's metadata and keys, compares the clocks, asks for the tokens of a request that does not exist, and at last has the app ask for the certificate of kennitala " + doctor.NoKennitala + ". Nobody has that one, so no phone rings: a provider that says so has accepted what this client signed. If it refuses the app, the SIM of phone number " + doctor.NoPhone + " is tried, which nobody has either: where that is accepted, the client is right and the app alone in doubt. Of [login] it does the same without a request, with an authorization code that does not exist.\n\nExample: innsigli idp check --config innsigli.toml"
}

func (c idpCheck) Run(ctx context.Context, s streams) error {
	file, faults := config.ReadFile(c.Config)
	if c.Environment == "production" {
		file.CheckProduction(&faults)
	} else if file.Provider == nil && file.Logins == nil {
		faults = append(faults, "identity-provider: there is none to check")
	}
	results, err := doctor.CheckProvider(ctx, c.Config, file, faults, !c.WithoutRequest)
	if err != nil {
		return err
	}
	return printResults(s, results)
}
