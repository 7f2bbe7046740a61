package mail

import (
	"bufio"
	"errors"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// words has the first word of the client's command at each step.
var words = map[Step]string{StepConnect: "", StepHello: "EHLO", StepFrom: "MAIL", StepTo: "RCPT", StepData: "DATA", StepEnd: "."}

func begins(line, word string) bool {
	first, _, _ := strings.Cut(line, " ")
	return first == word
}

// TestServerStalls checks that a server that stalls at any step costs no more than the timeout of the message. The
// server stalls until the client has given up. On a busy machine the client may reach the timeout at an earlier
// step: the test then doubles the timeout.
func TestServerStalls(t *testing.T) {
	for at, word := range words {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			var stalled atomic.Bool
			script := scripted(t, func(_ int, line string) string {
				if begins(line, word) {
					stalled.Store(true)
					<-over
					return cut
				}
				return ""
			})
			defer close(over)
			var err error
			for patience := MinTimeout; !stalled.Load() && patience <= MaxTimeout; patience *= 2 {
				err = transport(t, script.address, Options{Timeout: patience}).Send(t.Context(), message)
			}
			f := new(Failure)
			if !errors.As(err, &f) || f.Step != at || f.Reason != "no answer came in time" || f.Permanent || f.Unclear != (at == StepEnd) {
				t.Errorf("%+v", err)
			}
		})
	}
}

// TestServerClosesConnection checks the failure at each step. If the server had the whole message, the failure is
// Unclear, and a second attempt has the same Message-ID.
func TestServerClosesConnection(t *testing.T) {
	for at, word := range words {
		script := scripted(t, func(n int, line string) string {
			if n == 1 && begins(line, word) {
				return cut
			}
			return ""
		})
		transport := transport(t, script.address, Options{})
		err := transport.Send(t.Context(), message)
		f := new(Failure)
		if !errors.As(err, &f) || f.Step != at || f.Reason != "the connection was cut" || f.Permanent || f.Unclear != (at == StepEnd) {
			t.Errorf("%s: %+v", at, err)
		}
		if err := transport.Send(t.Context(), message); err != nil {
			t.Errorf("%s, again: %v", at, err)
		}
		want := 1
		if at == StepEnd {
			want = 2
		}
		if script.taken() != want {
			t.Errorf("%s: %d messages", at, script.taken())
		}
		for _, one := range script.messages {
			if got := regexp.MustCompile(`(?m)^Message-ID: (\S+)\r$`).FindStringSubmatch(one); got == nil || got[1] != "<0b6c8f0e@example.is>" {
				t.Errorf("%s: Message-ID %q in\n%s", at, got, one)
			}
		}
	}
}

// TestFaultAfterAcceptance checks that faults after the server has accepted the message are no error, since the caller
// would send the message twice.
func TestFaultAfterAcceptance(t *testing.T) {
	for name, says := range map[string]string{"cut": cut, "an error": "500 what?", "silence": "", "noise": strings.Repeat("x", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			over := make(chan struct{})
			script := scripted(t, func(_ int, line string) string {
				if line != "QUIT" && line != "RSET" {
					return ""
				}
				if says == "" {
					<-over
					return cut
				}
				return says
			})
			defer close(over)
			if err := transport(t, script.address, Options{}).Send(t.Context(), message); err != nil || script.taken() != 1 {
				t.Errorf("%v, %d messages", err, script.taken())
			}
		})
	}
}

