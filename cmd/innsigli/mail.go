package main

import (
	"context"
	"fmt"
	netmail "net/mail"

	"github.com/innsigli/innsigli/server/config"
)

type mailCommand struct {
	Test mailTest `cmd:"" help:"Send a test message, and print the conversation with the mail server."`
}

func (mailCommand) Help() string {
	return "Example: innsigli mail test you@example.is --mail smtp://mail.example --config innsigli.toml"
}

type mailTest struct {
	config.MailTest
	Address string `arg:"" help:"Recipient of the message."`
}

func (mailTest) Help() string {
	return "The command sends one message as innsigli serve would, with the same flags and configuration, and prints each command (C) and each answer (S), without the login and the message itself. Exit status 0 means that the server has accepted the message; it may still not arrive. With dir:PATH the command prints the path of the file.\n\nExample: innsigli mail test you@example.is --mail smtp://mail.example --config innsigli.toml --base-url https://sign.example"
}

func (c mailTest) Run(ctx context.Context, s streams) error {
	if c.Mail == "" {
		return fmt.Errorf("%w: --mail is missing", errUsage)
	}
	if _, err := netmail.ParseAddress(c.Address); err != nil {
		return fmt.Errorf("%w: %q is not a mail address such as you@example.is", errUsage, c.Address)
	}
	if err := c.Send(ctx, c.Address, func(line string) { fmt.Fprintln(s.stdout, line) }); err != nil {
		if advice := config.MailAdvice(err); advice != "" {
			s.say(advice)
		}
		return err
	}
	_, err := fmt.Fprintln(s.stdout, "The mail server accepted the message.")
	return err
}
