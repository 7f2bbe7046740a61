package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// built are the programs that were built, by their flags: tests share them, as linking takes seconds.
var built = struct {
	sync.Mutex
	folder string
	paths  map[string]string
}{paths: make(map[string]string)}

// build builds the program as a user does and returns its path. The program that the
// scripts run is the test's own, race detector and all: figures are not taken of that one.
func build(t testing.TB, flags ...string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	key := strings.Join(flags, " ")
	if path, ok := built.paths[key]; ok {
		return path
	}
	path := filepath.Join(built.folder, fmt.Sprintf("innsigli%d", len(built.paths)))
	args := append([]string{"build", "-o", path}, flags...)
	command := exec.Command(testenv.Program(t, "go"), append(args, ".")...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, output)
	}
	built.paths[key] = path
	return path
}

// sandboxProcess is a sandbox that runs as a program of its own.
type sandboxProcess struct {
	sandboxReady
	line    []byte // in which it said that it listens
	command *exec.Cmd
	stdout  *bufio.Reader
	stderr  lockedBuffer
}

// clientID and clientSecret are those of the client in startSandbox, the same at each
// start on a store.
const clientID, clientSecret = "client-of-a-test", "secret-of-a-test"

// startSandbox starts the program on a --store and waits until it listens. environment
// has entries beside the test's own.
func startSandbox(t testing.TB, program, store string, environment []string, flags ...string) *sandboxProcess {
	t.Helper()
	args := []string{
		"sandbox", "--json", "--listen", "127.0.0.1:0", "--store", store,
		"--client-id", clientID, "--client-secret", clientSecret,
	}
	p, err := launch(program, "", append(os.Environ(), environment...), append(args, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	p.killLater(t)
	return p
}

// killLater ends the program after the test, if it still runs.
func (p *sandboxProcess) killLater(t testing.TB) {
	t.Cleanup(func() {
		if p.command.ProcessState == nil {
			p.command.Process.Kill()
			p.command.Wait()
		}
	})
}

// start starts the command with its streams kept.
func (p *sandboxProcess) start() error {
	p.command.Stderr = &p.stderr
	out, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	p.stdout = bufio.NewReader(out)
	return p.command.Start()
}

// launch starts "innsigli sandbox --json …" and reads the line that says it listens.
func launch(program, folder string, environment []string, args ...string) (*sandboxProcess, error) {
	p := &sandboxProcess{command: exec.Command(program, args...)}
	p.command.Dir, p.command.Env = folder, environment
	err := p.start()
	if err != nil {
		return nil, err
	}
	if p.line, err = p.stdout.ReadBytes('\n'); err == nil {
		err = json.Unmarshal(p.line, &p.sandboxReady)
	}
	if err != nil {
		p.command.Process.Kill()
		p.command.Wait()
		return nil, fmt.Errorf("the sandbox does not listen: %w\n%s", err, p.talk())
	}
	return p, nil
}

// stop ends the program as Ctrl-C does and returns what else it had printed to stdout.
func (p *sandboxProcess) stop() (rest string, err error) {
	if err := p.command.Process.Signal(os.Interrupt); err != nil {
		return "", err
	}
	text, _ := io.ReadAll(p.stdout) // ends with the program
	return string(text), p.command.Wait()
}

// dies waits for the end of the program, which has a failpoint on its way, and says whether it was by SIGKILL.
func (p *sandboxProcess) dies(t testing.TB) bool {
	t.Helper()
	over := make(chan struct{})
	go func() {
		io.Copy(io.Discard, p.stdout)
		close(over)
	}()
	testenv.Receive(t, "the end of the program", over)
	return p.killed()
}

// killed waits for the end of a program that has been killed, and says whether it was by SIGKILL.
func (p *sandboxProcess) killed() bool {
	io.Copy(io.Discard, p.stdout)
	p.command.Wait()
	status, ok := p.command.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// shortFolder is a folder for a store. The socket beside a store has to have a path of
// at most 107 bytes, which the folders of tests with long names may not leave.
func shortFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "innsigli")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// talk is what the program wrote to stderr, for a test's message.
func (p *sandboxProcess) talk() string { return strings.TrimSpace(p.stderr.String()) }

var lateRenderer = regexp.MustCompile(`.*compiling the page renderer.*`)

// stopLines are what a server logs when it stops, also each hour.
var stopLines = regexp.MustCompile(`(?m)^.*msg"?[:=]"?(stopp(ing|ed)|"?evidence log chained).*$`)

// talkInTime is talk without what is said when it stops, and without what a machine that is busy makes the program say:
// the page renderer is late, although it was compiled before.
func (p *sandboxProcess) talkInTime() string {
	return strings.TrimSpace(stopLines.ReplaceAllString(lateRenderer.ReplaceAllString(p.talk(), ""), ""))
}

// lockedBuffer can be read while a program writes to it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
