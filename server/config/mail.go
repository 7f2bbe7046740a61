package config

import (
	"context"
	"crypto/x509"
	"errors"
	"net/url"
	"reflect"
	"time"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/server"
	"github.com/innsigli/innsigli/server/internal/notify"
)

// Mail is [mail]: who messages are from, and how the server of --mail is spoken to.
type Mail struct {
	From           string   `toml:"from"`
	ReplyTo        string   `toml:"reply-to"`
	EnvelopeSender string   `toml:"envelope-sender"`
	TLS            string   `toml:"tls"`
	Authentication string   `toml:"authentication"`
	Username       string   `toml:"username"`
	PasswordFile   string   `toml:"password-file"`
	HelloName      string   `toml:"hello-name"`
	Timeout        duration `toml:"timeout"`
	Roots          []string `toml:"roots"`

	options mail.Options
	root    []*x509.Certificate
}

// read checks the section. What is faulty is left out of the options, so that each fault is told once.
func (m *Mail) read(s section) {
	sender := mail.Sender{From: m.From, ReplyTo: m.ReplyTo, Envelope: m.EnvelopeSender}
	from, replyTo, envelope := sender.Check()
	if !s.judged("from", from) {
		sender.From = ""
	}
	if !s.judged("reply-to", replyTo) {
		sender.ReplyTo = ""
	}
	if !s.judged("envelope-sender", envelope) {
		sender.Envelope = ""
	}
	s.oneOf("tls", m.TLS, texts(mail.TLSModes)...)
	s.oneOf("authentication", m.Authentication, texts(mail.Authentications)...)
	m.options = mail.Options{
		Sender:         sender,
		TLS:            mail.TLS(m.TLS),
		Authentication: mail.Authentication(m.Authentication),
		User:           m.Username,
		Password:       s.named("password-file", m.PasswordFile, s.files.closed(s.files.secret)),
		Name:           m.HelloName,
		Timeout:        time.Duration(m.Timeout),
	}
	m.root = s.certificates("roots", m.Roots)
}

func texts[T ~string](values []T) (list []string) {
	for _, v := range values {
		list = append(list, string(v))
	}
	return list
}

// MailFlag says where messages go.
type MailFlag struct {
	Mail string `placeholder:"WHERE" help:"In production, where mail to people goes: smtp://USER:PASSWORD@HOST, with STARTTLS; smtps://…, with TLS from the start; smtp://HOST?tls=none or another of [mail]; or dir:PATH, files for trials. A password is better given in INNSIGLI_MAIL, or with password-file in [mail]."`
}

// transport makes what the flag says, with what the configuration says; nil when there is no mail. told, unless nil, is
// called with what is said with the server.
func (f MailFlag) transport(m Mail, baseURL string, told func(string), found *Faults) mail.Transport {
	if f.Mail == "" {
		if !reflect.DeepEqual(m, Mail{}) && !reflect.DeepEqual(m.options, mail.Options{}) {
			found.add("--mail", "is missing, and the configuration has [mail]")
		}
		return nil
	}
	o := m.options
	o.Trace = told
	if u, err := url.Parse(baseURL); err == nil && o.From == "" {
		o.From = "Innsigli <innsigli@" + u.Hostname() + ">"
	}
	if m.root != nil {
		o.Roots = poolOf(m.root)
	}
	out, err := mail.Parse(f.Mail, o)
	if err != nil {
		m.report(err, found)
		return nil
	}
	return out
}

// report notes a fault under the key that it is about, or the flag that says the same.
func (m Mail) report(err error, found *Faults) {
	f := new(mail.OptionError)
	if !errors.As(err, &f) {
		section{found: found}.judged("--mail", err)
		return
	}
	o := m.options
	login := o.User != "" || o.Password != "" || o.Authentication != ""
	said := map[string]bool{
		"tls": o.TLS != "", "authentication": o.Authentication != "", "username": login, "password": login,
		"hello-name": o.Name != "", "timeout": o.Timeout != 0,
	}
	switch key := f.Field; {
	case key == "address":
		found.add("--mail", "%s", f.Problem)
	case !said[key]:
		found.add("--mail", "its %s %s", key, f.Problem)
	case key == "password":
		found.add("mail.password-file", "%s", f.Problem)
	default:
		found.add("mail."+key, "%s", f.Problem)
	}
}

// mailer is a transport for a server.
type mailer struct{ mail.Transport }

// Send implements [server.Mail].
func (m mailer) Send(ctx context.Context, message server.Message) error {
	return m.Transport.Send(ctx, mail.Message(message))
}

// CheckMail goes as far as a login to the mail server. known is false when there is none that can be asked.
func (c *Config) CheckMail(ctx context.Context) (known bool, err error) {
	out, known := c.transport().(mail.Checker)
	if !known {
		return false, nil
	}
	return true, out.Check(ctx)
}

// HasMail reports whether the server sends mail.
func (c *Config) HasMail() bool { return c.Flags.Mail != "" }

func (c *Config) transport() mail.Transport {
	var found Faults // which Read has told
	return c.Flags.transport(c.Mail, c.Flags.BaseURL, nil, &found)
}

// MailTest is a message that is sent to try the mail of a server.
type MailTest struct {
	MailFlag
	Config  string `placeholder:"FILE" help:"The configuration of innsigli serve, for its [mail]."`
	BaseURL string `name:"base-url" default:"http://localhost" placeholder:"URL" help:"That of innsigli serve, in whose name a message is sent unless [mail] says from whom (default ${default})."`
}

// Send sends the message to an address, and calls told with each line of the conversation with the server.
func (t MailTest) Send(ctx context.Context, to string, told func(line string)) error {
	var file File
	var found Faults
	if t.Config != "" {
		file, found = ReadFile(t.Config)
	}
	out := t.transport(file.Mail, t.BaseURL, told, &found)
	if err := found.Err(); err != nil {
		return err
	}
	m, err := notify.TestMessage(t.BaseURL, notify.LetterheadOf(file.Operator), time.Now())
	if err != nil {
		return err
	}
	m.To = []string{to}
	return out.Send(ctx, m)
}

// MailAdvice returns what to do about an error of sending mail; empty: nothing is known.
func MailAdvice(err error) string {
	if f := new(mail.Failure); errors.As(err, &f) {
		return mailAdvice[f.Step]
	}
	return ""
}

var mailAdvice = map[mail.Step]string{
	mail.StepConnect:  "See the host and the port in --mail, tls and roots in [mail], and whether a firewall is in between.",
	mail.StepHello:    "See hello-name in [mail]; the server may want a name that leads to this machine.",
	mail.StepStartTLS: "See tls and roots in [mail]; smtps:// is for servers with TLS from the start.",
	mail.StepAuth:     "See username, password-file and authentication in [mail], or the same in --mail.",
	mail.StepFrom:     "See from and envelope-sender in [mail]; the server may let this user send from another address alone, or want a login.",
	mail.StepTo:       "The address may not exist; or the server passes nothing on without a login.",
	mail.StepData:     "The server has not asked for the message yet: it may have no room.",
	mail.StepEnd:      "See whether the message is there: unless the server has refused it, nobody knows.",
}
