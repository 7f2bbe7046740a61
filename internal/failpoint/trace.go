//go:build failpoints

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// Called traces that a call begins.
func Called(name, id string) { trace(name, id, "call", pid(), now()) }

// Returned traces that it has ended, and how.
func Returned(name, id, outcome string) { trace(name, id, "return", pid(), outcome, now()) }

// Stored traces that what it was answered is stored.
func Stored(name, id string) { trace(name, id, "stored", pid(), now()) }

func now() string { return strconv.FormatInt(time.Now().UnixMilli(), 10) }

func pid() string { return strconv.Itoa(os.Getpid()) }

// trace adds a line in one write, which O_APPEND puts behind those of other processes
// (POSIX write). A trace that cannot be written would prove nothing, so the process ends.
func trace(words ...string) {
	name := os.Getenv("INNSIGLI_TRACE")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(strings.Join(words, " ") + "\n")
		_ = f.Close()
	}
	if err != nil {
		_, _ = os.Stderr.WriteString("failpoint: " + err.Error() + "\n")
		os.Exit(1)
	}
}
