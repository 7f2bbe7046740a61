package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/storage"
)

// TestInsecureURL checks which URLs are refused because a connection that they permit leaves this machine without
// verifying the server.
func TestInsecureURL(t *testing.T) {
	service := filepath.Join(t.TempDir(), "services")
	if err := os.WriteFile(service, []byte("[far]\nhost=service.example\nsslmode=require\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ url, environment, insecure string }{
		{url: "postgres://me@db.example/x", insecure: "db.example"},
		{url: "postgres://me@db.example/x?sslmode=disable", insecure: "db.example"},
		{url: "postgres://me@db.example/x?sslmode=allow", insecure: "db.example"},
		{url: "postgres://me@db.example/x?sslmode=prefer", insecure: "db.example"},
		{url: "postgres://me@db.example/x?sslmode=require", insecure: "db.example"},
		{url: "postgres://me@db.example/x?sslmode=verify-ca", insecure: "db.example"},
		{url: "postgres://me@db.example/x?ssl=true", insecure: "db.example"},
		{url: "postgres://me@db.example/x?sslmode=verify-full"},
		{url: "postgres://me@db.example/x?sslmode=verify-full&sslsni=0"},
		{url: "postgres://me@db.example/x?sslrootcert=system"}, // which stands for verify-full, too
		{url: "postgres://me@192.0.2.7/x?sslmode=verify-full"},
		{url: "postgres://me@192.0.2.7/x", insecure: "192.0.2.7"},
		{url: "postgres://me@0.0.0.0/x", insecure: "0.0.0.0"},
		{url: "postgres://me@localhost.example/x", insecure: "localhost.example"},
		{url: "postgres://me@[2001:db8::1]/x", insecure: "2001:db8::1"},
		{url: "postgres://me@localhost/x"},
		{url: "postgres://me@LOCALHOST/x"},
		{url: "postgres://me@127.7.7.7/x?sslmode=disable"},
		{url: "postgres://me@[::1]/x?sslmode=require"},
		{url: "postgres:///x?host=/run/postgresql"},
		{url: "postgres:///x"},
		{url: "postgres:///x?host=db.example", insecure: "db.example"},
		{url: "postgres://me@localhost/x?host=db.example", insecure: "db.example"},
		{url: "postgres://me@localhost,db.example/x", insecure: "db.example"},
		{url: "postgres://me@localhost:1,/x"},
		{url: "postgres://me@one.example,two.example/x?sslmode=verify-full"},
		{url: "postgres:///x?host=/run/postgresql,db.example", insecure: "db.example"},
		{url: "postgres://me@localhost/x?hostaddr=192.0.2.7"}, // pgx connects to localhost
		{url: "postgres:///x", environment: "PGHOST=db.example", insecure: "db.example"},
		{url: "postgres://me@localhost/x", environment: "PGHOST=db.example"},
		{url: "postgres://me@db.example/x", environment: "PGSSLMODE=verify-full"},
		{url: "postgres://me@db.example/x?sslmode=verify-full", environment: "PGSSLMODE=disable"},
		{url: "postgres:///x?service=far&servicefile=" + service, insecure: "service.example"},
		{url: "postgres:///x?service=far&sslmode=verify-full", environment: "PGSERVICEFILE=" + service},
		{url: "postgres:///x", environment: "PGSERVICE=far PGSERVICEFILE=" + service, insecure: "service.example"},
	} {
		t.Run(test.url+" "+test.environment, func(t *testing.T) {
			for pair := range strings.FieldsSeq(test.environment) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			err := CheckURL(test.url, Options{})
			switch {
			case test.insecure == "" && err != nil, test.insecure != "" && !errors.Is(err, ErrInsecure):
				t.Fatalf("CheckURL: %v", err)
			case test.insecure == "":
				return
			case !strings.Contains(err.Error(), " "+test.insecure+": ") || !strings.Contains(err.Error(), "sslmode=verify-full"):
				t.Errorf("the error does not name %s and the remedy: %v", test.insecure, err)
			}
			_, err = Open(t.Context(), test.url, Options{})
			checkError(t, err, ErrInsecure)
			_, _, err = Migrate(t.Context(), test.url, Options{})
			checkError(t, err, ErrInsecure)
			if err := CheckURL(test.url, Options{InsecureTLS: true}); err != nil {
				t.Errorf("CheckURL with InsecureTLS: %v", err)
			}
		})
	}
}

// TestURLWithMisplacedPassword checks that an unescaped @ in a password is an error that does not contain the rest of
// the password.
func TestURLWithMisplacedPassword(t *testing.T) {
	for _, opts := range []Options{{}, {InsecureTLS: true}} {
		checkError(t, CheckURL("postgres://me:p@"+secret+"@db.example/x", opts), ErrURL)
	}
}

// TestPasswordIsNotSent connects to a server on "another machine" that has no TLS, or not the right certificate. The
// server asks for the password and must not get it, except with InsecureTLS.
func TestPasswordIsNotSent(t *testing.T) {
	authority, other := certtest.New(t, "Authority", nil, certtest.Authority), certtest.New(t, "Other", nil, certtest.Authority)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, certtest.PEM(authority.Cert), 0o600); err != nil {
		t.Fatal(err)
	}
	verified := "?sslmode=verify-full&sslrootcert=" + roots
	for name, test := range map[string]struct {
		query    string
		opts     Options
		identity *tls.Certificate // of the server; nil: it answers that it has no TLS
		want     error
		sent     bool
	}{
		"no TLS, none required":   {"", Options{}, nil, ErrInsecure, false},
		"no TLS, required":        {verified, Options{}, nil, ErrUntrusted, false},
		"another authority":       {verified, Options{}, certificateFor(t, other, "db.example"), ErrUntrusted, false},
		"another name":            {verified, Options{}, certificateFor(t, authority, "other.example"), ErrUntrusted, false},
		"the right certificate":   {verified, Options{}, certificateFor(t, authority, "db.example"), ErrAccessDenied, true},
		"no TLS, InsecureTLS":     {"", Options{InsecureTLS: true}, nil, ErrAccessDenied, true},
		"verified by InsecureTLS": {verified, Options{InsecureTLS: true}, certificateFor(t, authority, "other.example"), ErrUntrusted, false},
	} {
		t.Run(name, func(t *testing.T) {
			server := listenAsPostgres(t, test.identity)
			_, port, _ := net.SplitHostPort(server.listener.Addr().String())
			err := openVia(t.Context(), "postgres://me:"+secret+"@db.example:"+port+"/x"+test.query, test.opts)
			checkError(t, err, test.want)
			if errors.Is(err, ErrUntrusted) && !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("callers do not learn that the store is unavailable: %v", err)
			}
			if sent := server.stop() == secret; sent != test.sent {
				t.Errorf("the password was sent: %v, want %v", sent, test.sent)
			}
		})
	}
}

