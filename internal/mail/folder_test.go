package mail

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	stdmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	from    = Sender{From: "Innsigli á Íslandi <sign@example.is>", ReplyTo: "help@example.is", Envelope: "bounces@example.is"}
	message = Message{
		ID: "0b6c8f0e", To: []string{"one@example.is", "two@example.is"},
		Languages: []string{"is", "en"},
		Subject:   "Þjónustan svarar ekki", Text: "Halló heimur\n", HTML: "<p>Halló heimur</p>",
	}
)

func send(t *testing.T, to string) {
	t.Helper()
	transport, err := Parse(to, Options{Sender: from})
	if err != nil {
		t.Fatal(err)
	}
	if err := transport.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
}

// checkMessage parses a message as a receiver does, and compares it.
func checkMessage(t *testing.T, content []byte) {
	t.Helper()
	m, err := stdmail.ReadMessage(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	if err != nil || subject != message.Subject {
		t.Errorf("subject %q, %v", subject, err)
	}
	sender, err := m.Header.AddressList("From")
	if err != nil || len(sender) != 1 || sender[0].Name != "Innsigli á Íslandi" || sender[0].Address != "sign@example.is" {
		t.Errorf("from %v, %v", sender, err)
	}
	for name, want := range map[string]string{
		"Message-Id": "<0b6c8f0e@example.is>", "Reply-To": "<help@example.is>", "Auto-Submitted": "auto-generated",
		"Content-Language": "is, en",
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%q, %v", kind, err)
	}
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for _, want := range []struct{ kind, text string }{{"text/plain", message.Text}, {"text/html", message.HTML}} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(part)
		if err != nil || !strings.HasPrefix(part.Header.Get("Content-Type"), want.kind) || strings.TrimSpace(string(text)) != strings.TrimSpace(want.text) {
			t.Errorf("%s: %q, %v", part.Header.Get("Content-Type"), text, err)
		}
	}
}

func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mail")
	send(t, "dir:"+path)
	files, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil || len(files) != 1 || !strings.HasSuffix(files[0], "-0b6c8f0e.eml") {
		t.Fatalf("%v, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	checkMessage(t, content)
}

// TestFolderTrace checks that the path of the file is traced.
func TestFolderTrace(t *testing.T) {
	path := t.TempDir()
	var lines []string
	if err := transport(t, "dir:"+path, Options{Trace: func(line string) { lines = append(lines, line) }}).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(path, "*.eml"))
	if err != nil || len(files) != 1 || len(lines) != 1 || lines[0] != "written to "+files[0] {
		t.Errorf("%q, %v, %v", lines, files, err)
	}
}
