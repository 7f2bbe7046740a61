package main

import (
	"encoding/pem"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/httpapi"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// installed is the program that the tests have in their path.
func installed(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("innsigli")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// eager is a provider that may be asked every second.
var eager = openidtest.Options{Interval: time.Second}

// A server in production has people sign with each method, up to level LT, and knows no
// sandbox. Its store is none for tests.
func TestProduction(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	p := startProduction(t, installed(t), productionOptions{provider: eager})
	p.person(t, people[0], openidtest.Answer{})
	for _, method := range []string{"IdpApp", "IdpSim"} {
		started := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, people[0], method, "Lt", ""))
		a := p.finish(t, started.PollingID)
		if a.Status != http.StatusOK {
			t.Fatalf("%s: %v\n%s", method, a, p.logs())
		}
		checkTimestampedBy(t, a.SignedFile, p.ca.Root(), p.ca)
	}
	for _, path := range []string{"/api/v1/sandbox/users", "/tsa", "/crl", "/.well-known/sandbox-root.pem", httpapi.NotificationPath} {
		if a, err := p.client.call(t.Context(), http.MethodGet, path, nil); err != nil || a.Status != http.StatusNotFound {
			t.Errorf("%s: %v, %v", path, a, err)
		}
	}
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Errorf("stopping: %v, stdout %q", err, rest)
	}
	status, _, talk := program(t, p.folder, "serve", "--environment", "sandbox", "--listen", "127.0.0.1:0", "--base-url", "http://localhost",
		"--store", p.store, "--master-key-file", "master.key")
	if status != failed || !strings.Contains(talk, "the store was used in production") {
		t.Errorf("a sandbox on production's store: status %d, %s", status, talk)
	}
}

// A provider's pings drive the request up to the signature, without a poll of the client.
// Pings of others change nothing.
func TestProductionIsPinged(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	t.Parallel()
	p := startProduction(t, installed(t), productionOptions{provider: eager, ping: true})
	p.person(t, people[0], openidtest.Answer{Delay: 100 * time.Millisecond})
	started := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, people[0], "IdpApp", "B", ""))
	p.waitUntil(t, func() bool {
		answers := 0
		for _, call := range p.provider.Calls() {
			if call.Endpoint == openidtest.UserInfo && call.Status == http.StatusOK {
				answers++
			}
		}
		return answers == 2 // the certificate, and the signature
	})
	if a := p.finish(t, started.PollingID); a.Status != http.StatusOK {
		t.Errorf("the end: %v\n%s", a, p.logs())
	}
	foreign, err := p.client.call(t.Context(), http.MethodPost, httpapi.NotificationPath, strings.NewReader(`{"auth_req_id":"`+started.PollingID+`"}`))
	if err != nil || foreign.Status != http.StatusUnauthorized && foreign.Status != http.StatusNotFound {
		t.Errorf("a foreign ping: %v, %v", foreign, err)
	}
}

// Simulated people sign through the API of production, also when the server was started
// again meanwhile, under an authority that it answers for itself.
func TestSimulatedPeople(t *testing.T) {
	testenv.Slow(t, "people are asked at the pace of production")
	t.Parallel()
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp")
	p.keepsToItself(t)
	p.run(t)
	p.client = p.account(t, p.store)
	started := p.client.must(t, http.MethodPost, "/api/v1/signing", startText(document, people[0], "IdpApp", "Lt", ""))
	if err := p.command.Process.Kill(); err != nil || !p.killed() {
		t.Fatal(err)
	}
	p.run(t)
	a := p.finish(t, started.PollingID)
	if a.Status != http.StatusOK {
		t.Fatalf("the end: %v\n%s", a, p.logs())
	}
	p.write(t, "signed.pdf", a.SignedFile)
	p.write(t, "root.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.root(t).Raw}))
	report := output(t, done, "verify", filepath.Join(p.folder, "signed.pdf"), "--trust", filepath.Join(p.folder, "root.pem"))
	if !strings.Contains(report, "PAdES-BASELINE-LT") {
		t.Error(report)
	}
	if a, err := p.client.call(t.Context(), http.MethodGet, "/api/v1/sandbox/users", nil); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("sandbox users: %v, %v", a, err)
	}
	if n := strings.Count(p.logs(), "the identity provider is simulated"); n != 2 {
		t.Errorf("the log says %d times that people are simulated:\n%s", n, p.logs())
	}
}
