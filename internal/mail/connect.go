package mail

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// conversation is one with a server that may be told of messages.
type conversation struct {
	*smtp.Client
	server
	dialogue
	conn net.Conn
	stop func() bool // of the end that the context has
}

// goodbye is how long a server may take to answer it.
const goodbye = 2 * time.Second

// connect is ready when the connection is protected and the user known, as the options say. All of the
// conversation is over when the context is.
func (s server) connect(ctx context.Context) (*conversation, error) {
	c := &conversation{server: s, dialogue: dialogue{told: s.options.teller(), secret: s.options.Password}}
	address := net.JoinHostPort(s.host, strconv.Itoa(s.port))
	c.told("connecting to " + address)
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, failed(Connecting, err)
	}
	c.conn = conn
	c.stop = context.AfterFunc(ctx, func() { conn.SetDeadline(time.Now()) })
	if err := c.open(ctx); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func (c *conversation) open(ctx context.Context) error {
	if err := c.greet(ctx); err != nil {
		return err
	}
	if err := c.Hello(c.options.Name); err != nil {
		return failed(Hello, err)
	}
	if err := c.startTLS(); err != nil {
		return failed(StartingTLS, err)
	}
	if err := c.authenticate(); err != nil {
		return failed(Authenticating, err)
	}
	return nil
}

// greet waits for the server's greeting, behind TLS where that is first.
func (c *conversation) greet(ctx context.Context) error {
	line := &bounded{Conn: c.conn, left: maxAnswers}
	if c.options.TLS == Implicit {
		secure := tls.Client(c.conn, c.tlsConfig())
		if err := secure.HandshakeContext(ctx); err != nil {
			return failed(Connecting, err)
		}
		c.tellTLS(secure.ConnectionState())
		line.Conn = secure
	}
	client, err := smtp.NewClient(line, c.host)
	c.tell("S", line.seen())
	if err != nil {
		return failed(Connecting, err)
	}
	client.SetLogger(c.dialogue)
	client.SetDebugLog(true)
	c.Client = client
	return nil
}

// startTLS protects a connection that is not protected yet.
func (c *conversation) startTLS() error {
	if c.options.TLS == Implicit || c.options.TLS == NoTLS {
		return nil
	}
	if offered, _ := c.Extension("STARTTLS"); !offered {
		if c.options.TLS == Opportunistic {
			return nil
		}
		return protocol("the server does not offer it")
	}
	if err := c.StartTLS(c.tlsConfig()); err != nil {
		return err
	}
	if state, ok := c.TLSConnectionState(); ok {
		c.tellTLS(state)
	}
	return nil
}

// tlsConfig believes any certificate where the connection might as well not be protected at all.
func (c *conversation) tlsConfig() *tls.Config {
	return &tls.Config{
		ServerName: c.host, RootCAs: c.options.Roots, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: c.options.TLS == Opportunistic,
	}
}

func (c *conversation) tellTLS(state tls.ConnectionState) {
	text := tls.VersionName(state.Version) + ", " + tls.CipherSuiteName(state.CipherSuite)
	if len(state.PeerCertificates) > 0 {
		first := state.PeerCertificates[0]
		text += "; a certificate of " + strings.Join(append(first.DNSNames, first.Subject.CommonName), ", ") + " until " + first.NotAfter.UTC().Format(time.DateOnly)
	}
	c.told(text)
}

// end says goodbye, without waiting long for an answer: what there was to say has been said.
func (c *conversation) end() {
	if c.stop() { // else the time is over
		c.conn.SetDeadline(time.Now().Add(goodbye))
	}
	if c.Client != nil {
		c.Quit()
	}
	c.conn.Close()
}
