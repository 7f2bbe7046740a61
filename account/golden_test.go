package account

import (
	"encoding/hex"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// A secret is stored as version 1 stored it, and proves its client. Tokens are stored the same way.
func TestGoldenSecret(t *testing.T) {
	const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
	golden := testenv.SameAsGolden(t, "testdata/secret-1.golden", []byte(hex.EncodeToString(hashed(secret))+"\n"))
	stored, err := hex.DecodeString(strings.TrimSpace(string(golden)))
	if err != nil {
		t.Fatal(err)
	}
	client := Client{Secrets: []Secret{{ID: FirstSecret, Hash: stored}}}
	if id, ok := client.proved(secret); id != FirstSecret || !ok {
		t.Errorf("%q, %v", id, ok)
	}
}
