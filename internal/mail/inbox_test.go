package mail

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// inbox is an SMTP server and what it took.
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

func (b *inbox) NewSession(c *smtp.Conn) (smtp.Session, error) { return &session{b, c}, nil }

type session struct {
	*inbox
	conn *smtp.Conn
}

func (s *session) AuthMechanisms() (list []string) {
	for name := range s.mechanisms {
		list = append(list, name)
	}
	return list
}

func (s *session) Auth(mechanism string) (sasl.Server, error) {
	s.tried = append(s.tried, mechanism)
	return s.mechanisms[mechanism](), nil
}

func (s *session) Mail(from string, o *smtp.MailOptions) error {
	s.from, s.utf8 = from, o.UTF8
	_, s.protected = s.conn.TLSConnectionState()
	return given(s.refuseFrom)
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.refuseTo != nil {
		return s.refuseTo
	}
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
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

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

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

// certificate is one for 127.0.0.1 that nobody trusts.
func certificate(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
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
