package mail

import (
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// words are what the client says at each step.
var words = map[Step]string{Connecting: "", Hello: "EHLO", From: "MAIL", To: "RCPT", Data: "DATA", End: "."}

func begins(line, word string) bool {
	first, _, _ := strings.Cut(line, " ")
	return first == word
}

// A server that stalls, whenever that is, costs the time that a message has and no more: it stalls until the message
// has been given up. A machine that is busy may need more than that time to get so far, so it is doubled until it
// does; who is cut off too early has the step of that, and who waits for the server waits for ever.
func TestServerThatStalls(t *testing.T) {
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
				err = parsed(t, script.address, Options{Timeout: patience}).Send(t.Context(), message)
			}
			f := new(Failure)
			if !errors.As(err, &f) || f.Step != at || f.Says != "no answer came in time" || f.Permanent || f.Unclear != (at == End) {
				t.Errorf("%+v", err)
			}
		})
	}
}

// A server that ends the connection has not taken the message, unless it had all of it: then nobody knows,
// and what is sent again is the same message, by its Message-ID.
func TestServerThatCutsTheConnection(t *testing.T) {
	for at, word := range words {
		script := scripted(t, func(n int, line string) string {
			if n == 1 && begins(line, word) {
				return cut
			}
			return ""
		})
		transport := parsed(t, script.address, Options{})
		err := transport.Send(t.Context(), message)
		f := new(Failure)
		if !errors.As(err, &f) || f.Step != at || f.Says != "the connection was cut" || f.Permanent || f.Unclear != (at == End) {
			t.Errorf("%s: %+v", at, err)
		}
		if err := transport.Send(t.Context(), message); err != nil {
			t.Errorf("%s, again: %v", at, err)
		}
		want := 1
		if at == End {
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

// Once the server has said that it takes the message, it is sent, whatever comes then: who took it for a
// failure would send it twice.
func TestTakenIsTaken(t *testing.T) {
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
			if err := parsed(t, script.address, Options{}).Send(t.Context(), message); err != nil || script.taken() != 1 {
				t.Errorf("%v, %d messages", err, script.taken())
			}
		})
	}
}

// A server that talks without end is not listened to without end.
func TestServerThatTalksWithoutEnd(t *testing.T) {
	for name, text := range map[string]string{"one line": "250 " + strings.Repeat("x", 1<<20), "many lines": strings.Repeat("250-more\r\n", 1<<17)} {
		for at, word := range words {
			script := scripted(t, func(_ int, line string) string {
				if begins(line, word) {
					return text
				}
				return ""
			})
			var err error
			used := testenv.Allocated(func() { err = parsed(t, script.address, Options{}).Send(t.Context(), message) })
			f, whole := new(Failure), name == "many lines" // of one line the code is heard, and may be all there is to hear
			if (whole || at != End) && !errors.As(err, &f) || whole && (f.Step != at || f.Code == 0 && !strings.Contains(err.Error(), "says more than")) {
				t.Errorf("%s at %s: %v", name, at, err)
			}
			if used > 32<<20 {
				t.Errorf("%s at %s: %d bytes of memory", name, at, used)
			}
		}
	}
}

// What is no SMTP is a failure, and no panic.
func TestServerThatIsNone(t *testing.T) {
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
				err := hasty(t, script.address).Send(t.Context(), message)
				if f := new(Failure); err != nil && !errors.As(err, &f) || err == nil && script.taken() == 0 {
					t.Errorf("%s: %v, %d messages", at, err, script.taken())
				}
			}
		})
	}
}

// hasty is a transport that does not wait long.
func hasty(t *testing.T, address string) Transport {
	s := parsed(t, address, Options{}).(server)
	s.options.Timeout = 100 * time.Millisecond
	return s
}
