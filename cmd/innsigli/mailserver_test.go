package main

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// mailServer is an SMTP server that does what a test says, and what it took.
type mailServer struct {
	address string
	// does is called for each message when all of it is there, by its number. What it returns is the
	// answer; errCut ends the connection instead.
	does func(number int, to string) error

	mu    sync.Mutex
	user  string // who logged in
	begun int
	taken []takenMail // also those of which the client was not told
}

// takenMail is a message that the server has.
type takenMail struct {
	to, text string
	told     bool // the client knows
}

// errCut is no answer.
var errCut = &smtp.SMTPError{Code: 0}

// startMailServer starts a server for --mail.
func startMailServer(t *testing.T, does func(number int, to string) error) *mailServer {
	t.Helper()
	m := serveMail(t, nil, does)
	m.address = "smtp://" + m.address + "?tls=none"
	return m
}

// serveMail starts a server at an address, with STARTTLS if there is a configuration for it.
func serveMail(t *testing.T, config *tls.Config, does func(number int, to string) error) *mailServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &mailServer{address: listener.Addr().String(), does: does}
	s := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &mailSession{mailServer: m, conn: c}, nil }))
	s.ErrorLog, s.Domain, s.TLSConfig = log.New(io.Discard, "", 0), "mail.example.is", config
	go s.Serve(listener)
	t.Cleanup(func() { s.Close() })
	return m
}

type mailSession struct {
	*mailServer
	conn *smtp.Conn
	to   string
}

func (s *mailSession) Mail(string, *smtp.MailOptions) error      { return nil }
func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error { s.to = to; return nil }
func (s *mailSession) Reset()                                    {}
func (s *mailSession) Logout() error                             { return nil }

func (s *mailSession) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth lets in who says "a secret of mine".
func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != "a secret of mine" {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}

func (s *mailSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.begun++
	number := s.begun
	s.mu.Unlock()
	err = s.does(number, s.to)
	if err == nil || err == errCut {
		s.mu.Lock()
		s.taken = append(s.taken, takenMail{s.to, string(text), err == nil})
		s.mu.Unlock()
	}
	if err == errCut {
		s.conn.Conn().Close()
	}
	return err
}

// mails are those that were taken, by their Message-IDs.
func (m *mailServer) mails() map[string][]takenMail {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make(map[string][]takenMail)
	for _, one := range m.taken {
		_, rest, _ := strings.Cut(one.text, "Message-ID: ")
		id, _, _ := strings.Cut(rest, "\r\n")
		list[id] = append(list[id], one)
	}
	return list
}

// attempts says how many messages were tried to be sent.
func (m *mailServer) attempts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.begun
}

func toldOf(list []takenMail) int {
	return len(slices.DeleteFunc(slices.Clone(list), func(one takenMail) bool { return !one.told }))
}
