package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// In production the admins of an account get mail, and --admin-listen serves metrics.
func TestAlertIsSent(t *testing.T) {
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp", "--mail", "dir:mail", "--admin-listen", "127.0.0.1:0")
	p.run(t)
	p.client = p.account(t, p.store)
	owner, _, _ := strings.Cut(strings.Split(output(t, done, "account", "list", "--store", p.store), "\n")[1], " ")
	output(t, done, "account", "admins", owner, "admin@example.is", "--store", p.store)
	if err := p.command.Process.Kill(); err != nil || !p.killed() {
		t.Fatal(err)
	}
	enqueueAlert(t, strings.TrimPrefix(p.store, "bolt:"), owner)
	p.run(t)

	sent := eventually(t, func() []string {
		files, err := filepath.Glob(filepath.Join(p.folder, "mail", "*.eml"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	})
	content, err := os.ReadFile(sent[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"To: <admin@example.is>", "From: \"Innsigli\" <innsigli@localhost>", "hooks.example.is", "switched off"} {
		if !strings.Contains(string(content), want) {
			t.Errorf("no %s in\n%s", want, content)
		}
	}
	if strings.Contains(p.logs(), "admin@") {
		t.Errorf("the log names an admin:\n%s", p.logs())
	}

	address := eventually(t, func() []string {
		return regexp.MustCompile(`serving metrics.*address=(\S+)`).FindStringSubmatch(p.talk())
	})[1]
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(text), "innsigli_webhook_oldest_due_seconds 0") {
		t.Errorf("%v\n%s", err, text)
	}
}

// enqueueAlert leaves to the server what it has to do when a security check was failed, in the form
// that is stored.
func enqueueAlert(t *testing.T, path, account string) {
	t.Helper()
	db, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		return db.Jobs().Enqueue(ctx, storage.Job{Kind: "webhook.alert", Group: account, Due: time.Now(), Payload: []byte(`{"version":1,"alert":{
			"ID":"0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11","Account":"` + account + `","Subscription":"3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55",
			"URL":"https://hooks.example.is/path","Purpose":"check","Reason":"SecurityCheckFailed","Since":"2026-03-01T07:05:00Z"}}`)})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// eventually is what f finds, which may take a while.
func eventually(t *testing.T, f func() []string) []string {
	t.Helper()
	var found []string
	testenv.Wait(t, "what is to come", func() bool {
		found = f()
		return len(found) > 0
	})
	return found
}
