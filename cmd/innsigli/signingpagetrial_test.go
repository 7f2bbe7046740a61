package main

import (
	"bytes"
	"fmt"
	"image/color"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/innsigli/innsigli/idp/simulated"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/server"
)

// What the README says of a trial works as it is typed: two people are invited, log in, read and sign.
func TestREADMETriesTheSigningPage(t *testing.T) {
	testenv.Slow(t, "a browser")
	t.Parallel()
	testenv.Program(t, "curl")
	shell := testenv.Program(t, "sh")
	p := newProduction(t, installed(t), "")
	p.relay(t)
	serve, steps := p.trialSteps(t)
	p.flags = serve
	p.keepsToItself(t)
	p.write(t, "document.pdf", document)
	p.run(t)
	p.waitFor(t, "the identity provider is simulated", 1)
	command := exec.CommandContext(t.Context(), shell, "-e", "-c", steps)
	command.Dir = p.folder
	said, err := command.CombinedOutput()
	links := strings.Fields(string(said))
	if err != nil || len(links) != 2 {
		t.Fatalf("%v\n%s\n%s", err, steps, said)
	}

	jona, jon := newVisitor(t), newVisitor(t)
	jona.open(links[0])
	jona.sees(http.StatusOK, "Example Ltd.", "contract.pdf")
	jona.logIn("way", string(page.App), "kennitala", "010130-2989")
	jona.sees(http.StatusOK, "contract.pdf", simulated.Name("0101302989"))
	jona.signs("method", "IdpApp")
	jon.open(links[1])
	jon.logIn("way", string(page.SIM), "phone", "555 0101")
	jon.sees(http.StatusOK, simulated.Name(simulated.KennitalaOf("5550101")))
	jon.signs("method", "IdpSim", "phone", "5550101")
	jon.open(p.relayed.URL + jon.address.Path + "/document")
	jon.sees(http.StatusOK)
	p.write(t, "signed.pdf", []byte(jon.page))
	jona.open(p.BaseURL + "/.well-known/sandbox-root.pem")
	p.write(t, "root.pem", []byte(jona.page))
	report := output(t, done, "verify", filepath.Join(p.folder, "signed.pdf"), "--trust", filepath.Join(p.folder, "root.pem"))
	if strings.Count(report, "PAdES-BASELINE-LT") != 2 {
		t.Error(report)
	}
	if invitations, err := filepath.Glob(filepath.Join(p.folder, "mail", "*.eml")); err != nil || len(invitations) < 2 {
		t.Errorf("%d letters, %v", len(invitations), err)
	}
}

// trialSteps are the flags of the server in the README's trial, beside those of every server in
// production, and what is typed after it was started; both for this server's address and store.
func (p *production) trialSteps(t *testing.T) (flags []string, steps string) {
	t.Helper()
	for _, block := range testenv.Blocks(t, "README.md", "sh") {
		block = strings.ReplaceAll(block, "http://localhost:8080", p.relayed.URL)
		block = strings.ReplaceAll(block, "bolt:trial.db", p.store)
		if _, serve, ok := strings.Cut(block, "innsigli serve "); ok && strings.Contains(block, "--insecure-simulated-idp") {
			flags = strings.Fields(strings.ReplaceAll(serve, "\\\n", " "))
		}
		if strings.HasPrefix(block, "ACCOUNT=") {
			steps = block
		}
	}
	if flags == nil || steps == "" {
		t.Fatal("README.md has no trial")
	}
	return append(flags, "--listen", "127.0.0.1:0"), steps
}

// The page that stands in for the provider's leads back as the chosen person, or without a login.
func TestTrialLoginPage(t *testing.T) {
	t.Parallel()
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp")
	p.relay(t)
	p.flags = append(p.flags, "--base-url", p.relayed.URL)
	p.run(t)
	p.client = p.account(t, p.store)
	made, v := p.invite(t), newVisitor(t)
	answer := func(name, value string) {
		t.Helper()
		v.open(made.link(0))
		v.logIn("way", string(page.Browser))
		if v.address.Path != "/simulated/login" {
			t.Fatalf("at %s: status %d\n%s", v.address, v.status, v.page)
		}
		form := v.hidden(server.LoginPath)
		form.Del("error") // of the other form
		form.Set(name, value)
		v.open(p.relayed.URL + server.LoginPath + "?" + form.Encode())
	}
	answer("error", "access_denied")
	v.strange(p, made)
	answer("kennitala", "0101302401") // who does not want to
	v.strange(p, made)
	answer("kennitala", "010130-2989")
	v.at(made, 0)
	v.sees(http.StatusOK, simulated.Name("0101302989"), documentName)

	v.open(p.relayed.URL + "/simulated/login" + "?" + url.Values{"state": {`"><script>`}}.Encode())
	if v.status != http.StatusOK || strings.Contains(v.page, "<script") {
		t.Errorf("status %d\n%s", v.status, v.page)
	}
	v.open(p.relayed.URL + "/simulated/login")
	v.sees(http.StatusBadRequest)
}

// In a sandbox no person logs in, and there is no page to.
func TestNoSigningPageInASandbox(t *testing.T) {
	t.Parallel()
	p := startSandbox(t, installed(t), "bolt:"+filepath.Join(shortFolder(t), "store.db"), nil)
	for _, path := range []string{"/sign/" + "token", "/sign/", server.LoginPath, "/simulated/login", "/sign/" + "assets/style.css"} {
		response, err := http.Get(p.BaseURL + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusNotFound || response.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %s, %s", path, response.Status, response.Header.Get("Content-Type"))
		}
	}
}

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

// Several servers on one database are one signing page, whichever of them a request comes to. One that is
// started again knows who has logged in.
func TestSigningPageOfSeveralServers(t *testing.T) {
	testenv.Slow(t, "people log in at a provider")
	t.Parallel()
	p := newProduction(t, installed(t), postgrestest.Database(t), "--insecure-simulated-idp")
	var turn atomic.Int64
	var servers []*url.URL
	balancer := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(servers[turn.Add(1)%int64(len(servers))])
	}})
	t.Cleanup(balancer.Close)
	p.flags = append(p.flags, "--base-url", balancer.URL)
	start := func() *url.URL {
		t.Helper()
		p.run(t)
		address, err := url.Parse(p.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		return address
	}
	servers = append(servers, start(), start())
	p.client = p.account(t, p.store)
	made := p.invite(t)
	for i, form := range [][]string{
		{"way", string(page.App), "kennitala", people[0].kennitala},
		{"way", string(page.App), "kennitala", people[1].kennitala},
	} {
		v := newVisitor(t)
		v.open(made.link(i))
		v.logIn(form...)
		v.at(made, i)
		for range servers { // each of them
			v.open(v.address.String())
			v.sees(http.StatusOK, documentName)
		}
		if i == 1 {
			if _, err := p.stop(); err != nil {
				t.Fatal(err)
			}
			servers = slices.Delete(servers, 1, 2)
			servers = append(servers, start())
			v.open(v.address.String())
			v.sees(http.StatusOK, documentName)
		}
		v.signs("method", "IdpApp")
		v.sees(http.StatusOK, fmt.Sprintf("%s-%s", people[i].kennitala[:6], people[i].kennitala[6:]))
	}
	for i, one := range p.client.process(t, made.ProcessID).Participants {
		if one.Status != "Completed" {
			t.Errorf("participant %d: %s\n%s", i, one.Status, p.logs())
		}
	}
}
