package mail

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	stdmail "net/mail"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// composed returns a message as it is sent.
func composed(t *testing.T, m Message) (*stdmail.Message, string) {
	t.Helper()
	s, err := from.parse()
	if err != nil {
		t.Fatal(err)
	}
	msg, err := s.compose(m)
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

// TestHeaders checks that contents of a message cannot inject headers or lines that servers refuse.
func TestHeaders(t *testing.T) {
	m := message
	m.Subject = "a\r\nBcc: victim@example.is\r\n\r\nText " + strings.Repeat("Þjóðskrá ", 40) + strings.Repeat("x", 300)
	m.To = []string{`"Ægir \"<b@example.is>\" Þórðarson" <one@example.is>`}
	read, text := composed(t, m)
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

func TestInvalidMessages(t *testing.T) {
	s, err := from.parse()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Message){
		"an ID with a line":        func(m *Message) { m.ID = "a\r\nBcc: b" },
		"an ID with an angle":      func(m *Message) { m.ID = "a>" },
		"a language with a line":   func(m *Message) { m.Languages = []string{"is\r\nBcc: b"} },
		"no recipient":             func(m *Message) { m.To = nil },
		"no address":               func(m *Message) { m.To = []string{"mailer"} },
		"two addresses in one":     func(m *Message) { m.To = []string{"a@example.is, b@example.is"} },
		"an address with commands": func(m *Message) { m.To = []string{"a@example.is>\r\nDATA"} },
	} {
		m := message
		change(&m)
		if _, err := s.compose(m); !errors.Is(err, ErrRefused) || strings.Contains(fmt.Sprint(err), "example.is") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// readingProgram is a program of Node.js that parses messages with mailparser.
const readingProgram = `
const { simpleParser } = require(process.argv[1]);
const content = require('fs').readFileSync(0);
simpleParser(content, { skipImageLinks: true }).then((m) => console.log(JSON.stringify({
  from: m.from.value, to: m.to.value, replyTo: m.replyTo.value, subject: m.subject, id: m.messageId, date: m.date,
  text: m.text, html: m.html, headers: Object.fromEntries([...m.headers].filter(([, v]) => typeof v === 'string')),
  files: m.attachments.map((a) => ({ type: a.contentType, id: a.cid, related: a.related, content: a.content.toString('base64') })),
})));`

// read is the output of readingProgram.
type read struct {
	From, To, ReplyTo       []struct{ Name, Address string }
	Subject, ID, Text, HTML string
	Date                    time.Time
	Headers                 map[string]string
	Files                   []struct {
		Type, ID string
		Related  bool
		Content  []byte
	}
}

func readByMailparser(t *testing.T, content []byte) (m read) {
	t.Helper()
	node := testenv.Program(t, "node")
	parser := testenv.Tool(t, "browser/node_modules/mailparser")
	command := exec.Command(node, "-e", readingProgram, parser)
	command.Stdin = bytes.NewReader(content)
	var talk bytes.Buffer
	command.Stderr = &talk
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &talk)
	}
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestReadByMailparser checks that mailparser reads a received message as it was meant: headers, both parts, the
// picture, and Icelandic names everywhere.
func TestReadByMailparser(t *testing.T) {
	var logo bytes.Buffer
	if err := png.Encode(&logo, image.NewGray(image.Rect(0, 0, 200, 60))); err != nil {
		t.Fatal(err)
	}
	m := Message{
		ID: "0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11", To: []string{`"Þórður Æ. Guðmundsson" <thordur@example.is>`},
		Subject:   "Skjal til undirritunar / A document to sign: Húsaleigusamningur Ægissíðu – þinglýst eintak með viðauka.pdf",
		Text:      "Þjóðskrá sendir „Samning (öll blöð).pdf“\n.\n..\nFrom here on: = and =20\n" + strings.Repeat("Löng lína án enda ", 100) + "\n",
		HTML:      `<p lang="is">Þjóðskrá sendir „Samning.pdf“</p><img src="` + LogoURL + `" alt="Lógó"><p>` + strings.Repeat("ð", 3000) + "</p>",
		Languages: []string{"is", "en"}, Logo: logo.Bytes(),
	}
	b := &inbox{}
	before := time.Now().Truncate(time.Second)
	if err := transport(t, "smtp://"+serve(t, b, nil, false)+"?tls=none", Options{}).Send(t.Context(), m); err != nil || len(b.bodies) != 1 {
		t.Fatalf("%v, %d messages", err, len(b.bodies))
	}
	got := readByMailparser(t, b.bodies[0])
	if len(got.From) != 1 || got.From[0].Name != "Innsigli á Íslandi" || got.From[0].Address != "sign@example.is" ||
		len(got.To) != 1 || got.To[0].Name != "Þórður Æ. Guðmundsson" || got.To[0].Address != "thordur@example.is" ||
		len(got.ReplyTo) != 1 || got.ReplyTo[0].Address != "help@example.is" {
		t.Errorf("from %v to %v, replies to %v", got.From, got.To, got.ReplyTo)
	}
	if got.Subject != m.Subject || got.ID != "<"+m.ID+"@example.is>" || got.Date.Before(before) || got.Date.After(time.Now()) {
		t.Errorf("subject %q, ID %s, date %v", got.Subject, got.ID, got.Date)
	}
	for name, want := range map[string]string{"auto-submitted": "auto-generated", "content-language": "is, en", "mime-version": "1.0"} {
		if got.Headers[name] != want {
			t.Errorf("%s: %q", name, got.Headers[name])
		}
	}
	if strings.TrimRight(got.Text, "\n") != strings.TrimRight(m.Text, "\n") || strings.TrimRight(got.HTML, "\n") != m.HTML {
		t.Errorf("text %q\nHTML %q", got.Text, got.HTML)
	}
	if len(got.Files) != 1 || got.Files[0].Type != "image/png" || "cid:"+got.Files[0].ID != LogoURL || !got.Files[0].Related || !bytes.Equal(got.Files[0].Content, m.Logo) {
		t.Errorf("files: %d %+v", len(got.Files), got.Files)
	}
}
