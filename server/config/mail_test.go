package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/internal/mail"
)

// The [mail] of docs/mail.md says what the comments beside it do.
func TestMailConfiguration(t *testing.T) {
	material, err := catest.SignerFiles()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, content := range map[string]string{
		"innsigli.toml": testenv.Blocks(t, "docs/mail.md", "toml")[0], "mail-password.txt": "a secret of mine\n", "mail-root.pem": string(material["root.pem"]),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, found := ReadFile(filepath.Join(folder, "innsigli.toml"))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if len(c.Mail.root) != 1 {
		t.Error("no root")
	}
	if diff := cmp.Diff(mail.Options{
		Sender: mail.Sender{From: "Dæmi ehf. <sign@example.is>", ReplyTo: "help@example.is", Envelope: "bounces@example.is"},
		TLS:    mail.StartTLS, Authentication: mail.Auto, User: "sign@example.is", Password: "a secret of mine",
		Name: "sign.example.is", Timeout: time.Minute,
	}, c.Mail.options, cmpopts.IgnoreFields(mail.Options{}, "Trace", "Roots")); diff != "" {
		t.Error(diff)
	}
	if out := (MailFlag{"smtp://mail.example"}).transport(c.Mail, "https://sign.example", nil, &found); out == nil || len(found) > 0 {
		t.Errorf("%v", found)
	}
}

// Each form of --mail in docs/mail.md is one.
func TestDocumentedMailFlags(t *testing.T) {
	text := string(testenv.ReadFile(t, filepath.Join("..", "..", "docs", "mail.md")))
	forms := 0
	for line := range strings.Lines(text) {
		form, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "` |")
		if !strings.HasPrefix(form, "smtp") && !strings.HasPrefix(form, "dir:") {
			continue
		}
		forms++
		var found Faults
		if out := (MailFlag{form}).transport(Mail{}, "https://sign.example", nil, &found); out == nil {
			t.Errorf("%s: %v", form, found)
		}
	}
	if forms != 6 {
		t.Errorf("%d forms", forms)
	}
}
