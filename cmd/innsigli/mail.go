package main

import (
	"context"
	"fmt"
	netmail "net/mail"

	"github.com/innsigli/innsigli/server/config"
)

type mailCommand struct {
	Test mailTest `cmd:"" help:"Send a message, and print what is said with the mail server."`
}

func (mailCommand) Help() string {
	return "Example: innsigli mail test you@example.is --mail smtp://mail.example --config innsigli.toml"
}

type mailTest struct {
	config.MailTest
	Address string `arg:"" help:"Whom to send it to."`
}

func (mailTest) Help() string {
	return "It sends one message as innsigli serve would, with the same flags and configuration, and prints each command (C) and answer (S). Logins and the message itself are left out. Exit status 0 says that the server has taken the message, which does not say yet that it arrives. With dir:PATH it says where the file is.\n\nExample: innsigli mail test you@example.is --mail smtp://mail.example --config innsigli.toml --base-url https://sign.example"
}

func (c mailTest) Run(ctx context.Context, s streams) error {
	if c.Mail == "" {
		return fmt.Errorf("%w: --mail is missing, which says where mail goes", errUsage)
	}
	if _, err := netmail.ParseAddress(c.Address); err != nil {
		return fmt.Errorf("%w: %q is no address, such as you@example.is", errUsage, c.Address)
	}
	if err := c.Send(ctx, c.Address, func(line string) { fmt.Fprintln(s.stdout, line) }); err != nil {
		if advice := config.MailAdvice(err); advice != "" {
			s.say(advice)
		}
		return err
	}
	_, err := fmt.Fprintln(s.stdout, "The message was taken.")
	return err
}