// openVia does what Open does, with each host name resolved to this machine.
func openVia(ctx context.Context, url string, opts Options) error {
	config, err := settings(url, opts)
	if err != nil {
		return err
	}
	config.ConnConfig.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
	db, err := connect(config)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Check(ctx)
}

// certificateFor issues the certificate of a server.
func certificateFor(t *testing.T, issuer *certtest.Pair, name string) *tls.Certificate {
	t.Helper()
	p := certtest.New(t, name, issuer, func(c *x509.Certificate) { c.DNSNames = []string{name} })
	return &tls.Certificate{Certificate: [][]byte{p.Cert.Raw}, PrivateKey: p.Key}
}

// fakePostgres is a server that asks for a password and refuses it.
type fakePostgres struct {
	listener net.Listener
	identity *tls.Certificate
	ended    chan struct{}
	password string // the last one that was sent, in clear; read after ended is closed
}

// listenAsPostgres starts a server with a certificate, or without TLS.
func listenAsPostgres(t *testing.T, identity *tls.Certificate) *fakePostgres {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &fakePostgres{listener: listener, identity: identity, ended: make(chan struct{})}
	go s.run()
	t.Cleanup(func() { s.stop() })
	return s
}

// stop stops the server and returns the password that it was sent, or "".
func (s *fakePostgres) stop() string {
	s.listener.Close()
	<-s.ended
	return s.password
}

func (s *fakePostgres) run() {
	defer close(s.ended)
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		_ = s.serve(conn) // the client may end the connection at any time
		conn.Close()
	}
}

func (s *fakePostgres) serve(conn net.Conn) error {
	backend := pgproto3.NewBackend(conn, conn)
	message, err := backend.ReceiveStartupMessage()
	if err != nil {
		return err
	}
	if _, ok := message.(*pgproto3.SSLRequest); ok {
		answer := "N"
		if s.identity != nil {
			answer = "S"
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return err
		}
		if s.identity != nil {
			conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*s.identity}})
			backend = pgproto3.NewBackend(conn, conn)
		}
		if _, err = backend.ReceiveStartupMessage(); err != nil {
			return err
		}
	}
	backend.Send(&pgproto3.AuthenticationCleartextPassword{})
	if err := backend.Flush(); err != nil {
		return err
	}
	if err := backend.SetAuthType(pgproto3.AuthTypeCleartextPassword); err != nil {
		return err
	}
	answer, err := backend.Receive()
	if err != nil {
		return err
	}
	if p, ok := answer.(*pgproto3.PasswordMessage); ok {
		s.password = p.Password
	}
	backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: "password authentication failed"})
	return backend.Flush()
}

// TestServerCertificate connects to a real server whose certificate is, or is not, the right one.
func TestServerCertificate(t *testing.T) {
	authority, other := certtest.New(t, "Authority", nil, certtest.Authority), certtest.New(t, "Other", nil, certtest.Authority)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, certtest.PEM(authority.Cert), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster := postgrestest.Cluster(t)
	at := func(mode string) string {
		u := strings.Replace(cluster.URL("postgres"), "127.0.0.1", "localhost", 1)
		return with(t, u, "sslmode", mode, "sslrootcert", roots, "connect_timeout", "3600")
	}
	refused := func() {
		t.Helper()
		_, _, err := Migrate(t.Context(), at("verify-full"), Options{})
		checkError(t, err, ErrUntrusted)
		_, err = Open(t.Context(), at("verify-full"), Options{})
		checkError(t, err, ErrUntrusted)
	}
	refused() // it has no TLS
	for _, server := range []*certtest.Pair{
		certtest.New(t, "localhost", other, func(c *x509.Certificate) { c.DNSNames = []string{"localhost"} }),
		certtest.New(t, "db.example", authority, func(c *x509.Certificate) { c.DNSNames = []string{"db.example"} }),
	} {
		cluster.UseTLS(t, certtest.PEM(server.Cert), certtest.PEMKey(t, server.Key))
		refused()
	}
	server := certtest.New(t, "localhost", authority, func(c *x509.Certificate) { c.DNSNames = []string{"localhost"} })
	cluster.UseTLS(t, certtest.PEM(server.Cert), certtest.PEMKey(t, server.Key))
	if _, _, err := Migrate(t.Context(), at("verify-full"), Options{}); err != nil {
		t.Fatal(err)
	}
	db := openedAt(t, at("verify-full"), Options{})
	var encrypted bool
	if err := db.pool.QueryRow(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted); err != nil || !encrypted {
		t.Errorf("the connection is encrypted: %v, %v", encrypted, err)
	}
}
