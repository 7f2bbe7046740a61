package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The configuration in README.md is one without faults, beside the files that it names.
func TestREADMEConfiguration(t *testing.T) {
	ca := newAuthority(t)
	folder := t.TempDir()
	writeSigner(t, folder, ca)
	bundle, err := ca.Issuers()
	if err != nil {
		t.Fatal(err)
	}
	blocks := documented(t, "README.md", "toml")
	if len(blocks) != 1 {
		t.Fatalf("README.md has %d blocks of TOML", len(blocks))
	}
	for name, content := range map[string][]byte{
		"innsigli.toml": []byte(blocks[0]), "authorities.p7b": bundle, "tsa-password.txt": []byte("a secret of mine\n"),
		"roots.pem":  mustRead(t, filepath.Join(folder, "root.pem")),
		"client.pem": mustRead(t, filepath.Join(folder, "chain.pem")), "client-key.pem": mustRead(t, filepath.Join(folder, "key.pem")),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, found := readConfiguration(filepath.Join(folder, "innsigli.toml"))
	if err := found.err(); err != nil {
		t.Fatal(err)
	}
	if len(c.roots) != 1 || len(c.intermediates) != 2 || len(c.private) != 1 || len(c.authorities) != 2 || len(c.versions) != 6 {
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

// What is longer than anybody means is not read to its end.
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
