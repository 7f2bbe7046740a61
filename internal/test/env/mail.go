package env

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"os"
	"strings"
	"testing"
)

// Mail is a message as its receiver reads it.
type Mail struct {
	netmail.Header
	Subject, Text, HTML string
}

// ReadMail reads a message from a file.
func ReadMail(t testing.TB, path string) (r Mail) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := netmail.ReadMessage(file)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = m.Header
	if r.Subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	_, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	for parts := multipart.NewReader(m.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart() // which decodes quoted-printable
		if errors.Is(err, io.EOF) {
			return r
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(content), "\r\n", "\n")
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			r.HTML = text
		} else {
			r.Text = text
		}
	}
}