// TestServerSendsWithoutEnd checks that the client limits what it reads.
func TestServerSendsWithoutEnd(t *testing.T) {
	for name, text := range map[string]string{"one line": "250 " + strings.Repeat("x", 1<<20), "many lines": strings.Repeat("250-more\r\n", 1<<17)} {
		for at, word := range words {
			script := scripted(t, func(_ int, line string) string {
				if begins(line, word) {
					return text
				}
				return ""
			})
			var err error
			used := testenv.Allocated(func() { err = transport(t, script.address, Options{}).Send(t.Context(), message) })
			f, whole := new(Failure), name == "many lines" // of one line the code is heard, and may be all there is to hear
			if (whole || at != StepEnd) && !errors.As(err, &f) || whole && (f.Step != at || f.Code == 0 && !strings.Contains(err.Error(), "sends more than")) {
				t.Errorf("%s at %s: %v", name, at, err)
			}
			if used > 32<<20 {
				t.Errorf("%s at %s: %d bytes of memory", name, at, used)
			}
		}
	}
}

// TestServerIsNotSMTP checks that a server of another protocol is a failure.
func TestServerIsNotSMTP(t *testing.T) {
	for _, text := range []string{"HTTP/1.1 400 Bad Request", " ", "2", "25", "250", "250-", "999 what", "-50 no", "\x00\xff\x16\x03", "250 ok\r\n250 ok\r\n250 ok"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			for at, word := range words {
				script := scripted(t, func(_ int, line string) string {
					if begins(line, word) {
						return text
					}
					return ""
				})
				err := shortTimeout(t, script.address).Send(t.Context(), message)
				if f := new(Failure); err != nil && !errors.As(err, &f) || err == nil && script.taken() == 0 {
					t.Errorf("%s: %v, %d messages", at, err, script.taken())
				}
			}
		})
	}
}

// shortTimeout returns a transport with the minimum timeout.
func shortTimeout(t *testing.T, address string) Transport {
	s := transport(t, address, Options{}).(server)
	s.options.Timeout = 100 * time.Millisecond
	return s
}

// script is an SMTP server whose replies a test determines.
type script struct {
	address string
	// does is called for each line of the client, with "" at the beginning and "." after a message. It returns the
	// reply; "" is the usual one, and cut closes the connection.
	does func(connection int, line string) (answer string)

	mu       sync.Mutex
	lines    []string
	messages []string
}

const cut = "cut"

// usual has the replies of a server that accepts everything, by the first word of the command.
var usual = map[string]string{
	"": "220 mail.example.is", "EHLO": "250-mail.example.is\r\n250 8BITMIME", "MAIL": "250 ok", "RCPT": "250 ok",
	"DATA": "354 go on", ".": "250 2.0.0 queued as 4711", "QUIT": "221 bye", "RSET": "250 ok", "HELO": "250 mail.example.is",
}

func scripted(t *testing.T, does func(connection int, line string) string) *script {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &script{address: "smtp://" + listener.Addr().String() + "?tls=none", does: does}
	var open sync.WaitGroup
	open.Go(func() {
		for n := 1; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				s.talk(n, conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		open.Wait()
	})
	return s
}

func (s *script) talk(n int, conn net.Conn) {
	in := bufio.NewReader(conn)
	if s.answer(n, conn, "") == cut {
		return
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		s.mu.Lock()
		s.lines = append(s.lines, line)
		s.mu.Unlock()
		said := s.answer(n, conn, line)
		if said == cut || line == "QUIT" {
			return
		}
		if line != "DATA" || !strings.HasPrefix(said, "354") {
			continue
		}
		var text strings.Builder
		for line := ""; line != ".\r\n"; text.WriteString(line) {
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		s.mu.Lock()
		s.messages = append(s.messages, text.String())
		s.mu.Unlock()
		if s.answer(n, conn, ".") == cut {
			return
		}
	}
}

// answer replies to a line and returns the reply.
func (s *script) answer(n int, conn net.Conn, line string) string {
	word, _, _ := strings.Cut(line, " ")
	text := usual[word]
	if s.does != nil {
		if said := s.does(n, line); said != "" {
			text = said
		}
	}
	if text != cut {
		if _, err := conn.Write([]byte(text + "\r\n")); err != nil {
			return cut
		}
	}
	return text
}

func (s *script) taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.messages)
}

func (s *script) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.lines...)
}
