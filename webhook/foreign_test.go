package webhook_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook"
)

// judgement is what another library says of a request of ours, and its own signature.
type judgement struct {
	Verified  bool   // as it was sent
	Converted bool   // v1: with the secret as whsec_ alone; fed with hexadecimal, it is refused
	Changed   bool   // with a byte of the body changed
	Late      bool   // sent ten minutes ago
	Signature string // of the request
	PublicKey string // v1a: whpk_, of the key that made the signature
}

// The libraries standardwebhooks and svix verify what we sign with v1, and we what they sign; so
// does Node's own cryptography with v1a, of which no library knows.
func TestOtherLibraries(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Symlink(filepath.Dir(testenv.Tool(t, "webhooks/node_modules/svix")), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	secret := make([]byte, 32)
	rand.Read(secret)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now, body := time.Now(), []byte(`{"type":"participant.signed","timestamp":"2026-06-17T12:00:00Z","data":{"name":"Jón Þór"}}`)
	late := now.Add(-10 * time.Minute)
	sign := func(at time.Time) string {
		return "v2,AAAA " + webhook.SignV1a(private, "id", at, body) + " " + webhook.SignV1(secret, "id", at, body)
	}
	judgements := make(map[string]judgement)
	runForeign(t, folder, []string{testenv.Tool(t, "openid/bin/node"), "libraries.mjs"}, map[string]any{
		"id": "id", "timestamp": now.Unix(), "body": string(body), "signature": sign(now),
		"late": late.Unix(), "lateSignature": sign(late),
		"whsec": standard("whsec_", secret), "hex": fmt.Sprintf("%x", secret), "openssh": sshLine(t, public),
	}, &judgements)

	got := make(map[string]judgement)
	for name, j := range judgements {
		key := webhook.Secret(secret)
		if j.PublicKey != "" {
			key = mustParse(t, j.PublicKey)
		}
		if err := webhook.VerifyAt(now, headers("id", now, j.Signature), body, key); err != nil {
			t.Errorf("%s: its signature: %v", name, err)
		}
		j.Signature, j.PublicKey = "", ""
		got[name] = j
	}
	want := map[string]judgement{
		"standardwebhooks": {Verified: true, Converted: true},
		"svix":             {Verified: true, Converted: true},
		"node:crypto":      {Verified: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
