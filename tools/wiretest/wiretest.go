// Package wiretest tries the API as strangers do, who have its OpenAPI document and nothing else: a fuzzer that
// makes requests of it, linters that read it, and clients that generators make of it and that sign. Each of them meets the program as users build it, on a port of its own. Only tests import it.
package wiretest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Server is a sandbox that runs as a program of its own.
type Server struct {
	BaseURL         string `json:"baseUrl"`
	ClientID        string `json:"clientId"`
	ClientSecret    string `json:"clientSecret"`
	RootCertificate string `json:"rootCertificate"` // PEM
	Program         string

	command *exec.Cmd
	stderr  lockedBuffer
	ended   chan error
}

// Sandbox starts a sandbox with flags beside those that it needs. It is stopped when the test ends, which
// fails the test if it complained of anything.
func Sandbox(t *testing.T, flags ...string) *Server {
	t.Helper()
	s := &Server{Program: program(t), ended: make(chan error, 1)}
	folder, err := os.MkdirTemp("", "wire") // of a short path: a socket is beside the store
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	arguments := []string{"sandbox", "--json", "--listen", "127.0.0.1:0", "--store", "bolt:" + filepath.Join(folder, "innsigli.db"),
		"--client-id", "stranger", "--client-secret", "secret-of-a-stranger", "--renderer-cache", testenv.RendererCache()}
	s.command = exec.Command(s.Program, append(arguments, flags...)...)
	s.command.Stderr = &s.stderr
	stdout, err := s.command.StdoutPipe()
	if err == nil {
		err = s.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, s)
	}
	go func() {
		io.Copy(io.Discard, stdout)
		s.ended <- s.command.Wait()
	}()
	if err != nil {
		t.Fatalf("the sandbox does not listen: %v\n%s", err, s.stderr.text())
	}
	return s
}

func (s *Server) stop(t *testing.T) {
	s.command.Process.Signal(os.Interrupt)
	if err, _ := testenv.Receive(t, "the end of the server", s.ended); err != nil {
		t.Errorf("the server ended badly: %v", err)
	}
	if talk := s.stderr.text(); strings.Contains(talk, "level=ERROR") || strings.Contains(talk, "panic") {
		t.Errorf("the server complained:\n%s", talk)
	}
}

// built is the program, which tests share.
var built struct {
	sync.Mutex
	path string
}

// program builds the program without the race detector: others are to meet it at its pace.
func program(t *testing.T) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.path != "" {
		return built.path
	}
	folder, err := os.MkdirTemp("", "wire")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "innsigli")
	command := exec.Command(testenv.Program(t, "go"), "build", "-o", path, "./cmd/innsigli")
	command.Dir, command.Env = testenv.Root(t), append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, output)
	}
	built.path = path
	return path
}

// Clean removes what tests share; call it when all are through.
func Clean() {
	if built.path != "" {
		os.RemoveAll(filepath.Dir(built.path))
	}
}

// Fetch gets what a server has at a path, without a token.
func (s *Server) Fetch(t *testing.T, path string) []byte {
	t.Helper()
	response, err := http.Get(s.BaseURL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v\n%.500s", path, response.StatusCode, err, body)
	}
	return body
}

// lockedBuffer can be read while a program writes to it.
type lockedBuffer struct {
	mu   sync.Mutex
	kept bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.String()
}
