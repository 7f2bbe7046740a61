package postgrestest

import (
	"bufio"
	"net"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"
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
	for deadline := time.Now().Add(30 * time.Second); answers(address); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server is still there")
		}
	}
}

// hold starts a server, says where it is, and waits to be killed.
func hold(t *testing.T) {
	u, err := url.Parse(Cluster(t).URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString(u.Host + "\n")
	time.Sleep(time.Hour)
}

func answers(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
