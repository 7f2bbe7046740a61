//go:build !linux

package postgres

import (
	"errors"
	"os/exec"
)

// isolate returns an error: a PID namespace is needed, which only Linux has.
func isolate(*exec.Cmd) error {
	return errors.New("only on Linux can a server be killed together with all its processes")
}
