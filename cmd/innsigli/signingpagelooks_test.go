package main

import (
	"bytes"
	"image/color"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// What [page] says is what people see: on the page, with its colours and its logo, and in mail.
func TestOperatorsLooks(t *testing.T) {
	testenv.Slow(t, "a browser")
	t.Parallel()
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp", "--mail", "dir:mail", "--config", "innsigli.toml")
	p.relay(t)
	p.flags = append(p.flags, "--base-url", p.relayed.URL)
	logo := testenv.Picture(t, color.Black)
	p.write(t, "logo.png", logo)
	p.write(t, "innsigli.toml", []byte(testenv.Blocks(t, "docs/signing-page.md", "toml")[0]))
	p.run(t)
	p.client = p.account(t, p.store)
	made, v := p.invite(t), newVisitor(t)
	v.open(made.link(0))
	v.sees(http.StatusOK, "Example", "mailto:help@example.is", `alt="Example"`)
	files := regexp.MustCompile(`"(/sign/assets/[^"]+)"`).FindAllStringSubmatch(v.page, -1)
	if len(files) < 4 {
		t.Fatalf("files %q of\n%s", files, v.page)
	}
	var all []string
	for _, file := range files {
		v.open(p.relayed.URL + file[1])
		v.sees(http.StatusOK)
		all = append(all, v.page)
	}
	if !slices.Contains(all, string(logo)) || !strings.Contains(strings.Join(all, ""), "#14508c") {
		t.Error("the logo or the colour is in no file that the page loads")
	}

	var letters []string
	p.waitUntil(t, func() bool {
		letters, _ = filepath.Glob(filepath.Join(p.folder, "mail", "*.eml"))
		return len(letters) == 2
	})
	for _, letter := range letters {
		raw := bytes.ReplaceAll(testenv.ReadFile(t, letter), []byte("=\r\n"), nil) // quoted-printable in one line
		for _, want := range []string{"Example", "#14508c", "image/png"} {
			if !bytes.Contains(raw, []byte(want)) {
				t.Errorf("the letter has no %s:\n%s", want, raw)
			}
		}
	}
}
