package main

import (
	"context"
	"fmt"
)

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
	return "It reads the configuration, the provider's metadata and keys, compares the clocks, asks for the tokens of a request that does not exist, and at last has the app ask for the certificate of kennitala " + nobody + ". Nobody has that one, so no phone rings: a provider that says so has accepted what this client signed. If it refuses the app, the SIM of phone number " + nobodysPhone + " is tried, which nobody has either: where that is accepted, the client is right and the app alone in doubt. Of [login] it does the same without a request, with an authorization code that does not exist.\n\nExample: innsigli idp check --config innsigli.toml"
}

func (c idpCheck) Run(ctx context.Context, s streams) error {
	conf, found := readConfiguration(c.Config)
	if c.Environment == "production" {
		conf.required(&found)
	} else if conf.provider == nil && conf.login == nil {
		found.add("identity-provider", "there is none to check")
	}
	var sheet checkSheet
	for _, fault := range found {
		sheet.fault("configuration", fault, "")
	}
	if len(found) == 0 {
		sheet.ok("configuration", c.Config+" has no faults")
		if err := c.ask(ctx, conf, &sheet); err != nil {
			return err
		}
	}
	if _, err := sheet.WriteTo(s.out); err != nil {
		return err
	}
	if sheet.faulty() {
		return errSilent
	}
	return nil
}

// ask asks the providers of a configuration without faults.
func (c idpCheck) ask(ctx context.Context, conf configuration, sheet *checkSheet) error {
	if conf.provider != nil {
		if err := c.askProvider(ctx, *conf.provider, sheet); err != nil {
			return err
		}
	}
	if conf.login != nil {
		if err := sheet.addLogin(ctx, *conf.login); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (c idpCheck) askProvider(ctx context.Context, p identityProvider, sheet *checkSheet) error {
	p.adapter.SIM.NoLearning = false // the SIM is asked, whose certificate nobody knows
	client, provider, err := p.open()
	if err != nil {
		return fmt.Errorf("the identity provider: %w", err)
	}
	report, err := client.Check(ctx)
	if err != nil {
		return err
	}
	sheet.addReport(report, p, provider.ACRValues())
	if !c.WithoutRequest && report.Endpoints.BackchannelAuthentication != "" {
		sheet.addRequest(ctx, provider)
	}
	return nil
}
