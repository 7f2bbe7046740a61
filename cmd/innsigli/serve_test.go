package main

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// A server takes a changed configuration while it runs. A signature that was given while
// its timestamp authority was down waits, through a faulty configuration and one that does
// not trust the next authority, until it is delivered with the timestamp of the one that is
// configured in the end.
func TestConfigurationChangesWhileServing(t *testing.T) {
	testenv.Slow(t, "servers start again and again")
	t.Parallel()
	ca := catest.New(t)
	catest.Serve(t, ca)
	addresses := catest.Handler(ca)
	folder := shortFolder(t)
	writeSigner(t, folder, ca) // chain.pem and key.pem are the server's own here
	basic, mutual := basicTSA(t, addresses), mutualTSA(t, addresses, folder)
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("password", "a secret of mine\n")
	const (
		down    = "[[timestamp]]\nurl = \"http://127.0.0.1:1/\"\n"
		trusted = "[trust]\nroots = [\"root.pem\"]\nprivate-addresses = [\"127.0.0.0/8\", \"::1/128\"]\n"
	)
	untrusted := fmt.Sprintf("[[timestamp]]\nurl = %q\nusername = \"somebody\"\npassword-file = \"password\"\n", basic.URL+sandboxca.PathTimestamp)
	right := trusted + down + fmt.Sprintf("[[timestamp]]\nurl = %q\ncertificate = \"chain.pem\"\nkey = \"key.pem\"\nroots = [\"root.pem\"]\n", mutual.URL+sandboxca.PathTimestamp)

	write("innsigli.toml", down)
	p := startServer(t, folder, "SSL_CERT_FILE="+filepath.Join(folder, "tls.pem"))
	c := p.account(t, "bolt:"+filepath.Join(folder, "store.db"))
	c.addPeople(t, people[0])
	started := c.must(t, http.MethodPost, "/api/v1/signing", startText(document, people[0], "IdpApp", "Lt", ""))
	poll := func() reply {
		t.Helper()
		a, err := c.call(t.Context(), http.MethodGet, "/api/v1/signing/"+started.PollingID, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	poll() // the person has answered by the next one
	if a := poll(); a.ErrorCode != "AuthorizationPending" {
		t.Fatalf("the authority is down: %v", a)
	}
	p.waitFor(t, "step=signature.postponed", 1)

	write("innsigli.toml", untrusted)
	p.hangUp(t)
	p.waitFor(t, "configuration reloaded", 1)
	write("innsigli.toml", "[[timestamp]]\nurll = \"http://127.0.0.1:1/\"\n")
	p.hangUp(t)
	p.waitFor(t, `fault="timestamp\[0\].urll: is not known"`, 1)
	p.waitUntil(t, func() bool { return basic.served.Load() > 0 }) // by what is in force
	if a := poll(); a.ErrorCode != "AuthorizationPending" {
		t.Fatalf("the authority is not trusted: %v", a)
	}

	write("innsigli.toml", right) // and nobody says so
	p.waitFor(t, "configuration reloaded", 2)
	var a reply
	p.waitUntil(t, func() bool { a = poll(); return a.ErrorCode != "AuthorizationPending" })
	if a.Status != http.StatusOK {
		t.Fatalf("the end: %v\n%s", a, p.talk())
	}
	if mutual.served.Load() == 0 {
		t.Error("the second authority in order was not asked")
	}
	checkTimestampedBy(t, a.SignedFile, p.root(t), ca)
	if strings.Contains(p.talk(), "a secret of mine") {
		t.Errorf("a password is in the log:\n%s", p.talk())
	}
	if rest, err := p.stop(); err != nil || rest != "" {
		t.Errorf("stopping: %v, stdout %q", err, rest)
	}
}

// checkTimestampedBy: level LT, with a timestamp by the authority.
func checkTimestampedBy(t *testing.T, signed []byte, signers *x509.Certificate, ca *sandboxca.Authority) {
	t.Helper()
	roots := ca.Roots()
	roots.AddCert(signers)
	report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(signed), Size: int64(len(signed))}, ades.VerifyOptions{Roots: roots})
	if err != nil {
		t.Fatal(err)
	}
	s := report.Signatures
	if len(s) != 1 || s[0].Format != "PAdES-BASELINE-LT" || len(s[0].Timestamps) != 1 || !s[0].Timestamps[0].Trusted {
		t.Fatalf("%+v", s)
	}
	stamp := s[0].Timestamps[0].Authority
	if _, err := ades.Chain(stamp, ca.Chain(), ca.Roots(), time.Now()); err != nil {
		t.Errorf("the timestamp is not by the configured authority: %v", err)
	}
}
