package mail

import (
	"cmp"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// inbox is an SMTP server with the messages that it accepted.
type inbox struct {
	mu         sync.Mutex
	from       string
	to         []string
	bodies     [][]byte
	protected  bool // the last message came over TLS
	utf8       bool // and was announced to have addresses beyond ASCII
	mechanisms map[string]func() sasl.Server
	user       string // who logged in last
	tried      []string

	refuseFrom, refuseTo, refuseData *smtp.SMTPError
}

func (b *inbox) NewSession(c *smtp.Conn) (smtp.Session, error) { return &inboxSession{b, c}, nil }

type inboxSession struct {
	*inbox
	conn *smtp.Conn
}

func (s *inboxSession) AuthMechanisms() (list []string) {
	for name := range s.mechanisms {
		list = append(list, name)
	}
	return list
}

func (s *inboxSession) Auth(mechanism string) (sasl.Server, error) {
	s.tried = append(s.tried, mechanism)
	return s.mechanisms[mechanism](), nil
}

func (s *inboxSession) Mail(from string, o *smtp.MailOptions) error {
	s.from, s.utf8 = from, o.UTF8
	_, s.protected = s.conn.TLSConnectionState()
	return given(s.refuseFrom)
}

func (s *inboxSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.refuseTo != nil {
		return s.refuseTo
	}
	s.to = append(s.to, to)
	return nil
}

func (s *inboxSession) Data(r io.Reader) error {
	body, err := io.ReadAll(r)
	if err != nil || s.refuseData != nil {
		return given(s.refuseData)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	return nil
}

func given(err *smtp.SMTPError) error {
	if err == nil {
		return nil
	}
	return err
}

func (s *inboxSession) Reset()        {}
func (s *inboxSession) Logout() error { return nil }

// serve starts a server of the mode and returns its host and port.
func serve(t *testing.T, b *inbox, config *tls.Config, fromTheStart bool) string {
	t.Helper()
	s := smtp.NewServer(b)
	s.ErrorLog = log.New(io.Discard, "", 0)
	s.Domain, s.TLSConfig, s.AllowInsecureAuth, s.EnableSMTPUTF8 = "mail.example.is", config, config == nil, true
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if fromTheStart {
		listener = tls.NewListener(listener, config)
	}
	go s.Serve(listener)
	t.Cleanup(func() { s.Close() })
	return address
}

// certificate returns the configuration of a server with a certificate for 127.0.0.1 that is not trusted.
func certificate(t *testing.T) *tls.Config {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func trusting(t *testing.T, config *tls.Config) *x509.CertPool {
	t.Helper()
	root, err := x509.ParseCertificate(config.Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return pool
}

// transport returns the transport of an address. Without a timeout in the options it waits as long as the test may
// take.
func transport(t *testing.T, address string, o Options) Transport {
	t.Helper()
	o.Sender = from
	transport, err := Parse(address, o)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := transport.(server); ok && o.Timeout == 0 {
		s.options.Timeout = time.Hour
		return s
	}
	return transport
}

func TestServer(t *testing.T) {
	b := &inbox{}
	if err := transport(t, "smtp://"+serve(t, b, nil, false)+"?tls=none", Options{}).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if b.from != "bounces@example.is" || strings.Join(b.to, " ") != "one@example.is two@example.is" || len(b.bodies) != 1 {
		t.Fatalf("from %q to %q, %d messages", b.from, b.to, len(b.bodies))
	}
	checkMessage(t, b.bodies[0])
}

// TestTLSModes checks which servers each mode accepts.
func TestTLSModes(t *testing.T) {
	for name, test := range map[string]struct {
		scheme, query         string
		offered, fromTheStart bool // TLS, by the server
		trusted               bool // its certificate
		step                  Step // that fails; "": none
		protected             bool
		says                  string
		fromOptions           TLS // in place of the query
	}{
		"STARTTLS":                             {scheme: "smtp", offered: true, trusted: true, protected: true},
		"STARTTLS, said":                       {scheme: "smtp", query: "?tls=starttls", offered: true, trusted: true, protected: true},
		"STARTTLS, by options":                 {scheme: "smtp", fromOptions: StartTLS, offered: true, trusted: true, protected: true},
		"STARTTLS that is not trusted":         {scheme: "smtp", offered: true, step: StepStartTLS, says: "not trusted"},
		"STARTTLS that is not offered":         {scheme: "smtp", step: StepStartTLS, says: "does not offer"},
		"TLS from the start":                   {scheme: "smtps", offered: true, fromTheStart: true, trusted: true, protected: true},
		"TLS from the start, by options":       {scheme: "smtp", fromOptions: Implicit, offered: true, fromTheStart: true, trusted: true, protected: true},
		"TLS from the start, not trusted":      {scheme: "smtps", offered: true, fromTheStart: true, step: StepConnect, says: "not trusted"},
		"TLS from the start, and there is not": {scheme: "smtps", trusted: true, step: StepConnect},
		"opportunistic, offered":               {scheme: "smtp", query: "?tls=opportunistic", offered: true, protected: true},
		"opportunistic, not offered":           {scheme: "smtp", query: "?tls=opportunistic"},
		"none, offered":                        {scheme: "smtp", query: "?tls=none", offered: true, trusted: true},
		"none":                                 {scheme: "smtp", fromOptions: NoTLS},
	} {
		t.Run(name, func(t *testing.T) {
			b, config := &inbox{}, certificate(t)
			if !test.offered {
				config = nil
			}
			o := Options{TLS: test.fromOptions}
			if config != nil && test.trusted {
				o.Roots = trusting(t, config)
			}
			err := transport(t, test.scheme+"://"+serve(t, b, config, test.fromTheStart)+test.query, o).Send(t.Context(), message)
			f := new(Failure)
			if test.step != "" {
				if !errors.As(err, &f) || f.Step != test.step || !strings.Contains(err.Error(), test.says) || f.Permanent || len(b.bodies) > 0 {
					t.Errorf("%v, %d messages", err, len(b.bodies))
				}
			} else if err != nil || len(b.bodies) != 1 || b.protected != test.protected {
				t.Errorf("%v, %d messages, protected: %v", err, len(b.bodies), b.protected)
			}
		})
	}
}

// TestRefused checks which replies are permanent: only those that concern a recipient or the message. An operator can
// correct a sender's address or a login while messages wait.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		at   Step
		code int
		want bool // for good
	}{
		"no such mailbox":      {StepTo, 550, true},
		"no syntax":            {StepTo, 501, true},
		"greylisted":           {StepTo, 451, false},
		"too many at once":     {StepTo, 452, false},
		"a login is wanted":    {StepTo, 530, false},
		"the sender":           {StepFrom, 553, false},
		"the sender, for now":  {StepFrom, 421, false},
		"the message":          {StepEnd, 554, true},
		"the message, for now": {StepEnd, 451, false},
	} {
		t.Run(name, func(t *testing.T) {
			said := &smtp.SMTPError{Code: test.code, EnhancedCode: smtp.EnhancedCode{test.code / 100, 1, 1}, Message: "no one@example.is here"}
			b := &inbox{}
			*map[Step]**smtp.SMTPError{StepFrom: &b.refuseFrom, StepTo: &b.refuseTo, StepEnd: &b.refuseData}[test.at] = said
			err := transport(t, "smtp://"+serve(t, b, nil, false)+"?tls=none", Options{}).Send(t.Context(), message)
			f := new(Failure)
			if !errors.As(err, &f) || f.Step != test.at || f.Code != test.code || f.Enhanced[1:] != ".1.1" || f.Unclear {
				t.Fatalf("%+v", err)
			}
			if errors.Is(err, ErrRefused) != test.want || f.Permanent != test.want || strings.Contains(err.Error(), "one@") {
				t.Error(err)
			}
		})
	}
}

// TestNonASCIIAddresses checks that addresses that are not ASCII are sent only to servers that support them (RFC 6531).
func TestNonASCIIAddresses(t *testing.T) {
	for to, beyond := range map[string]bool{"þóra@example.is": true, "Þóra <thora@example.is>": false} {
		b, m := &inbox{}, message
		m.To = []string{to}
		if err := transport(t, "smtp://"+serve(t, b, nil, false)+"?tls=none", Options{}).Send(t.Context(), m); err != nil || b.utf8 != beyond {
			t.Errorf("%s: %v, announced %v", to, err, b.utf8)
		}
	}
	script := scripted(t, nil)
	m := message
	m.To = []string{"þóra@example.is"}
	if err := transport(t, script.address, Options{}).Send(t.Context(), m); !errors.Is(err, ErrRefused) || script.taken() > 0 {
		t.Errorf("a server of ASCII: %v", err)
	}
}

// TestHelloName checks that EHLO has the name of the options, or else the sender's domain.
func TestHelloName(t *testing.T) {
	for said, want := range map[string]string{"": "example.is", "mta.example.is": "mta.example.is"} {
		script := scripted(t, nil)
		if err := transport(t, script.address, Options{Name: said}).Send(t.Context(), message); err != nil || script.heard()[0] != "EHLO "+want {
			t.Errorf("%s: %v, %v", cmp.Or(said, "nothing"), err, script.heard())
		}
	}
}
