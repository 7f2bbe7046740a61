// Package mail sends messages: over SMTP (RFC 5321), or for trials into a folder.
//
//	out, err := mail.Parse("smtp://user:password@mail.example", mail.Options{Sender: mail.Sender{From: "Innsigli <sign@example.is>"}})
//	err = out.Send(ctx, mail.Message{ID: id, To: admins, Subject: "…", Text: "…", HTML: "…"})
//
// A message goes over a connection of its own, in a time that bounds all of it, whatever the server does:
// one that is slow, stalls or talks without end holds up nothing else. Unless told otherwise, nothing is said
// in the clear and nobody believed without a certificate (RFC 3207, RFC 8314), and a password goes over no
// connection that others could read.
//
// Errors name neither recipients nor what is in a message, since they end in logs.
package mail

import "context"

// Message is a message to people. Text and HTML say the same.
type Message struct {
	// ID becomes the Message-ID, at the sender's domain (RFC 5322 3.6.4): letters, digits, "-", "_" and
	// ".". One that is sent again because nobody knows whether it arrived has the same, so that receivers
	// can see it.
	ID         string
	To         []string // addresses, with names or without (RFC 5322 3.4)
	Subject    string
	Text, HTML string
	Languages  []string `json:",omitempty"` // of the text, as Content-Language names them (RFC 3282)
	// Logo is a PNG that comes with the message, so that nothing is fetched to show it; the HTML names it
	// [LogoURL].
	Logo []byte `json:",omitempty"`
}

// LogoURL is how HTML names the picture that comes with it (RFC 2392).
const LogoURL = "cid:" + logoID

const logoID = "logo@innsigli"

// Transport takes messages.
type Transport interface {
	// Send returns nil once the message was taken by who delivers it. [ErrRefused], and a *[Failure] of a
	// server.
	Send(ctx context.Context, m Message) error
}
