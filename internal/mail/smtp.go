package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	stdmail "net/mail"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wneessen/go-mail/smtp"
)

// server is a [Transport] over SMTP (RFC 5321).
type server struct {
	host    string
	port    int
	sender  sender
	options Options // complete and checked
}

var _ Checker = server{}

// Send composes the message before it connects, so that it does not connect for a message with a fault.
func (s server) Send(ctx context.Context, m Message) error {
	msg, err := s.sender.compose(m)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if _, err := msg.WriteTo(&content); err != nil {
		return fmt.Errorf("mail: composing a message: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer c.end()
	return c.deliver(s.sender.envelope.Address, addresses(msg.GetTo()), content.Bytes())
}

// Check connects, starts TLS and authenticates, by the options.
func (s server) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	c.end()
	return nil
}

func addresses(parsed []*stdmail.Address) (list []string) {
	for _, a := range parsed {
		list = append(list, a.Address)
	}
	return list
}

// deliver sends a message. It succeeds if the server accepts the message after its end; later responses change nothing
// (RFC 5321 4.2.5).
func (c *session) deliver(from string, to []string, content []byte) error {
	if err := c.requireUTF8(append([]string{from}, to...)); err != nil {
		return err
	}
	if err := c.Mail(bracketed(from)); err != nil {
		return failure(StepFrom, err)
	}
	for _, one := range to {
		if err := c.Rcpt(bracketed(one)); err != nil {
			return failure(StepTo, err)
		}
	}
	w, err := c.Data()
	if err != nil {
		return failure(StepData, err)
	}
	if _, err := w.Write(content); err != nil {
		return failure(StepData, err)
	}
	c.write(fmt.Sprintf("C: (the message, %d bytes)", len(content)))
	if err := w.Close(); err != nil {
		if reply := new(textproto.Error); errors.As(err, &reply) {
			c.traceReply(reply.Code, reply.Msg)
		}
		return failure(StepEnd, err)
	}
	if w, ok := w.(*smtp.DataCloser); ok {
		c.traceReply(250, w.ServerResponse())
	}
	return nil
}

// bracketed returns an address in angle brackets, as in commands (RFC 5321 4.1.2).
func bracketed(address string) string { return (&stdmail.Address{Address: address}).String() }

// requireUTF8 uses SMTPUTF8 (RFC 6531) only if an address is not ASCII, since a server on the route may not support it.
func (c *session) requireUTF8(addresses []string) error {
	nonASCII := strings.ContainsFunc(strings.Join(addresses, ""), func(r rune) bool { return r >= utf8.RuneSelf })
	c.SkipSMTPUTF8(!nonASCII)
	if offered, _ := c.Extension("SMTPUTF8"); nonASCII && !offered {
		return &Failure{Step: StepTo, Reason: "the server accepts no address beyond ASCII", Permanent: true}
	}
	return nil
}

// session is an SMTP session with a server.
type session struct {
	*smtp.Client
	server
	tracer
	conn net.Conn
	stop func() bool // stops the function that ends the session when the context is done
}

// quitTimeout is the timeout for the server's response to QUIT.
const quitTimeout = 2 * time.Second

// connect returns a session after TLS and authentication. The session ends when the context is done.
func (s server) connect(ctx context.Context) (*session, error) {
	c := &session{server: s, tracer: tracer{write: s.options.traceFunc(), secret: s.options.Password}}
	address := net.JoinHostPort(s.host, strconv.Itoa(s.port))
	c.write("connecting to " + address)
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, failure(StepConnect, err)
	}
	c.conn = conn
	c.stop = context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })
	if err := c.open(ctx); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

// open reads the greeting, sends EHLO, starts TLS and authenticates.
func (c *session) open(ctx context.Context) error {
	if err := c.greet(ctx); err != nil {
		return err
	}
	if err := c.Hello(c.options.Name); err != nil {
		return failure(StepHello, err)
	}
	if err := c.startTLS(); err != nil {
		return failure(StepStartTLS, err)
	}
	if err := c.authenticate(); err != nil {
		return failure(StepAuth, err)
	}
	return nil
}

// greet waits for the server's greeting, with implicit TLS after the handshake.
func (c *session) greet(ctx context.Context) error {
	conn := &limitedConn{Conn: c.conn, remaining: maxReplies}
	if c.options.TLS == Implicit {
		secure := tls.Client(c.conn, c.tlsConfig())
		if err := secure.HandshakeContext(ctx); err != nil {
			return failure(StepConnect, err)
		}
		c.traceTLS(secure.ConnectionState())
		conn.Conn = secure
	}
	client, err := smtp.NewClient(conn, c.host)
	c.traceText("S", conn.takeRecorded())
	if err != nil {
		return failure(StepConnect, err)
	}
	client.SetLogger(c.tracer)
	client.SetDebugLog(true)
	c.Client = client
	return nil
}

