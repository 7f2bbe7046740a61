package main

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The dialogue is what is printed, and the exit status says whether the message was taken.
func TestMailTest(t *testing.T) {
	for name, test := range map[string]struct {
		answer error
		status int
		want   string // the end of what is printed
		talk   []string
	}{
		"taken": {nil, done, "C: QUIT\nS: 221 2.0.0 Bye\nThe mail server accepted the message.\n", nil},
		"refused": {&smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "no tests here"}, failed, "S: 554 5.7.1 no tests here\nC: QUIT\nS: 221 2.0.0 Bye\n",
			[]string{"innsigli: mail: the end of the message: the server answered 554 5.7.1, permanently\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := startMailServer(t, func(int, string) error { return test.answer })
			folder := t.TempDir()
			status, printed, talk := program(t, folder, "mail", "test", "Þóra <you@example.is>", "--mail", out.address, "--base-url", "https://sign.example")
			if status != test.status || !strings.HasSuffix(printed, test.want) {
				t.Errorf("status %d\n%s%s", status, printed, talk)
			}
			for _, want := range []string{"C: EHLO sign.example\n", "C: MAIL FROM:<innsigli@sign.example>", "C: RCPT TO:<you@example.is>\n", "C: (the message, "} {
				if !strings.Contains(printed, want) {
					t.Errorf("no %q in\n%s", want, printed)
				}
			}
			for _, want := range test.talk {
				if !strings.Contains(talk, want) {
					t.Errorf("no %q in\n%s", want, talk)
				}
			}
			if taken := out.mails(); (len(taken) == 1) != (test.status == done) {
				t.Errorf("%d messages", len(taken))
			}
		})
	}
}

// With TLS and a login, by the keys of [mail]: the server's root is trusted and no other, and no secret is
// printed.
func TestMailTestWithLogin(t *testing.T) {
	authority := httptest.NewTLSServer(nil) // for its certificate
	defer authority.Close()
	folder := t.TempDir()
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})
	for name, content := range map[string]string{
		"right.txt": "a secret of mine\n", "wrong.txt": "another of mine\n", "root.pem": string(root),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		roots, password string
		status          int
		want            []string
	}{
		"right":              {`roots = ["root.pem"]`, "right.txt", done, []string{"C: STARTTLS\n", "\nTLS 1.3, TLS_", "\nC: (secret)\n", "\nS: 235 ", "The mail server accepted the message.\n"}},
		"wrong":              {`roots = ["root.pem"]`, "wrong.txt", failed, []string{"\nS: 535 ", "mail: AUTH: the server answered 535", "Check username, password-file and authentication"}},
		"the system's roots": {"", "right.txt", failed, []string{"mail: STARTTLS: the server's certificate is not trusted", "Check tls and roots"}},
	} {
		t.Run(name, func(t *testing.T) {
			out := serveMail(t, authority.TLS, func(int, string) error { return nil })
			text := "[mail]\nusername = \"mailer\"\npassword-file = \"" + test.password + "\"\n" + test.roots + "\n"
			if err := os.WriteFile(filepath.Join(folder, "innsigli.toml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			status, printed, talk := program(t, folder, "mail", "test", "you@example.is", "--mail", "smtp://"+out.address, "--config", "innsigli.toml")
			said := printed + talk
			if status != test.status || (out.user == "mailer") != (status == done) || len(out.mails()) == 1 != (status == done) {
				t.Errorf("status %d, %q logged in\n%s", status, out.user, said)
			}
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("no %q in\n%s", want, said)
				}
			}
			for _, secret := range []string{"mailer", "of mine", "bWFpbGVy"} {
				if strings.Contains(said, secret) {
					t.Errorf("%q in\n%s", secret, said)
				}
			}
		})
	}
}

