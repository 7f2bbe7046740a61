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
	mu     sync.Mutex
	from   string
	to     []string
	bodies [][]byte
	user   string
	refuse *smtp.SMTPError // for each recipient
}

func (b *inbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{b}, nil }

type session struct{ *inbox }

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != "secret" {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error { s.from = from; return nil }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.refuse != nil {
		return s.refuse
	}
	s.to = append(s.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	body, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	return err
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// serve starts a server of the mode and returns its host and port.
func serve(t *testing.T, b *inbox, config *tls.Config, fromTheStart bool) string {
	t.Helper()
	s := smtp.NewServer(b)
	s.ErrorLog = log.New(io.Discard, "", 0)
	s.Domain, s.TLSConfig, s.AllowInsecureAuth = "mail.example.is", config, config == nil
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
