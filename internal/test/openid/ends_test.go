package openid_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// holding tells the tests' own program, run again, to be the one that is killed.
const holding = "INNSIGLI_OPENIDTEST_HOLD"

// A process that is killed, and so cannot stop its provider, leaves none behind.
func TestAProviderEndsWithItsProcess(t *testing.T) {
	if os.Getenv(holding) != "" {
		os.Stdout.WriteString(openidtest.Start(t, openidtest.Options{}).Discovery + "\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until this process is killed: for ever would be a deadlock to Go
	}
	openidtest.Start(t, openidtest.Options{}) // skips where there is none
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	t.Cleanup(func() {
		logs, _ := filepath.Glob(filepath.Join(folder, "*", "log")) // as long as they are there
		for _, path := range logs {
			if log, err := os.ReadFile(path); t.Failed() && err == nil {
				t.Logf("the log of the other process:\n%s", log)
			}
		}
	})
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestAProviderEndsWithItsProcess$")
	cmd.Env = append(os.Environ(), holding+"=1", "TMPDIR="+folder)
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
	discovery := line[:len(line)-1]
	get(t, discovery, "")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	testenv.Wait(t, "the end of the provider", func() bool {
		_, err := http.Get(discovery)
		left, readErr := os.ReadDir(folder)
		return err != nil && readErr == nil && len(left) == 0
	})
}
