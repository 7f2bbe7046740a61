package main

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
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
	untrusted := fmt.Sprintf("[[timestamp]]\nurl = %q\nusername = \"subscriber\"\npassword-file = \"password\"\n", basic.URL+sandboxca.PathTimestamp)
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
	p.waitFor(t, `fault="timestamp\[0\].urll: is unknown: check its spelling"`, 1)
	p.waitUntil(t, func() bool { return basic.served.Load() > 0 }) // by what is in force
	if a := poll(); a.ErrorCode != "AuthorizationPending" {
		t.Fatalf("the authority is not trusted: %v", a)
	}

	write("innsigli.toml", right) // without a signal
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

// A trial is there for who calls this machine by its own names, and for no other.
func TestTrialIsOnThisMachine(t *testing.T) {
	t.Parallel()
	p := newProduction(t, installed(t), "", "--insecure-simulated-idp", "--listen", ":0")
	p.run(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.BaseURL, "http://"))
	if err != nil || !strings.Contains(p.talk(), "address=127.0.0.1:"+port) {
		t.Fatalf("listens at %s, %v\n%s", p.BaseURL, err, p.logs())
	}
	for _, path := range []string{"/sign/assets/icon.svg", "/simulated/login?state=one", "/.well-known/sandbox-root.pem"} {
		for host, status := range map[string]int{
			"localhost": http.StatusOK, "localhost:" + port: http.StatusOK, "127.0.0.1": http.StatusOK, "[::1]:" + port: http.StatusOK,
			"sign.example": http.StatusMisdirectedRequest, "sign.example:" + port: http.StatusMisdirectedRequest,
			"localhost.sign.example": http.StatusMisdirectedRequest, "192.0.2.7": http.StatusMisdirectedRequest,
			"0.0.0.0:" + port: http.StatusMisdirectedRequest, "localhost@sign.example": http.StatusMisdirectedRequest,
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != status {
				t.Errorf("%s of %s: %s", path, host, response.Status)
			}
		}
	}
}

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
	// The server takes INNSIGLI_SCENE, a variable of the tests, for INNSIGLI_SCOPE with a mistake in it.
	inherited := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "INNSIGLI_SCENE=") })
	p.command.Dir, p.command.Env = folder, append(inherited, environment...)
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

// A server that is to stop says first that it is not ready, and still takes requests. A second signal ends
// it at once, whatever is under way.
func TestStopping(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(shortFolder(t), "notify")
	systemd, err := net.ListenPacket("unixgram", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	told := func() string {
		t.Helper()
		systemd.SetReadDeadline(time.Now().Add(time.Minute))
		var text [100]byte
		n, _, err := systemd.ReadFrom(text[:])
		if err != nil {
			t.Fatal(err)
		}
		return string(text[:n])
	}
	p := serveIn(t, installed(t), shortFolder(t), []string{"NOTIFY_SOCKET=" + socket},
		"--environment", "sandbox", "--base-url", "http://sandbox.example", "--store", "bolt:store.db", "--drain-delay", "10m")
	if got := told(); got != "READY=1" {
		t.Errorf("systemd was told %q", got)
	}
	status := func(path string) int {
		t.Helper()
		response, err := http.Get(p.BaseURL + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	testenv.Wait(t, "the server to be ready", func() bool { return status("/readyz") == http.StatusOK })
	for _, sent := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} { // the first asks to read a file again that it has not
		if err := p.command.Process.Signal(sent); err != nil {
			t.Fatal(err)
		}
	}
	if got := told(); got != "STOPPING=1" {
		t.Errorf("systemd was told %q", got)
	}
	testenv.Wait(t, "the log to say that it stops", func() bool { return strings.Contains(p.talk(), "stopping") })
	for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/healthz": http.StatusOK, "/.well-known/sandbox-root.pem": http.StatusOK} {
		if got := status(path); got != want {
			t.Errorf("%s of a server that stops: %d", path, got)
		}
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.command.Wait()
	if ended, ok := p.command.ProcessState.Sys().(syscall.WaitStatus); !ok || !ended.Signaled() || ended.Signal() != syscall.SIGTERM {
		t.Errorf("the end: %v", p.command.ProcessState)
	}
	if strings.Contains(p.talk(), "request failed") {
		t.Errorf("that it stops is no fault:\n%s", p.talk())
	}
}
