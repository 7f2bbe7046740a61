package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	stdmail "net/mail"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"github.com/wneessen/go-mail/smtp"
)

// server sends over SMTP (RFC 5321), each message over a connection of its own.
type server struct {
	host    string
	port    int
	sender  sender
	options Options // whole and checked
}

var _ Transport = server{}

// Send makes the message before it connects: what is wrong with it is not the server's to hear.
func (s server) Send(ctx context.Context, m Message) error {
	msg, err := s.sender.message(m)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if _, err := msg.WriteTo(&content); err != nil {
		return fmt.Errorf("mail: making a message: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.end()
	return c.hand(s.sender.envelope.Address, addresses(msg.GetTo()), content.Bytes())
}

func addresses(of []*stdmail.Address) (list []string) {
	for _, a := range of {
		list = append(list, a.Address)
	}
	return list
}

// hand hands a message over. It is taken when the server says so and not before; what it says later
// changes nothing (RFC 5321 4.2.5).
func (c *conversation) hand(from string, to []string, content []byte) error {
	if err := c.spell(append([]string{from}, to...)); err != nil {
		return err
	}
	if err := c.Mail(bracketed(from)); err != nil {
		return failed(From, err)
	}
	for _, one := range to {
		if err := c.Rcpt(bracketed(one)); err != nil {
			return failed(To, err)
		}
	}
	w, err := c.Data()
	if err != nil {
		return failed(Data, err)
	}
	if _, err := w.Write(content); err != nil {
		return failed(Data, err)
	}
	c.told(fmt.Sprintf("C: (the message, %d bytes)", len(content)))
	if err := w.Close(); err != nil {
		if said := new(textproto.Error); errors.As(err, &said) {
			c.answered(said.Code, said.Msg)
		}
		return failed(End, err)
	}
	if w, ok := w.(*smtp.DataCloser); ok {
		c.answered(250, w.ServerResponse())
	}
	return nil
}

// bracketed is an address as commands have it (RFC 5321 4.1.2).
func bracketed(address string) string { return (&stdmail.Address{Address: address}).String() }

// spell asks for addresses beyond ASCII (RFC 6531) when there is one, and only then: who passes the
// message on may not take such a one.
func (c *conversation) spell(addresses []string) error {
	beyond := strings.ContainsFunc(strings.Join(addresses, ""), func(r rune) bool { return r >= utf8.RuneSelf })
	c.SkipSMTPUTF8(!beyond)
	if offered, _ := c.Extension("SMTPUTF8"); beyond && !offered {
		return &Failure{Step: To, Says: "the server takes no address beyond ASCII", Permanent: true}
	}
	return nil
}
