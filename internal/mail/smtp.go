package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// sendTime is what one message may take, from the connection to the server's word.
const sendTime = time.Minute

// server sends over SMTP (RFC 5321), each message over a connection of its own.
type server struct {
	host           string
	port           int
	security       protection
	user, password string
	sender         sender
	roots          *x509.CertPool // of the server's certificate; nil: the system's
}

var _ Transport = server{}

func (s server) Send(ctx context.Context, m Message) error {
	msg, err := s.sender.message(m)
	if err != nil {
		return err
	}
	client, err := gomail.NewClient(s.host, s.options()...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	return reported(client.DialAndSendWithContext(ctx, msg))
}

func (s server) options() []gomail.Option {
	list := []gomail.Option{gomail.WithPort(s.port), gomail.WithTimeout(sendTime), gomail.WithHELO(s.sender.domain())}
	list = append(list, gomail.WithTLSConfig(&tls.Config{ServerName: s.host, RootCAs: s.roots, MinVersion: tls.VersionTLS12}))
	switch s.security {
	case implicit:
		list = append(list, gomail.WithSSL())
	case plain:
		list = append(list, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		list = append(list, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.user != "" {
		list = append(list, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(s.user), gomail.WithPassword(s.password))
	}
	return list
}

// reported is an error without recipients, which servers like to repeat in their answers.
func reported(err error) error {
	var said *gomail.SendError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &said):
		return errors.New("mail: the server cannot be reached, or does not let us in")
	case said.ErrorCode() >= 500 && !said.IsTemp():
		return fmt.Errorf("%w: %s: the server answered %d", ErrRefused, said.Reason, said.ErrorCode())
	}
	return fmt.Errorf("mail: %s: the server answered %d", said.Reason, said.ErrorCode())
}
