package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	netmail "net/mail"
	"time"

	"github.com/innsigli/innsigli/internal/mail"
)

type mailCommand struct {
	Test mailTest `cmd:"" help:"Send a message, and print what is said with the mail server."`
}

func (mailCommand) Help() string {
	return "Example: innsigli mail test you@example.is --mail smtp://mail.example --config innsigli.toml"
}

type mailTest struct {
	mailFlag
	Config  string `placeholder:"FILE" help:"The configuration of innsigli serve, for its [mail]."`
	BaseURL string `name:"base-url" default:"http://localhost" placeholder:"URL" help:"That of innsigli serve, in whose name a message is sent unless [mail] says from whom (default ${default})."`
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
	out, head, err := c.open(func(line string) { fmt.Fprintln(s.out, line) })
	if err != nil {
		return err
	}
	m, err := testMail(c.BaseURL, head, time.Now())
	if err != nil {
		return err
	}
	m.To = []string{c.Address}
	if err := out.Send(ctx, m); err != nil {
		if f := new(mail.Failure); errors.As(err, &f) {
			s.say(mailAdvices[f.Step])
		}
		return err
	}
	_, err = fmt.Fprintln(s.out, "The message was taken.")
	return err
}

// open reads the flags and the file, and finds every fault in both.
func (c mailTest) open(told func(line string)) (mail.Transport, letterhead, error) {
	var conf configuration
	var found faults
	if c.Config != "" {
		conf, found = readConfiguration(c.Config)
	}
	out := c.telling(conf.mail, c.BaseURL, told, &found)
	return out, headOf(conf.operator), found.err()
}

// mailAdvices are what to do about a failure.
var mailAdvices = map[mail.Step]string{
	mail.Connecting:     "See the host and the port in --mail, tls and roots in [mail], and whether a firewall is in between.",
	mail.Hello:          "See hello-name in [mail]; the server may want a name that leads to this machine.",
	mail.StartingTLS:    "See tls and roots in [mail]; smtps:// is for servers with TLS from the start.",
	mail.Authenticating: "See username, password-file and authentication in [mail], or the same in --mail.",
	mail.From:           "See from and envelope-sender in [mail]; the server may let this user send from another address alone, or want a login.",
	mail.To:             "The address may not exist; or the server passes nothing on for who has not logged in.",
	mail.Data:           "What is in the message was not asked for yet: the server may have no room.",
	mail.End:            "See whether the message is there: unless the server has refused it, nobody knows.",
}

var (
	testWordsIS = wording{"Prófun á pósti", "HOST getur sent póst. Þessi skilaboð voru send WHEN til að prófa það. Ekki þarf að bregðast við þeim."}
	testWordsEN = wording{"A test of the mail", "HOST can send mail. This message was sent on WHEN to try it. There is nothing to do about it."}
)

// testMail is a message of which nothing follows.
func testMail(baseURL string, head letterhead, now time.Time) (mail.Message, error) {
	n := notice{
		Head:    head,
		Subject: testWordsIS.title + " / " + testWordsEN.title,
		Languages: []translation{
			{Lang: "is", Title: testWordsIS.title, Text: testWordsIS.with("HOST", baseURL, "WHEN", icelandicTime(now))},
			{Lang: "en", Title: testWordsEN.title, Text: testWordsEN.with("HOST", baseURL, "WHEN", englishTime(now))},
		},
	}
	return n.message(rand.Text())
}
