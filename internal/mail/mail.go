// Package mail sends messages: over SMTP, or for trials into a folder.
//
//	out, err := mail.Parse("smtp://user:password@mail.example:587", mail.Sender{From: "Innsigli <sign@example.is>"})
//	err = out.Send(ctx, mail.Message{ID: id, To: admins, Subject: "…", Text: "…", HTML: "…"})
//
// Errors name neither recipients nor what is in a message, since they end in logs.
package mail

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// ErrRefused: the message, or one of its recipients, will not be taken later either.
var ErrRefused = errors.New("mail: refused for good")

// Message is a message to people. Text and HTML say the same.
type Message struct {
	// ID becomes the Message-ID, at the sender's domain (RFC 5322 3.6.4). One that is sent again
	// because nobody knows whether it arrived has the same, so that receivers can see it.
	ID         string
	To         []string // addresses without names
	Subject    string
	Text, HTML string
}

// Transport takes messages.
type Transport interface {
	// Send returns nil once the message was taken by who delivers it. [ErrRefused].
	Send(ctx context.Context, m Message) error
}

// Forms are the forms of what Parse reads.
const Forms = "smtp://[USER:PASSWORD@]HOST[:PORT][?tls=none], smtps://… or dir:PATH"

// Parse reads where messages go: a server that is spoken to with STARTTLS (smtp, port 587), with
// TLS from the start (smtps, port 465) or without any (smtp with ?tls=none, port 25), or a
// folder in which each becomes a file that ends in .eml. What is wrong is not repeated: it may have
// a password in it.
func Parse(text string, from Sender) (Transport, error) {
	s, err := from.parse()
	if err != nil {
		return nil, err
	}
	if path, ok := strings.CutPrefix(text, "dir:"); ok && path != "" {
		return folder{path, s}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Path != "" || u.Fragment != "" {
		return nil, fmt.Errorf("mail: not of the form %s", Forms)
	}
	server := server{host: u.Hostname(), sender: s}
	server.user = u.User.Username()
	server.password, _ = u.User.Password()
	if server.security, err = security(u); err != nil {
		return nil, err
	}
	server.port = server.security.port()
	if p := u.Port(); p != "" {
		if server.port, err = strconv.Atoi(p); err != nil || server.port < 1 || server.port > 65535 {
			return nil, errors.New("mail: the port is not between 1 and 65535")
		}
	}
	if server.user != "" && server.security == plain {
		return nil, errors.New("mail: a password is not sent without TLS")
	}
	return server, nil
}

// protection is how a connection is protected.
type protection string

const (
	startTLS protection = "starttls"
	implicit protection = "implicit"
	plain    protection = "none"
)

func security(u *url.URL) (protection, error) {
	switch query := u.RawQuery; {
	case u.Scheme == "smtps" && query == "":
		return implicit, nil
	case u.Scheme == "smtp" && (query == "" || query == "tls=starttls"):
		return startTLS, nil
	case u.Scheme == "smtp" && query == "tls=none":
		return plain, nil
	}
	return "", fmt.Errorf("mail: not of the form %s", Forms)
}

// port is the usual one (RFC 6409 and RFC 8314).
func (p protection) port() int {
	switch p {
	case implicit:
		return 465
	case plain:
		return 25
	default:
		return 587
	}
}
