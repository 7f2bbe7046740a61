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

// Mail is the section [mail]: the sender of messages, and the settings of the connection to the server of --mail.
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

// read reads and checks the section. It leaves faulty values out of the options, so that each fault is reported once.
func (m *Mail) read(s section) {
	sender := mail.Sender{From: m.From, ReplyTo: m.ReplyTo, Envelope: m.EnvelopeSender}
	from, replyTo, envelope := sender.Check()
	if !s.check("from", from) {
		sender.From = ""
	}
	if !s.check("reply-to", replyTo) {
		sender.ReplyTo = ""
	}
	if !s.check("envelope-sender", envelope) {
		sender.Envelope = ""
	}
	s.oneOf("tls", m.TLS, texts(mail.TLSModes)...)
	s.oneOf("authentication", m.Authentication, texts(mail.Authentications)...)
	m.options = mail.Options{
		Sender:         sender,
		TLS:            mail.TLS(m.TLS),
		Authentication: mail.Authentication(m.Authentication),
		User:           m.Username,
		Password:       s.named("password-file", m.PasswordFile, s.files.private(s.files.secret)),
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

// MailFlag sets the mail server.
type MailFlag struct {
	Mail string `placeholder:"WHERE" help:"In production, the mail server: smtp://USER:PASSWORD@HOST with STARTTLS; smtps://… with TLS from the start; smtp://HOST?tls=MODE with a mode of [mail], such as none; or dir:PATH, which writes messages to files, for trials. Give a password in INNSIGLI_MAIL, or with password-file in [mail]."`
}

// transport returns the transport of the flag with the settings of the configuration; nil if no mail is sent. trace, if not
// nil, is called with each line of the conversation with the server.
func (f MailFlag) transport(m Mail, baseURL string, trace func(string), found *Faults) mail.Transport {
	if f.Mail == "" {
		if !reflect.DeepEqual(m, Mail{}) && !reflect.DeepEqual(m.options, mail.Options{}) {
			found.add("--mail", "is missing, but the configuration has [mail]")
		}
		return nil
	}
	o := m.options
	o.Trace = trace
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

// report adds an error of package mail as a fault of the key that set the value, or of the flag if the flag set it.
func (m Mail) report(err error, found *Faults) {
	f := new(mail.OptionError)
	if !errors.As(err, &f) {
		section{found: found}.check("--mail", err)
		return
	}
	o := m.options
	login := o.User != "" || o.Password != "" || o.Authentication != ""
	inFile := map[string]bool{
		"tls": o.TLS != "", "authentication": o.Authentication != "", "username": login, "password": login,
		"hello-name": o.Name != "", "timeout": o.Timeout != 0,
	}
	switch key := f.Field; {
	case key == "address":
		found.add("--mail", "%s", f.Problem)
	case !inFile[key]:
		found.add("--mail", "its %s %s", key, f.Problem)
	case key == "password":
		found.add("mail.password-file", "%s", f.Problem)
	default:
		found.add("mail."+key, "%s", f.Problem)
	}
}

// mailer makes a [server.Mail] of a transport.
type mailer struct{ mail.Transport }

// Send implements [server.Mail].
func (m mailer) Send(ctx context.Context, message server.Message) error {
	return m.Transport.Send(ctx, mail.Message(message))
}

// CheckMail connects and logs in to the mail server, and sends nothing. known is false if there is no mail server.
func (c *Config) CheckMail(ctx context.Context) (known bool, err error) {
	transport, known := c.transport().(mail.Checker)
	if !known {
		return false, nil
	}
	return true, transport.Check(ctx)
}

// HasMail reports whether the server sends mail.
func (c *Config) HasMail() bool { return c.Flags.Mail != "" }

func (c *Config) transport() mail.Transport {
	var found Faults // Read has reported them
	return c.Flags.transport(c.Mail, c.Flags.BaseURL, nil, &found)
}

// MailTest has the flags of a command that sends a test message.
type MailTest struct {
	MailFlag
	Config  string `placeholder:"FILE" help:"Configuration file of innsigli serve, whose [mail] is used."`
	BaseURL string `name:"base-url" default:"http://localhost" placeholder:"URL" help:"Base URL of innsigli serve. The message is sent from its host unless [mail] has a sender (default ${default})."`
}

// Send sends the message to an address, and calls trace with each line of the conversation with the server.
func (t MailTest) Send(ctx context.Context, to string, trace func(line string)) error {
	var file File
	var found Faults
	if t.Config != "" {
		file, found = ReadFile(t.Config)
	}
	out := t.transport(file.Mail, t.BaseURL, trace, &found)
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

// MailAdvice returns what an operator can do about an error of sending mail; empty if unknown.
func MailAdvice(err error) string {
	if f := new(mail.Failure); errors.As(err, &f) {
		return mailAdvice[f.Step]
	}
	return ""
}

var mailAdvice = map[mail.Step]string{
	mail.StepConnect:  "Check the host and the port in --mail, tls and roots in [mail], and whether a firewall blocks the connection.",
	mail.StepHello:    "Check hello-name in [mail]; the server may require a name that resolves to this machine.",
	mail.StepStartTLS: "Check tls and roots in [mail]; smtps:// is for servers with TLS from the start.",
	mail.StepAuth:     "Check username, password-file and authentication in [mail], or the user and password in --mail.",
	mail.StepFrom:     "Check from and envelope-sender in [mail]; the server may permit this user only other senders, or require a login.",
	mail.StepTo:       "The address may not exist, or the server may require a login to relay messages.",
	mail.StepData:     "The server refused the message before it was sent: its disk or the mailbox may be full.",
	mail.StepEnd:      "Check whether the message has arrived: unless the server refused it, it may have been accepted.",
}
