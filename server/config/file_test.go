package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"

	"github.com/google/go-cmp/cmp"
)

// The configuration in README.md is one without faults, beside the files that it names.
func TestREADMEConfiguration(t *testing.T) {
	ca := catest.New(t)
	folder := t.TempDir()
	catest.WriteSigner(t, folder, ca)
	bundle, err := ca.Issuers()
	if err != nil {
		t.Fatal(err)
	}
	blocks := testenv.Blocks(t, "README.md", "toml")
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of TOML", len(blocks))
	}
	for name, content := range map[string][]byte{
		"innsigli.toml": []byte(blocks[0]), "authorities.p7b": bundle, "tsa-password.txt": []byte("a secret of mine\n"),
		"roots.pem":  testenv.ReadFile(t, filepath.Join(folder, "root.pem")),
		"client.pem": testenv.ReadFile(t, filepath.Join(folder, "chain.pem")), "client-key.pem": testenv.ReadFile(t, filepath.Join(folder, "key.pem")),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, found := ReadFile(filepath.Join(folder, "innsigli.toml"))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if len(c.Roots) != 1 || len(c.Intermediates) != 2 || len(c.PrivateAddresses) != 1 || len(c.authorities) != 2 || len(c.files.seen) != 6 {
		t.Errorf("%+v", c)
	}
	first, second := c.authorities[0].tsa, c.authorities[1].tsa
	if first.Username != "innsigli" || first.Password != "a secret of mine" || first.Policy.String() != "1.3.6.1.4.1.99999.1" || first.Client != nil || first.Roots != nil || first.Timeout != 0 {
		t.Errorf("%+v", first)
	}
	if second.Client == nil || second.Roots == nil || second.Timeout != 5*time.Second || second.Username != "" || second.Policy != nil {
		t.Errorf("%+v", second)
	}
}

// A file larger than the limit is not read to its end.
func TestConfigurationFilesAreBounded(t *testing.T) {
	files := configFiles{t.TempDir(), make(map[string]fileVersion)}
	for name, length := range map[string]int{"fits": 100, "long": 101} {
		if err := os.WriteFile(filepath.Join(files.folder, name), make([]byte, length), 0o600); err != nil {
			t.Fatal(err)
		}
		if content, err := files.read(name, 100); (err == nil) != (length == 100) || err == nil && len(content) != length {
			t.Errorf("%s: %d bytes, %v", name, len(content), err)
		}
	}
}

// A value of another type is a fault of its key, like a key that is not known, and all of them are told.
func TestDecodeFaults(t *testing.T) {
	values := map[string]any{
		"trust":     map[string]any{"roots": "root.pem", "private-addresses": []any{"10.0.0.0/8", int64(1)}, "colour": "red"},
		"timestamp": []map[string]any{{"url": int64(1)}, {"urll": "https://tsa.example", "Url": "https://tsa.example", "timeout": int64(5)}},
		"limits":    map[string]any{"body": 1.5, "connections": "many", "slow-after": "soon"},
		"page":      "Example", "login": []any{}, "identity-provider": map[string]any{"check-name": "yes", "app": int64(1)},
		"retention": map[string]any{"evidence": "10"}, "pages": map[string]any{},
	}
	var found Faults
	decode(values, new(File), &found)
	want := Faults{
		"identity-provider.app: must be a table", "identity-provider.check-name: must be true or false",
		"limits.body: must be a whole number", "limits.connections: must be a whole number", `limits.slow-after: "soon" must be a duration such as 60s`,
		"login: must be a table", "page: must be a table", "pages: is unknown: check its spelling",
		`retention.evidence: "10" must be a duration between 1h and 100y, such as 24h, 90d or 10y`,
		"timestamp[0].url: must be a string", "timestamp[1].Url: is unknown: check its spelling", "timestamp[1].timeout: must be a string", "timestamp[1].urll: is unknown: check its spelling",
		"trust.colour: is unknown: check its spelling", "trust.private-addresses[1]: must be a string", "trust.roots: must be an array of strings",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}
