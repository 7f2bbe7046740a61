package postgres

import (
	"bufio"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// holding tells the tests' own program, run again, to be the one that is killed.
const holding = "INNSIGLI_POSTGRESTEST_HOLD"

// A process that is killed, and so cannot stop its server, leaves none behind.
func TestAServerEndsWithItsProcess(t *testing.T) {
	if os.Getenv(holding) != "" {
		hold(t)
	}
	programs(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestAServerEndsWithItsProcess$")
	cmd.Env = append(os.Environ(), holding+"=1")
	if _, err := cmd.StdinPipe(); err != nil { // which stays open
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the program ended by itself: %v", err)
	}
	address := line[:len(line)-1]
	if !answers(address) {
		t.Fatalf("no server at %q", address)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	testenv.Wait(t, "the end of the server", func() bool { return !answers(address) })
}

// hold starts a server, says where it is, and waits to be killed.
func hold(t *testing.T) {
	u, err := url.Parse(Cluster(t).URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString(u.Host + "\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until this process is killed: for ever would be a deadlock to Go
}

func answers(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// A server that cannot start is not waited for.
func TestAServerThatEndsAtOnce(t *testing.T) {
	s, err := create(programs(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	other, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() { // which turns everybody away
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	if err := s.start(); err == nil || !strings.Contains(err.Error(), "the server ended") {
		t.Errorf("start: %v", err)
	}
}
