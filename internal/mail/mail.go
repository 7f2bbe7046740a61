// Package mail sends messages over SMTP (RFC 5321), or writes them into a folder for trials.
//
//	out, err := mail.Parse("smtp://user:password@mail.example", mail.Options{Sender: mail.Sender{From: "Innsigli <sign@example.is>"}})
//	err = out.Send(ctx, mail.Message{ID: id, To: admins, Subject: "…", Text: "…", HTML: "…"})
//
// Each message has a connection of its own and a timeout for all of it, so that a server that is slow, stalls or sends
// without end does not delay other messages. By default the connection uses TLS with a trusted certificate (RFC 3207,
// RFC 8314). A password is never sent over an unprotected connection, except to the local machine.
//
// Errors contain neither recipients nor contents of a message, since they are logged.
package mail

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	stdmail "net/mail"
	"slices"
	"strings"

	gomail "github.com/wneessen/go-mail"
)

// Message is a message. Text and HTML have the same content.
type Message struct {
	// ID is the left part of the Message-ID, whose right part is the sender's domain (RFC 5322 3.6.4): letters, digits,
	// "-", "_" and ".". A message that is sent again because it may not have arrived has the same ID, so that receivers
	// can recognize the duplicate.
	ID         string
	To         []string // addresses, with or without names (RFC 5322 3.4)
	Subject    string
	Text, HTML string
	Languages  []string `json:",omitempty"` // the Content-Language (RFC 3282)
	// Logo is a PNG that is part of the message, so that the reader's program fetches nothing. The HTML refers to it by
	// [LogoURL].
	Logo []byte `json:",omitempty"`
}

// LogoURL is the URL of Message.Logo in the HTML (RFC 2392).
const LogoURL = "cid:" + logoID

const logoID = "logo@innsigli"

// Transport sends messages.
type Transport interface {
	// Send returns nil once the server has accepted the message, or the file is written. An error of a server is a
	// *[Failure]. The error is [ErrRefused] if the message will not be accepted later either.
	Send(ctx context.Context, m Message) error
}

// Checker is a [Transport] that can test whether messages can be sent. All transports of this package implement it.
type Checker interface {
	// Check does what Send does before MAIL FROM, and sends no message. An error of a server is a *[Failure].
	Check(ctx context.Context) error
}

// Sender is the sender of messages.
type Sender struct {
	From     string // an address, or a name with one (RFC 5322 3.4)
	ReplyTo  string // the same; empty: From
	Envelope string // the address to which failures are reported (RFC 5321 4.5.5); empty: that of From
}

// Check returns an error for each field that is not empty and not valid.
func (s Sender) Check() (from, replyTo, envelope error) {
	_, from, replyTo, envelope = s.parseFields()
	return from, replyTo, envelope
}

// sender is a parsed Sender.
type sender struct{ from, replyTo, envelope *stdmail.Address }

// parse returns the parsed Sender. An empty ReplyTo or Envelope becomes From.
func (s Sender) parse() (sender, error) {
	if s.From == "" {
		return sender{}, errors.New("mail: the sender is missing")
	}
	parsed, from, replyTo, envelope := s.parseFields()
	parsed.replyTo = cmp.Or(parsed.replyTo, parsed.from)
	parsed.envelope = cmp.Or(parsed.envelope, parsed.from)
	return parsed, errors.Join(from, replyTo, envelope)
}

// parseFields parses each field. An empty field is nil.
func (s Sender) parseFields() (parsed sender, from, replyTo, envelope error) {
	parsed.from, from = parseAddress(s.From, "Innsigli <sign@example.is>")
	parsed.replyTo, replyTo = parseAddress(s.ReplyTo, "Help <help@example.is>")
	parsed.envelope, envelope = parseAddress(s.Envelope, "bounces@example.is")
	if a := parsed.envelope; a != nil && a.Name != "" {
		envelope = errors.New("mail: must be an address without a name, such as sign@example.is")
	}
	return parsed, from, replyTo, envelope
}

// parseAddress parses an address, or returns nil for an empty text. Its error does not repeat the text.
func parseAddress(text, example string) (*stdmail.Address, error) {
	if text == "" {
		return nil, nil
	}
	a, err := stdmail.ParseAddress(text)
	if err != nil {
		return nil, fmt.Errorf("mail: must be an address, such as %s", example)
	}
	return a, nil
}

// domain returns the domain of the sender's address.
func (s sender) domain() string {
	_, domain, _ := strings.Cut(s.from.Address, "@")
	return domain
}

// compose returns the message in Internet Message Format.
func (s sender) compose(m Message) (*gomail.Msg, error) {
	for what, text := range map[string]string{"its ID": m.ID, "one of its languages": strings.Join(m.Languages, "-")} {
		if strings.ContainsFunc(text, outsideToken) || len(text) > 200 {
			return nil, fmt.Errorf("%w: %s has characters that a header cannot have", ErrRefused, what)
		}
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(s.from)
	msg.ReplyToMailAddress(s.replyTo)
	if err := msg.EnvelopeFrom(s.envelope.Address); err != nil {
		return nil, fmt.Errorf("%w: the envelope sender is not an address", ErrRefused)
	}
	if err := msg.To(m.To...); err != nil || len(m.To) == 0 {
		return nil, fmt.Errorf("%w: a recipient is not an address", ErrRefused)
	}
	msg.Subject(m.Subject)
	msg.SetMessageIDWithValue(m.ID + "@" + s.domain())
	msg.SetDate()
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834 5: prevents automatic replies
	if len(m.Languages) > 0 {
		msg.SetGenHeader("Content-Language", slices.Clone(m.Languages)...)
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	if len(m.Logo) > 0 {
		err := msg.EmbedReader("logo.png", bytes.NewReader(m.Logo), gomail.WithFileContentID("<"+logoID+">"), gomail.WithFileContentType("image/png"))
		if err != nil {
			return nil, fmt.Errorf("mail: the logo: %w", err)
		}
	}
	return msg, nil
}

// outsideToken reports whether Message.ID and Message.Languages cannot contain a character.
func outsideToken(r rune) bool {
	return !strings.ContainsRune("-_.", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
}
