package mail

import (
	"bytes"
	"errors"
	"fmt"
	stdmail "net/mail"
	"slices"
	"strings"
	"testing"
)

// made is a message as it is sent.
func made(t *testing.T, m Message) (*stdmail.Message, string) {
	t.Helper()
	s, err := from.parse()
	if err != nil {
		t.Fatal(err)
	}
	msg, err := s.message(m)
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if _, err := msg.WriteTo(&content); err != nil {
		t.Fatal(err)
	}
	text := content.String()
	read, err := stdmail.ReadMessage(&content)
	if err != nil {
		t.Fatal(err)
	}
	return read, text
}

// Nothing that stands in a message becomes a header of it, or a line that no server takes.
func TestHeaders(t *testing.T) {
	m := message
	m.Subject = "a\r\nBcc: victim@example.is\r\n\r\nText " + strings.Repeat("Þjóðskrá ", 40) + strings.Repeat("x", 300)
	m.To = []string{`"Ægir \"<b@example.is>\" Þórðarson" <one@example.is>`}
	read, text := made(t, m)
	names := []string{"Auto-Submitted", "Content-Language", "Content-Type", "Date", "From", "Message-Id", "Mime-Version", "Reply-To", "Subject", "To"}
	var got []string
	for name, values := range read.Header {
		got = append(got, name)
		if len(values) != 1 {
			t.Errorf("%s: %q", name, values)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, names) {
		t.Errorf("headers: %v", got)
	}
	to, err := read.Header.AddressList("To")
	if err != nil || len(to) != 1 || to[0].Address != "one@example.is" || to[0].Name != `Ægir "<b@example.is>" Þórðarson` {
		t.Errorf("to %v, %v", to, err)
	}
	for line := range strings.Lines(text) {
		if len(line) > 998+2 || !strings.HasSuffix(line, "\r\n") { // RFC 5322 2.1.1
			t.Errorf("a line of %d bytes: %.100q", len(line), line)
		}
	}
	for _, r := range text {
		if r > 0x7e {
			t.Fatalf("%U is left: not all servers take more than ASCII", r)
		}
	}
}

func TestMessagesThatCannotBe(t *testing.T) {
	s, err := from.parse()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Message){
		"an ID with a line":        func(m *Message) { m.ID = "a\r\nBcc: b" },
		"an ID with an angle":      func(m *Message) { m.ID = "a>" },
		"a language with a line":   func(m *Message) { m.Languages = []string{"is\r\nBcc: b"} },
		"nobody":                   func(m *Message) { m.To = nil },
		"no address":               func(m *Message) { m.To = []string{"nobody"} },
		"two addresses in one":     func(m *Message) { m.To = []string{"a@example.is, b@example.is"} },
		"an address with commands": func(m *Message) { m.To = []string{"a@example.is>\r\nDATA"} },
	} {
		m := message
		change(&m)
		if _, err := s.message(m); !errors.Is(err, ErrRefused) || strings.Contains(fmt.Sprint(err), "example.is") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
