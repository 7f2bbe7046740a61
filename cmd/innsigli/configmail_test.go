package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/mail"
)

// The [mail] of docs/mail.md says what the comments beside it do.
func TestMailConfiguration(t *testing.T) {
	material, err := signerFiles()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, content := range map[string]string{
		"innsigli.toml": documented(t, "docs/mail.md", "toml")[0], "mail-password.txt": "a secret of mine\n", "mail-root.pem": string(material["root.pem"]),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, found := readConfiguration(filepath.Join(folder, "innsigli.toml"))
	if err := found.err(); err != nil {
		t.Fatal(err)
	}
	got := c.mail
	if got.roots == "" {
		t.Error("no root")
	}
	got.roots = ""
	if want := (mailSettings{
		sender: mail.Sender{From: "Dæmi ehf. <sign@example.is>", ReplyTo: "help@example.is", Envelope: "bounces@example.is"},
		tls:    mail.StartTLS, authentication: mail.Auto, user: "sign@example.is", password: "a secret of mine",
		name: "sign.example.is", timeout: time.Minute,
	}); got != want {
		t.Errorf("%+v", got)
	}
	if out := (mailFlag{"smtp://mail.example"}).transport(c.mail, "https://sign.example", &found); out == nil || len(found) > 0 {
		t.Errorf("%v", found)
	}
}

// Each form of --mail in docs/mail.md is one.
func TestDocumentedMailFlags(t *testing.T) {
	text := string(mustRead(t, filepath.Join("..", "..", "docs", "mail.md")))
	forms := 0
	for line := range strings.Lines(text) {
		form, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "` |")
		if !strings.HasPrefix(form, "smtp") && !strings.HasPrefix(form, "dir:") {
			continue
		}
		forms++
		var found faults
		if out := (mailFlag{form}).transport(mailSettings{}, "https://sign.example", &found); out == nil {
			t.Errorf("%s: %v", form, found)
		}
	}
	if forms != 6 {
		t.Errorf("%d forms", forms)
	}
}