// startTLS starts TLS by STARTTLS, unless the connection has implicit TLS or none.
func (c *session) startTLS() error {
	if c.options.TLS == Implicit || c.options.TLS == NoTLS {
		return nil
	}
	if offered, _ := c.Extension("STARTTLS"); !offered {
		if c.options.TLS == Opportunistic {
			return nil
		}
		return newProtocolError("the server does not offer it")
	}
	if err := c.StartTLS(c.tlsConfig()); err != nil {
		return err
	}
	if state, ok := c.TLSConnectionState(); ok {
		c.traceTLS(state)
	}
	return nil
}

// tlsConfig returns the configuration of TLS. With Opportunistic any certificate is accepted, since the connection
// could also be unprotected.
func (c *session) tlsConfig() *tls.Config {
	return &tls.Config{
		ServerName: c.host, RootCAs: c.options.Roots, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: c.options.TLS == Opportunistic,
	}
}

// traceTLS traces the version, the cipher suite and the server's certificate.
func (c *session) traceTLS(state tls.ConnectionState) {
	text := tls.VersionName(state.Version) + ", " + tls.CipherSuiteName(state.CipherSuite)
	if len(state.PeerCertificates) > 0 {
		cert := state.PeerCertificates[0]
		text += "; a certificate of " + strings.Join(append(cert.DNSNames, cert.Subject.CommonName), ", ") + " until " + cert.NotAfter.UTC().Format(time.DateOnly)
	}
	c.write(text)
}

// end sends QUIT, waits for the response for at most quitTimeout, and closes the connection.
func (c *session) end() {
	if c.stop() { // otherwise the context is done, and the deadline is over
		c.conn.SetDeadline(time.Now().Add(quitTimeout))
	}
	if c.Client != nil {
		c.Quit()
	}
	c.conn.Close()
}

// authenticate logs in with Options.User (RFC 4954), if there is one.
func (c *session) authenticate() error {
	if c.options.User == "" {
		return nil
	}
	if _, secure := c.TLSConnectionState(); !secure && c.options.TLS == StartTLS {
		return newProtocolError("the connection is not protected")
	}
	_, parameters := c.Extension("AUTH")
	offered := strings.Fields(strings.ToUpper(parameters))
	mechanism, err := c.mechanism(offered)
	if err != nil {
		return err
	}
	c.SetLogger(c.withCodesOnly())
	defer c.SetLogger(c.tracer)
	return c.Auth(c.auth(mechanism))
}

// mechanism returns the mechanism of the options, or the best that the server offers. Mechanisms that do not send the
// password are preferred, except CRAM-MD5, for which the server has to store passwords in the clear.
func (c *session) mechanism(offered []string) (Authentication, error) {
	wanted := []Authentication{c.options.Authentication}
	if c.options.Authentication == Auto {
		wanted = []Authentication{ScramSHA256, ScramSHA1, Plain, Login, CramMD5}
	}
	for _, mechanism := range wanted {
		if slices.Contains(offered, strings.ToUpper(string(mechanism))) {
			return mechanism, nil
		}
	}
	return "", newProtocolError("the server does not offer %s", joined(wanted))
}

// auth returns the implementation of a mechanism. Options.checkLogin has checked that the connection is protected or
// local, so the mechanisms that send the password allow any connection.
func (c *session) auth(mechanism Authentication) smtp.Auth {
	user, password := c.options.User, c.options.Password
	switch mechanism {
	case ScramSHA256:
		return smtp.ScramSHA256Auth(user, password)
	case ScramSHA1:
		return smtp.ScramSHA1Auth(user, password)
	case CramMD5:
		return smtp.CRAMMD5Auth(user, password)
	case Login:
		return smtp.LoginAuth(user, password, c.host, true)
	}
	return smtp.PlainAuth("", user, password, c.host, true)
}

// maxReplies is the number of bytes that a server may send in a session.
const maxReplies = 256 << 10

// limitedConn is a connection that fails after the server has sent maxReplies bytes, since the SMTP client reads
// replies of any length. It records what is read until takeRecorded is called.
type limitedConn struct {
	net.Conn
	remaining int
	recorded  []byte
	taken     bool
}

func (c *limitedConn) Read(p []byte) (int, error) {
	if c.remaining <= 0 {
		return 0, newProtocolError("the server sends more than %d bytes", maxReplies)
	}
	n, err := c.Conn.Read(p[:min(len(p), c.remaining)])
	c.remaining -= n
	if !c.taken {
		c.recorded = append(c.recorded, p[:n]...)
	}
	return n, err
}

// takeRecorded returns what was read so far, and ends the recording.
func (c *limitedConn) takeRecorded() string {
	c.taken = true
	defer func() { c.recorded = nil }()
	return string(c.recorded)
}
