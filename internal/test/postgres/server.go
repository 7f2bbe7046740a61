package postgres

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a server that a test has for itself, so that it may stop it.
type Server struct {
	programs string
	folder   string // with all that the server keeps
	address  string
	password string

	shell  *exec.Cmd // nil while the server is stopped
	orders io.WriteCloser
}

// Cluster starts a server of the test's own, which is gone at the end of the test. It
// needs the server's programs, whatever INNSIGLI_TEST_POSTGRES says.
func Cluster(t testing.TB) *Server {
	t.Helper()
	s := start(t)
	t.Cleanup(s.end)
	return s
}

// URL is the URL of a database of the server. The one that is always there is postgres.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(owner, s.password),
		Host:     s.address,
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// owner is the user whose server it is.
const owner = "innsigli"

// Stop stops the server, which breaks the connections to it and keeps what is stored.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.order("stop"); err != nil {
		t.Fatalf("postgrestest: stopping the server: %v", err)
	}
}

// Start starts the server again, at the same address.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		s.end()
		t.Fatalf("postgrestest: starting the server: %v", err)
	}
}

// Restart stops the server and starts it again.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	s.Start(t)
}

// UseTLS restarts the server with a certificate and its key, in PEM. It accepts connections without TLS too.
func (s *Server) UseTLS(t testing.TB, certificate, key []byte) {
	t.Helper()
	s.Stop(t)
	for name, content := range map[string][]byte{"server.crt": certificate, "server.key": key, "postgresql.auto.conf": []byte("ssl = on\n")} {
		path := filepath.Join(s.files(), name)
		err := os.WriteFile(path, content, 0o600)
		if err == nil {
			err = handOver(path)
		}
		if err != nil {
			t.Fatalf("postgrestest: %v", err)
		}
	}
	s.Start(t)
}

// Give gives a folder to the account that the server runs as, for a tablespace.
func (s *Server) Give(t testing.TB, folder string) {
	t.Helper()
	if err := handOver(folder); err != nil {
		t.Fatalf("postgrestest: %v", err)
	}
}

// start makes and starts a server.
func start(t testing.TB) *Server {
	t.Helper()
	s, err := create(programs(t))
	if err == nil {
		err = s.start()
	}
	if err != nil {
		s.end()
		t.Fatalf("postgrestest: starting a server: %v", err)
	}
	return s
}

func (s *Server) files() string { return filepath.Join(s.folder, "files") }

// reins run the server until there is an order or, when this process has ended however
// that came about, the end of the orders. Then the folder goes too. The output is the server's
// alone, so that its end is the server's.
const reins = `
"$@" 2>>log &
exec >&-
read -r order
if [ "$order" = stop ]; then
	kill -INT $!
	wait $!
else
	kill -QUIT $!
	wait $!
	rm -rf "$PWD"
fi
`

// start starts the server and waits until it answers. fsync is off: what a test stores
// has to outlive the server and not the machine. Deadlocks are looked for early, for the
// tests that make some.
func (s *Server) start() error {
	_, port, err := net.SplitHostPort(s.address)
	if err != nil {
		return err
	}
	s.shell = exec.Command("sh", "-c", reins, "sh", filepath.Join(s.programs, "postgres"),
		"-D", s.files(), "-k", s.folder, "-h", "127.0.0.1", "-p", port,
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "deadlock_timeout=100ms")
	s.shell.Dir = s.folder
	if err := serve(s.shell); err != nil {
		return err
	}
	if s.orders, err = s.shell.StdinPipe(); err != nil {
		return err
	}
	output, err := s.shell.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.shell.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, output)
	}()
	return s.answers(ended)
}

// answers waits until the server does, as long as it runs.
func (s *Server) answers(ended <-chan struct{}) error {
	for {
		conn, err := pgx.Connect(context.Background(), s.URL("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ended:
			log, readErr := os.ReadFile(filepath.Join(s.folder, "log"))
			return fmt.Errorf("the server ended: %w\n%s", cmp.Or(readErr, err), log)
		}
	}
}

// order gives the shell an order and waits until it is carried out.
func (s *Server) order(order string) error {
	if s.shell == nil {
		return nil
	}
	shell := s.shell
	s.shell = nil
	if _, err := io.WriteString(s.orders, order+"\n"); err != nil {
		return err
	}
	return shell.Wait()
}

// end stops the server and removes what it kept.
func (s *Server) end() {
	_ = s.order("end") // of a server that is gone already
	if s.folder != "" {
		os.RemoveAll(s.folder)
	}
}
