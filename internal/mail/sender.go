package mail

import (
	"cmp"
	"errors"
	"fmt"
	stdmail "net/mail"
	"strings"
)

// Sender is who messages are from.
type Sender struct {
	From     string // an address, or a name with one (RFC 5322 3.4)
	ReplyTo  string // the same; empty: From
	Envelope string // where failures go (RFC 5321 4.5.5), an address; empty: that of From
}

// Check says what is wrong with each of them, and nothing of one that is empty.
func (s Sender) Check() (from, replyTo, envelope error) {
	_, from, replyTo, envelope = s.read()
	return from, replyTo, envelope
}

// sender is a Sender that was read.
type sender struct{ from, replyTo, envelope *stdmail.Address }

func (s Sender) parse() (sender, error) {
	if s.From == "" {
		return sender{}, errors.New("mail: there is no sender")
	}
	parsed, from, replyTo, envelope := s.read()
	parsed.replyTo = cmp.Or(parsed.replyTo, parsed.from)
	parsed.envelope = cmp.Or(parsed.envelope, parsed.from)
	return parsed, errors.Join(from, replyTo, envelope)
}

func (s Sender) read() (parsed sender, from, replyTo, envelope error) {
	parsed.from, from = readAddress(s.From, "Innsigli <sign@example.is>")
	parsed.replyTo, replyTo = readAddress(s.ReplyTo, "Help <help@example.is>")
	parsed.envelope, envelope = readAddress(s.Envelope, "bounces@example.is")
	if a := parsed.envelope; a != nil && a.Name != "" {
		envelope = errors.New("mail: is an address with a name")
	}
	return parsed, from, replyTo, envelope
}

// readAddress reads an address, nil when there is none. What is wrong is not repeated.
func readAddress(text, example string) (*stdmail.Address, error) {
	if text == "" {
		return nil, nil
	}
	a, err := stdmail.ParseAddress(text)
	if err != nil {
		return nil, fmt.Errorf("mail: is no address, such as %s", example)
	}
	return a, nil
}

// domain is what is behind the @ of the sender's address.
func (s sender) domain() string {
	_, domain, _ := strings.Cut(s.from.Address, "@")
	return domain
}
