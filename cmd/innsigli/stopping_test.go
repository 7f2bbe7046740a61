package main

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

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
	testenv.Wait(t, "the log to say that it stops", func() bool { return strings.Contains(p.talk(), "stopping: ") })
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
