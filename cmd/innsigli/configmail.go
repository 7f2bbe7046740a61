package main

import (
	"crypto/x509"
	"errors"
	"net/url"
	"time"

	"github.com/innsigli/innsigli/internal/mail"
)

// mailSettings are the [mail] of a configuration: who messages are from, and how the server of --mail is
// spoken to.
type mailSettings struct {
	sender         mail.Sender
	tls            mail.TLS
	authentication mail.Authentication
	user, password string
	name           string // that the server is greeted by
	timeout        time.Duration
	roots          string // DER, one after the other
}

// readMail reads a [mail]. What is faulty is left out of the answer, so that each fault is told once.
func readMail(t section, files configFiles) mailSettings {
	m := mailSettings{
		sender:         readMailSender(t),
		tls:            mail.TLS(t.oneOf("tls", texts(mail.Protections)...)),
		authentication: mail.Authentication(t.oneOf("authentication", texts(mail.Authentications)...)),
		user:           t.text("username"),
		password:       readNamed(t, "password-file", files.closed(files.secret)),
		name:           t.text("hello-name"),
		timeout:        t.span("timeout"),
	}
	for _, root := range files.certificates(t, "roots") {
		m.roots += string(root.Raw)
	}
	t.end()
	return m
}

func readMailSender(t section) mail.Sender {
	s := mail.Sender{From: t.text("from"), ReplyTo: t.text("reply-to"), Envelope: t.text("envelope-sender")}
	from, replyTo, envelope := s.Check()
	if !t.judged("from", from) {
		s.From = ""
	}
	if !t.judged("reply-to", replyTo) {
		s.ReplyTo = ""
	}
	if !t.judged("envelope-sender", envelope) {
		s.Envelope = ""
	}
	return s
}

func texts[T ~string](values []T) (list []string) {
	for _, v := range values {
		list = append(list, string(v))
	}
	return list
}

// mailFlag says where messages go.
type mailFlag struct {
	Mail string `placeholder:"WHERE" help:"In production, where mail to people goes: smtp://USER:PASSWORD@HOST, with STARTTLS; smtps://…, with TLS from the start; smtp://HOST?tls=none or another of [mail]; or dir:PATH, files for trials. A password is better given in INNSIGLI_MAIL, or with password-file in [mail]."`
}

// transport is what the flag says, with what the configuration says; nil when there is no mail.
func (f mailFlag) transport(m mailSettings, baseURL string, found *faults) mail.Transport {
	if f.Mail == "" {
		if m != (mailSettings{}) {
			found.add("--mail", "is missing, and the configuration has [mail]")
		}
		return nil
	}
	return f.telling(m, baseURL, nil, found)
}

// telling is a transport that tells what is said with the server. Unless told otherwise, messages are
// from innsigli at the host of the base URL.
func (f mailFlag) telling(m mailSettings, baseURL string, told func(string), found *faults) mail.Transport {
	if u, err := url.Parse(baseURL); err == nil && m.sender.From == "" {
		m.sender.From = "Innsigli <innsigli@" + u.Hostname() + ">"
	}
	o := mail.Options{
		Sender: m.sender, TLS: m.tls, Authentication: m.authentication, User: m.user, Password: m.password,
		Name: m.name, Timeout: m.timeout, Told: told,
	}
	if m.roots != "" {
		roots, err := x509.ParseCertificates([]byte(m.roots))
		if err != nil {
			found.add("mail.roots", "%v", err)
		}
		o.Roots = poolOf(roots)
	}
	out, err := mail.Parse(f.Mail, o)
	if err != nil {
		m.report(err, found)
		return nil
	}
	return out
}

// report notes a fault under the key that it is about, or the flag that says the same.
func (m mailSettings) report(err error, found *faults) {
	f := new(mail.Fault)
	if !errors.As(err, &f) {
		section{faults: found}.judged("--mail", err)
		return
	}
	login := m.user != "" || m.password != "" || m.authentication != ""
	said := map[string]bool{
		"tls": m.tls != "", "authentication": m.authentication != "", "username": login, "password": login,
		"hello-name": m.name != "", "timeout": m.timeout != 0,
	}
	switch key := f.Field; {
	case key == "address":
		found.add("--mail", "%s", f.Says)
	case !said[key]:
		found.add("--mail", "its %s %s", key, f.Says)
	case key == "password":
		found.add("mail.password-file", "%s", f.Says)
	default:
		found.add("mail."+key, "%s", f.Says)
	}
}
