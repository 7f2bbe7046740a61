//go:build failpoints

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Here kills the process if INNSIGLI_FAILPOINT is name.
func Here(name string) {
	if os.Getenv("INNSIGLI_FAILPOINT") == name {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal is delivered
	}
}

// Called traces the beginning of a call.
func Called(name, id string) { trace(name, id, "call", pid(), now()) }

// Returned traces the return of a call with its outcome.
func Returned(name, id, outcome string) { trace(name, id, "return", pid(), outcome, now()) }

// Stored traces that the result of a call is stored.
func Stored(name, id string) { trace(name, id, "stored", pid(), now()) }

func now() string { return strconv.FormatInt(time.Now().UnixMilli(), 10) }

func pid() string { return strconv.Itoa(os.Getpid()) }

// trace appends a line in one write, so that lines of several processes do not mix (O_APPEND in POSIX write). It
// exits if the line cannot be written, since an incomplete trace proves nothing.
func trace(fields ...string) {
	name := os.Getenv("INNSIGLI_TRACE")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(strings.Join(fields, " ") + "\n")
		_ = f.Close()
	}
	if err != nil {
		_, _ = os.Stderr.WriteString("failpoint: " + err.Error() + "\n")
		os.Exit(1)
	}
}
