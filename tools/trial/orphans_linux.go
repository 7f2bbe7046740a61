package main

import (
	"os/exec"
	"syscall"
)

// endWithUs has the process killed when this one ends, however that comes about.
func endWithUs(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