// With a folder it says where the file is, which is a message like any other.
func TestMailTestIntoAFolder(t *testing.T) {
	folder := t.TempDir()
	printed := output(t, done, "mail", "test", "you@example.is", "--mail", "dir:"+filepath.Join(folder, "mail"))
	files, err := filepath.Glob(filepath.Join(folder, "mail", "*.eml"))
	if err != nil || len(files) != 1 || printed != "written to "+files[0]+"\nThe mail server accepted the message.\n" {
		t.Fatalf("%q, %v, %v", printed, files, err)
	}
	letter := testenv.ReadMail(t, files[0])
	if letter.Subject != "Prófun á pósti / Mail test" || letter.Get("Content-Language") != "is, en" || !strings.Contains(letter.Text, "Ekki þarf að bregðast við") {
		t.Errorf("%+v", letter)
	}
}

// The command names a wrong key of the configuration before it connects.
func TestMailTestOfWhatIsFaulty(t *testing.T) {
	for name, test := range map[string]struct {
		mail, configuration string
		status              int
		want                string
	}{
		"no mail":                        {"", "", usage, "--mail is missing"},
		"no address of a server":         {"mail.example", "", failed, "--mail: must have the form smtp://"},
		"a password without TLS":         {"smtp://u:hidden@mail.example?tls=none", "", failed, "--mail: its tls is none: a password is sent without TLS only"},
		"the same, by the file":          {"smtp://mail.example", "tls = \"none\"\nusername = \"u\"\npassword-file = \"password.txt\"", failed, "mail.tls: is none: a password"},
		"no such TLS":                    {"smtp://mail.example", "tls = \"ssl\"", failed, `mail.tls: "ssl" must be one of starttls, implicit, opportunistic, none`},
		"no such authentication":         {"smtp://mail.example", "authentication = \"ntlm\"", failed, `mail.authentication: "ntlm" must be one of auto`},
		"a user without a password":      {"smtp://mail.example", "username = \"u\"", failed, "mail.password-file: is missing, but there is a user"},
		"a password without a user":      {"smtp://mail.example", "password-file = \"password.txt\"", failed, "mail.username: is missing, but there is a password"},
		"a password that is elsewhere":   {"smtp://mail.example", "username = \"u\"\npassword-file = \"none.txt\"", failed, "mail.password-file: open "},
		"a password that is open":        {"smtp://mail.example", "username = \"u\"\npassword-file = \"open.txt\"", failed, "other users can read or change open.txt (0644)"},
		"both say who, and not the same": {"smtp://v:hidden@mail.example", "username = \"u\"\npassword-file = \"password.txt\"", failed, "mail.username: is also in the address of the server (--mail), with another value"},
		"too long":                       {"smtp://mail.example", "timeout = \"1h\"", failed, "mail.timeout: must be between 1s and 1m30s"},
		"no name":                        {"smtp://mail.example", "hello-name = \"a b\"", failed, "mail.hello-name: must be a host name"},
		"roots that are none":            {"smtp://mail.example", "roots = [\"password.txt\"]", failed, "mail.roots[0]: "},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, content := range map[string]string{"innsigli.toml": "[mail]\n" + test.configuration + "\n", "password.txt": "hidden\n", "open.txt": "hidden\n"} {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(filepath.Join(folder, "open.txt"), 0o644); err != nil {
				t.Fatal(err)
			}
			arguments := []string{"mail", "test", "you@example.is", "--config", "innsigli.toml"}
			if test.mail != "" {
				arguments = append(arguments, "--mail", test.mail)
			}
			status, printed, talk := program(t, folder, arguments...)
			if status != test.status || printed != "" || !strings.Contains(talk, test.want) || strings.Contains(talk, "hidden") {
				t.Errorf("status %d, %s%s", status, printed, talk)
			}
		})
	}
	if status, _, talk := program(t, t.TempDir(), "mail", "test", "mailer", "--mail", "dir:mail"); status != usage || !strings.Contains(talk, "is not a mail address") {
		t.Errorf("no address: status %d, %s", status, talk)
	}
}

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
