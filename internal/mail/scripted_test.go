package mail

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"testing"
)

// script is a server that does at each step of a conversation what a test says.
type script struct {
	address string
	// does is called for each line that the client says, "" at the beginning and "." behind a message. It
	// returns an answer; "" is the usual one, and cut ends the connection.
	does func(connection int, line string) (answer string)

	mu       sync.Mutex
	lines    []string
	messages []string
}

const cut = "cut"

// usual are the answers of a server that takes everything, by the first word of what it is told.
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

// answer answers a line, and says what.
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
