package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// running names the sandbox of a script among its values.
type running struct{}

func sandboxOf(ts *testscript.TestScript) *sandboxProcess {
	p := *ts.Value(running{}).(**sandboxProcess)
	if p == nil {
		ts.Fatalf("no sandbox was started")
	}
	return p
}

func scriptSandbox(ts *testscript.TestScript, neg bool, args []string) {
	program, err := exec.LookPath("innsigli")
	ts.Check(err)
	environment := os.Environ()
	for _, name := range []string{"INNSIGLI_STORE", "INNSIGLI_CLIENT_ID", "INNSIGLI_CLIENT_SECRET"} {
		if value := ts.Getenv(name); value != "" {
			environment = append(environment, name+"="+value)
		}
	}
	p, err := launch(program, ts.MkAbs("."), environment, append([]string{"sandbox", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	ts.Check(err)
	*ts.Value(running{}).(**sandboxProcess) = p
	ts.Defer(func() {
		p.command.Process.Kill()
		p.command.Wait()
	})
	ts.Check(os.WriteFile(ts.MkAbs("ready.json"), p.line, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("sandbox-root.pem"), []byte(p.RootCertificate), 0o600))
	ts.Setenv("BASE", p.BaseURL)
	ts.Setenv("CLIENT_ID", p.ClientID)
	ts.Setenv("CLIENT_SECRET", "null")
	if p.ClientSecret != nil {
		ts.Setenv("CLIENT_SECRET", *p.ClientSecret)
	}
}

func scriptStop(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: stop-server [REGEXP]")
	}
	talk := regexp.MustCompile("^$")
	if len(args) == 1 {
		talk = regexp.MustCompile(args[0])
	}
	p := sandboxOf(ts)
	rest, err := p.stop()
	if err != nil || rest != "" || !talk.MatchString(p.talkInTime()) {
		ts.Fatalf("%v; stdout %q, stderr %q", err, rest, p.talk())
	}
}

func scriptReady(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: ready")
	}
	for deadline := time.Now().Add(time.Minute); ; pause(100 * time.Millisecond) {
		response, err := http.Get(ts.Getenv("BASE") + "/readyz")
		ts.Check(err)
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("/readyz answers %s; stderr %q", response.Status, sandboxOf(ts).talk())
		}
	}
}

func scriptKill(ts *testscript.TestScript, neg bool, args []string) {
	p := sandboxOf(ts)
	ts.Check(p.command.Process.Kill())
	if !p.killed() {
		ts.Fatalf("the sandbox did not end by SIGKILL: %s", p.command.ProcessState)
	}
}

// apiOf returns a client of the sandbox with a token, and a call by it that has to succeed.
func apiOf(ts *testscript.TestScript) (*client, func(method, path, body string) reply) {
	c := clientOf(ts.Getenv("BASE"))
	_, token, err := c.issue(ts.Getenv("CLIENT_ID"), ts.Getenv("CLIENT_SECRET"))
	ts.Check(err)
	c.token = token.AccessToken
	return c, func(method, path, body string) reply {
		a, err := c.call(context.Background(), method, path, strings.NewReader(body))
		for a.Status == http.StatusServiceUnavailable { // until the renderer is ready
			pause(100 * time.Millisecond)
			a, err = c.call(context.Background(), method, path, strings.NewReader(body))
		}
		if err != nil || a.Status >= http.StatusBadRequest {
			ts.Fatalf("%s: %v, %v", path, a, err)
		}
		return a
	}
}

func scriptSign(ts *testscript.TestScript, neg bool, args []string) {
	c, call := apiOf(ts)
	p := people[0]
	call(http.MethodPost, "/api/v1/sandbox/users", p.profile())
	path := "/api/v1/signing/" + call(http.MethodPost, "/api/v1/signing", startText(document, p, "IdpSim", "B", "")).PollingID
	call(http.MethodGet, path, "")
	// The server stores the end of the request after it has delivered the document. Another poll waits for that.
	a, err := c.call(context.Background(), http.MethodGet, path, nil)
	if err != nil || a.Status != http.StatusNotFound {
		ts.Fatalf("polling after the delivery: %v, %v", a, err)
	}
}

func scriptProcess(ts *testscript.TestScript, neg bool, args []string) {
	_, call := apiOf(ts)
	user := call(http.MethodPost, "/api/v1/sandbox/users", people[0].profile())
	made := call(http.MethodPost, processesPath, processText(document, people[0], people[1]))
	call(http.MethodPost, made.answerPath(0, "sign"), fmt.Sprintf(`{"sandboxUserId":%q}`, user.UUID))
	ts.Setenv("PROCESS", made.ProcessID)
}

func scriptToken(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: token ID SECRET")
	}
	status, token, err := clientOf(ts.Getenv("BASE")).issue(args[0], args[1])
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), strings.TrimSpace(fmt.Sprint(status, " ", token.Error, token.Scope)))
}
