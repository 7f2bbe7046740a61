package main

import (
	"net/url"

	"github.com/innsigli/innsigli/internal/mail"
)

// readMail reads the [mail] of a configuration: who messages are from. What is faulty is left out
// of the answer, so that each fault is told once.
func readMail(t section) mail.Sender {
	m := mail.Sender{From: t.text("from"), ReplyTo: t.text("reply-to"), Envelope: t.text("envelope-sender")}
	from, replyTo, envelope := m.Check()
	if !t.judged("from", from) {
		m.From = ""
	}
	if !t.judged("reply-to", replyTo) {
		m.ReplyTo = ""
	}
	if !t.judged("envelope-sender", envelope) {
		m.Envelope = ""
	}
	t.end()
	return m
}

// mailFlag says where messages go.
type mailFlag struct {
	Mail string `placeholder:"WHERE" help:"In production, where mail to people goes: smtp://USER:PASSWORD@HOST, with STARTTLS; smtps://…; smtp://HOST?tls=none; or dir:PATH, files for trials. A password is better given in INNSIGLI_MAIL."`
}

// transport is what the flag says, with the sender that the configuration says; nil when there is
// no mail. Unless told otherwise, messages are from innsigli at the host of the base URL.
func (f mailFlag) transport(from mail.Sender, baseURL string, found *faults) mail.Transport {
	if f.Mail == "" {
		if from != (mail.Sender{}) {
			found.add("--mail", "is missing, and the configuration has [mail]")
		}
		return nil
	}
	if u, err := url.Parse(baseURL); err == nil && from.From == "" {
		from.From = "Innsigli <innsigli@" + u.Hostname() + ">"
	}
	out, err := mail.Parse(f.Mail, from)
	if err != nil {
		section{faults: found}.judged("--mail", err)
	}
	return out
}
