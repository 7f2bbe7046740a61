package main

import (
	"bytes"
	"crypto/x509"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// startServer runs "innsigli serve" for a sandbox on store.db and innsigli.toml of a folder,
// and waits until it listens.
func startServer(t *testing.T, folder string, environment ...string) *sandboxProcess {
	t.Helper()
	program, err := exec.LookPath("innsigli")
	if err != nil {
		t.Fatal(err)
	}
	return serveIn(t, program, folder, environment, "--environment", "sandbox", "--base-url", "http://sandbox.example", "--store", "bolt:store.db", "--config", "innsigli.toml")
}

// serveIn runs "innsigli serve" in a folder and waits until it listens.
func serveIn(t *testing.T, program, folder string, environment []string, flags ...string) *sandboxProcess {
	t.Helper()
	p := &sandboxProcess{command: exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)}
	p.command.Dir, p.command.Env = folder, append(os.Environ(), environment...)
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	p.killLater(t)
	p.waitFor(t, `msg=listening|"msg":"listening"`, 1)
	p.BaseURL = "http://" + regexp.MustCompile(`listening"?[ ,]"?address(?:=|":")([^\s"]+)`).FindStringSubmatch(p.talk())[1]
	return p
}

// account makes an account with a client, as an operator does, and returns the client.
func (p *sandboxProcess) account(t *testing.T, store string) *client {
	t.Helper()
	id := strings.TrimSpace(output(t, done, "account", "create", "Example", "--store", store))
	fields := strings.Fields(output(t, done, "client", "create", id, "test", "--store", store)) // client id ID client secret SECRET
	c := clientOf(p.BaseURL)
	_, token, err := c.issue(fields[2], fields[5])
	if err != nil || token.AccessToken == "" {
		t.Fatalf("token: %+v, %v", token, err)
	}
	c.secret, c.token = fields[5], token.AccessToken
	return c
}

// root is the root of the sandbox's authority.
func (p *sandboxProcess) root(t *testing.T) *x509.Certificate {
	t.Helper()
	response, err := http.Get(p.BaseURL + "/.well-known/sandbox-root.pem")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	return certificate(t, text.String())
}

func (p *sandboxProcess) hangUp(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// waitFor waits until an expression stands in the log so often.
func (p *sandboxProcess) waitFor(t *testing.T, expression string, times int) {
	t.Helper()
	r := regexp.MustCompile(expression)
	p.waitUntil(t, func() bool { return len(r.FindAllString(p.talk(), -1)) >= times })
}

func (p *sandboxProcess) waitUntil(t *testing.T, happened func() bool) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("the program said\n%s", p.talk())
		}
	}()
	testenv.Wait(t, "what the program is to do", happened)
}
