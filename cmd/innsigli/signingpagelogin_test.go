package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Without a [login] links lead to a page that says so.
func TestSigningPageWithoutLogin(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := startPages(t, "")
	made := p.invite(t)
	if _, err := p.stop(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.folder, "innsigli.toml")
	rest, _, found := strings.Cut(string(testenv.ReadFile(t, file)), "[login]")
	if !found {
		t.Fatal(rest)
	}
	p.write(t, "innsigli.toml", []byte(rest))
	p.run(t)
	v := newVisitor(t)
	v.open(made.link(0))
	v.sees(http.StatusOK, documentName, "the service is not connected to electronic IDs")
	if strings.Contains(v.page, "<form") || !strings.Contains(p.logs(), "no login provider is configured") {
		t.Error(v.page, p.logs())
	}
}
